/** Reading of answers that may be any value: whatever has another form ends the verification with a failure. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { OutRef } from "#src/cardano/output.ts";

/** A failure on its way out of a verification. */
class Refused extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

/** `refused` for the codes of a verification. */
export type Refuse<Code> = (code: Code, message: string, details?: unknown) => Error;

/** Ends a verification with a failure; to be thrown within `guarded`. */
export function refused<Code extends string>(code: Code, message: string, details?: unknown): Error {
  return new Refused(fail(code, message, details).error);
}

/**
 * What a verification gives, or the failure that ended it, which has one of the codes of its type. Other errors are thrown on,
 * unless they have a failure, `other`.
 */
export function guarded<T, F extends Failure>(verify: () => T, other?: F): Result<T, F> {
  try {
    return ok(verify());
  } catch (error) {
    // the caller throws the codes of its own type alone
    if (error instanceof Refused) return { ok: false, error: error.failure as F };
    if (other) return { ok: false, error: other };
    throw error;
  }
}

export function malformed(): Error {
  return refused("malformed", "The response is malformed.");
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed();
  // members are checked where they are read
  return value as Readonly<Record<string, unknown>>;
}

/** A list of at most so many elements; of any number by default. */
export function listIn(value: unknown, most = Infinity): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed();
  if (value.length > most) {
    throw refused("too_large", `The response has a list of ${value.length} elements, and ${most} are the limit.`);
  }
  return value;
}

/** Lower-case hexadecimal of at most so many bytes; of any number by default. */
export function hexIn(value: unknown, most = Infinity): string {
  if (typeof value !== "string") throw malformed();
  if (value.length > 2 * most) {
    throw refused("too_large", `The response has a member of ${value.length / 2} bytes, and ${most} are the limit.`);
  }
  if (!/^([0-9a-f]{2})*$/.test(value)) throw malformed();
  return value;
}

export function refIn(value: unknown): OutRef {
  const { tx_id: txHash, tx_ix: index } = recordOf(value);
  if (typeof txHash !== "string" || !/^[0-9a-f]{64}$/.test(txHash)) throw malformed();
  if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index > 65_535) throw malformed();
  return { txHash, index };
}
