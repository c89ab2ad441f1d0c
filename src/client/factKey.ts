/** The key of a fact, any bytes, in the path of a URL. */
import { fromUtf8, toHex } from "#src/base/bytes.ts";
import { bytesOf } from "#src/contract/text.ts";
import { digest } from "#src/forestry/hash.ts";

/** Most bytes of a key in a URL: servers and proxies accept about 8 kB in a request's first line. */
const LONGEST = 1_024;

/**
 * Bytes of a key, given as bytes or as a text in this API's encoding.
 *
 * @throws {TypeError} where the text is no such encoding.
 *
 * @example
 * ```ts
 * import { keyBytes } from "./src/client/factKey.ts";
 *
 * console.log(keyBytes("planet").length); // 6
 * ```
 */
export function keyBytes(key: string | Uint8Array): Uint8Array {
  const bytes = typeof key === "string" ? bytesOf(key) : key;
  if (!bytes) {
    throw new TypeError("a key must be bytes, or text in which lone surrogates represent bytes that are not UTF-8");
  }
  return bytes;
}

/**
 * Keys and values for the body of a request, with the encoding that it names: texts as they are; all of them in hexadecimal
 * where one is bytes.
 *
 * @throws {TypeError} where a text is no key (see `keyBytes`).
 *
 * @example
 * ```ts
 * import { factBody } from "./src/client/factKey.ts";
 *
 * console.log(factBody({ key: "a", newValue: Uint8Array.of(255) })); // { body: { key: "61", newValue: "ff" }, encoding: "hex" }
 * ```
 */
export function factBody(
  texts: Readonly<Record<string, string | Uint8Array>>,
): { readonly body: Readonly<Record<string, string | Uint8Array>>; readonly encoding?: "hex" } {
  if (Object.values(texts).every((one) => typeof one === "string")) return { body: texts };
  const body = Object.fromEntries(Object.entries(texts).map(([name, one]) => [name, toHex(keyBytes(one))]));
  return { body, encoding: "hex" };
}

/**
 * A key as the last segment of a path, with the query that says how it is written: itself, percent-encoded, where every
 * proxy on the way leaves it alone; else in hexadecimal; and its digest where it is empty, a name that URLs give a
 * meaning, or longer than 1,024 bytes.
 *
 * @throws {TypeError} where the text is no key (see `keyBytes`).
 *
 * @example
 * ```ts
 * import { factSegment } from "./src/client/factKey.ts";
 *
 * const { segment, query } = factSegment("a/b");
 * console.log(`/facts/${segment}${query}`); // /facts/612f62?encoding=hex
 * ```
 */
export function factSegment(key: string | Uint8Array): { readonly segment: string; readonly query: string } {
  const bytes = keyBytes(key);
  const text = fromUtf8(bytes) ?? "";
  if (bytes.length > LONGEST || bytes.length === 0 || text === "." || text === "..") {
    return { segment: toHex(digest(bytes)), query: "?encoding=digest" };
  }
  if (/^[\w.~-]+$/.test(text)) return { segment: text, query: "" };
  return { segment: toHex(bytes), query: "?encoding=hex" };
}
