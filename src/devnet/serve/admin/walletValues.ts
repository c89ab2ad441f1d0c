/** What the development wallet's endpoints read and show: addresses, pages, CBOR of values, amounts. */
import { fromHex, isHex } from "#src/base/bytes.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { type Address, parseAddress, readAddress } from "#src/cardano/address.ts";
import { as, asInt, CborError, decodeAll } from "#src/cardano/cbor.ts";
import { nameOf, policyOf, readValue, type Value } from "#src/cardano/value.ts";
import { paymentRefusal, refusal } from "#src/devnet/serve/admin/walletFailures.ts";
import { HttpFailure } from "#src/http/failure.ts";

/** The largest quantity of an output. */
const MOST = (1n << 64n) - 1n;

/** An address as CIP-30 allows it: its bytes in hexadecimal, or its text. */
export function addressOf(text: string): Result<Address, Failure> {
  return isHex(text.toLowerCase()) ? readAddress(fromHex(text)) : parseAddress(text);
}

/** A page of a list; the first one exists always. @throws {HttpFailure} `PaginateError` of CIP-30 for pages after the last one. */
export function pageOf<T>(
  items: readonly T[],
  { page = 0, limit }: { page?: number | undefined; limit?: number | undefined },
) {
  const size = limit ?? Math.max(1, items.length);
  if (page > 0 && page * size >= items.length) {
    const reason = "page_out_of_range";
    throw new HttpFailure(400, reason, `There is no page ${page}: there are ${items.length} items.`, undefined, {
      type: "PaginateError",
      maxSize: items.length,
      reason,
    });
  }
  return items.slice(page * size, (page + 1) * size);
}

/** What is read from CBOR; `refuse` makes the refusal of bytes that are not `what`. */
export function decoded<T>(refuse: (failure: Failure) => Error, code: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw refuse({ code, message: `The bytes are not ${what}: ${error.message}.` });
  }
}

/** A value from its CBOR. @throws {HttpFailure} 400 `bad_value` */
export function valueOf(hex: string): Value {
  return decoded(refusal, "bad_value", "a value", () => {
    const value = readValue(decodeAll(fromHex(hex)));
    if ([value.lovelace, ...value.assets.values()].some((quantity) => quantity < 0n || quantity > MOST)) {
      throw new CborError("a quantity is negative or has more than 64 bits");
    }
    return value;
  });
}

/** Lovelace from its CBOR. @throws {HttpFailure} 400 `bad_value` */
export function coinOf(hex: string): bigint {
  return decoded(refusal, "bad_value", "an amount of lovelace", () => {
    const lovelace = asInt(as(decodeAll(fromHex(hex)), "int"));
    if (lovelace < 0n || lovelace > MOST) throw new CborError("it is negative or has more than 64 bits");
    return lovelace;
  });
}

/** The sum of Yaci DevKit's amounts. @throws {HttpFailure} 400 `bad_amount` */
export function total(amounts: readonly { readonly unit: string; readonly quantity: string }[]): Value {
  const sums = new Map<string, bigint>();
  for (const { unit, quantity } of amounts) {
    const id = unit.toLowerCase();
    const amount = BigInt(quantity);
    const sum = (sums.get(id) ?? 0n) + amount;
    if (amount === 0n || sum > MOST) {
      throw paymentRefusal({ code: "bad_amount", message: `Quantities must be from 1 to ${MOST}.` });
    }
    sums.set(id, sum);
  }
  const lovelace = sums.get("lovelace") ?? 0n;
  sums.delete("lovelace");
  return { lovelace, assets: sums };
}

/** A value as JSON. */
export function valueView({ lovelace, assets }: Value) {
  const list = [...assets].map(([asset, quantity]) => ({
    policyId: policyOf(asset),
    assetName: `0x${nameOf(asset)}`,
    quantity: String(quantity),
  }));
  return { lovelace: String(lovelace), ...(list.length > 0 ? { assets: list } : {}) };
}
