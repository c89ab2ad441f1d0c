/** What a room answers at its door: a value, or a failure out of a closed union. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

/** A failure that a caller can act on: a stable code, a sentence for a person, and facts that help. */
export interface Failure<Code extends string = string> {
  readonly code: Code;
  readonly message: string;
  readonly details?: unknown;
}

/** A good answer. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** A refusal. */
export function fail<Code extends string>(
  code: Code,
  message: string,
  details?: unknown,
): { readonly ok: false; readonly error: Failure<Code> } {
  return { ok: false, error: details === undefined ? { code, message } : { code, message, details } };
}
