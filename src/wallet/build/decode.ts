/** Taking a transaction apart for who owns a part of it. */
import type { Result } from "#src/base/result.ts";
import type { Asked, Decoded, DecodeFailure, DecodeInput } from "#src/wallet/build/types.ts";

/** What must be looked up before a transaction is decoded or balanced. */
export function askedOf(_transaction: Uint8Array): Result<Asked, DecodeFailure> {
  throw new Error("not written");
}

/** All that a transaction says, at any stage of signing. */
export function decodeTransaction(_input: DecodeInput): Result<Decoded, DecodeFailure> {
  throw new Error("not written");
}
