/**
 * Where the versions of UTxO RPC's messages differ in what they say of quantities. The builders of messages have the types of 0.18;
 * constructors of other versions take other values under the same names (`versions.ts`).
 */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

/** How quantities are written. */
export interface Form {
  quantity(amount: bigint): Draft<cardano.BigInt>;
  /** An asset that an output holds, or that is minted; burned: negative. */
  asset(name: Uint8Array, amount: bigint, use: "held" | "minted"): Draft<cardano.Asset>;
}

/** `v1alpha` as of 0.18: quantities have any size. */
export const asBigIntegers: Form = {
  quantity: bigInteger,
  asset: (name, amount, use) => ({
    name,
    quantity: { case: use === "held" ? "outputCoin" : "mintCoin", value: bigInteger(amount) },
  }),
};

/** `v1alpha` before 0.18: quantities have 64 bits, those that are minted with a sign. */
export const asIntegers: Form = {
  quantity: (amount) => inOtherForm(amount),
  asset: (name, amount, use) => inOtherForm({ name, [use === "held" ? "outputCoin" : "mintCoin"]: amount }),
};

/** `v1beta`: one quantity in an asset. */
export const asOneQuantity: Form = {
  quantity: bigInteger,
  asset: (name, amount) => inOtherForm({ name, quantity: bigInteger(amount) }),
};

/** A value of another version in the place of one of 0.18. */
function inOtherForm<T>(value: unknown): T {
  return value as T;
}

/** The message of an integer of any size. */
export function bigInteger(value: bigint): Draft<cardano.BigInt> {
  if (BigInt.asIntN(64, value) === value) return { bigInt: { case: "int", value } };
  // as under the tags of CBOR: a negative number n is -1 - n
  return value < 0n
    ? { bigInt: { case: "bigNInt", value: bytesOf(-1n - value) } }
    : { bigInt: { case: "bigUInt", value: bytesOf(value) } };
}

function bytesOf(value: bigint): Uint8Array {
  const digits = value.toString(16);
  return fromHex(digits.length % 2 === 0 ? digits : `0${digits}`);
}
