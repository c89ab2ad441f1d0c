/** The result at the boundary of a module: a value, or a failure from a closed union. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

/** A failure that a caller can handle: a stable code, a sentence for people, and optional details. */
export interface Failure<Code extends string = string> {
  readonly code: Code;
  readonly message: string;
  readonly details?: unknown;
}

/** A successful result. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** A failed result. */
export function fail<Code extends string>(
  code: Code,
  message: string,
  details?: unknown,
): { readonly ok: false; readonly error: Failure<Code> } {
  return { ok: false, error: details === undefined ? { code, message } : { code, message, details } };
}
