/** Reading members of JSON, with one error for all of it that does not have the expected form. */
import { fromHex, isHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";

/** The version whose shapes a message has: those of 6.14, or of 7. */
export type OgmiosVersion = 6 | 7;

/** A JSON object. */
export type JsonObject = { readonly [name: string]: Json };

/** JSON is not of the expected form; the message says what is wrong. */
export class OgmiosFormError extends Error {
  override readonly name = "OgmiosFormError";
}

/** Whether a member is there; `null` counts as left out. */
export function isGiven(json: Json | undefined): json is Json {
  return json !== undefined && json !== null;
}

/** An object. @throws OgmiosFormError */
export function objectOf(json: Json | undefined, what: string): JsonObject {
  if (!isObject(json)) throw new OgmiosFormError(`${what} is not an object`);
  return json;
}

/** A list. @throws OgmiosFormError */
export function listOf(json: Json | undefined, what: string): readonly Json[] {
  if (!Array.isArray(json)) throw new OgmiosFormError(`${what} is not a list`);
  return json;
}

/** A text. @throws OgmiosFormError */
export function textOf(json: Json | undefined, what: string): string {
  if (typeof json !== "string") throw new OgmiosFormError(`${what} is not a text`);
  return json;
}

/** Hexadecimal digits of so many bytes (of any number without it), in lower case. @throws OgmiosFormError */
export function hexOf(json: Json | undefined, what: string, bytes?: number): string {
  if (typeof json === "string" && isHex(json, bytes)) return json.toLowerCase();
  throw new OgmiosFormError(
    `${what} is not ${bytes === undefined ? "hexadecimal" : `${2 * bytes} hexadecimal digits`}`,
  );
}

/** Bytes in hexadecimal. @throws OgmiosFormError */
export function bytesOf(json: Json | undefined, what: string): Uint8Array {
  return fromHex(hexOf(json, what));
}

/** An integer of any sign. @throws OgmiosFormError */
export function integerOf(json: Json | undefined, what: string): bigint {
  if (typeof json === "bigint") return json;
  if (typeof json === "number" && Number.isSafeInteger(json)) return BigInt(json);
  throw new OgmiosFormError(`${what} is not an integer`);
}

/** An integer of 0 or more; as a text too, since some clients have no other form for large numbers. @throws OgmiosFormError */
export function amountOf(json: Json | undefined, what: string): bigint {
  const amount = typeof json === "string" && /^\d{1,19}$/.test(json) ? BigInt(json) : integerOf(json, what);
  if (amount < 0n) throw new OgmiosFormError(`${what} is negative`);
  return amount;
}

/** An integer of 0 to 2^53 - 1, such as a slot or an index; larger ones become 2^53 - 1. @throws OgmiosFormError */
export function countOf(json: Json | undefined, what: string): number {
  return Math.min(Number(amountOf(json, what)), Number.MAX_SAFE_INTEGER);
}
