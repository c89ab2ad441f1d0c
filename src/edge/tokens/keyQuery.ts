/** Keys and key prefixes in a URL's query: any bytes, read from the raw URL as `factKeyIn` does. */
import { fromHex, fromUtf8, isHex, utf8 } from "#src/base/bytes.ts";
import { HttpFailure } from "#src/edge/errors.ts";

/**
 * The bytes of a parameter, percent-encoded or in hexadecimal; undefined where it is not given. Throws `HttpFailure`
 * 400 `bad_request`.
 */
export function queryBytes(url: string, name: string, encoding: "text" | "hex"): Uint8Array | undefined {
  const pairs = new URL(url).search.slice(1).split("&").map((pair) => /^([^=]*)=?(.*)$/.exec(pair)!);
  const given = pairs.find(([, written]) => fromUtf8(formDecoded(written!)) === name)?.[2];
  if (given === undefined) return undefined;
  const bytes = formDecoded(given);
  if (encoding === "text") return bytes;
  const digits = String.fromCharCode(...bytes);
  if (!isHex(digits)) throw new HttpFailure(400, "bad_request", `${name} is not in hexadecimal.`);
  return fromHex(digits);
}

/** Bytes of a value as forms encode them: a plus sign is a space, a percent sign without two digits is itself. */
function formDecoded(text: string): Uint8Array {
  const parts = text.replaceAll("+", " ").split(/(%[0-9a-fA-F]{2})/);
  return Uint8Array.from(
    parts.flatMap((part, i) => i % 2 === 0 ? [...utf8(part)] : [parseInt(part.slice(1), 16)]),
  );
}
