/** The fields of a CONNECT line. */

/** What a client wants of its connection. */
export interface ConnectOptions {
  /** Whether each operation is acknowledged. */
  readonly verbose: boolean;
  /** Whether subjects are checked. */
  readonly pedantic: boolean;
  /** Whether it gets its own messages. */
  readonly echo: boolean;
  readonly headers: boolean;
  /** Whether a request without subscribers is answered. */
  readonly noResponders: boolean;
}

/** The options before a CONNECT line. */
export const BEFORE_CONNECT: ConnectOptions = {
  verbose: true,
  pedantic: true,
  echo: true,
  headers: false,
  noResponders: false,
};

/** The fields of a CONNECT line; undefined for anything else than an object. */
export function connectFields(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The options in the fields of a CONNECT line. */
export function connectOptions(fields: Record<string, unknown>): ConnectOptions {
  return {
    verbose: fields.verbose === true,
    pedantic: fields.pedantic === true,
    echo: fields.echo !== false,
    headers: fields.headers === true,
    noResponders: fields.no_responders === true,
  };
}
