/**
 * The key of a fact in a request's path: any bytes. It is read from the raw URL, since routers decode to text and lose
 * bytes that are no UTF-8.
 */
import { fromHex, fromUtf8, isHex, utf8 } from "#src/base/bytes.ts";
import { digest } from "#src/forestry/hash.ts";
import { HttpFailure } from "#src/edge/errors.ts";

/** A key, or only its digest. */
export interface FactKey {
  /** blake2b-256 of the key: its place in the trie. */
  readonly path: Uint8Array;
  readonly key?: Uint8Array;
}

/** Path segments before the key: an empty one, `token`, the token, `facts`. */
const BEFORE = 4;

/** The key in the path of a URL `/token/{tokenId}/facts/{key}…`. Throws `HttpFailure` 400 `bad_request`. */
export function factKeyIn(url: string, encoding: "text" | "hex" | "digest"): FactKey {
  const segment = new URL(url).pathname.split("/")[BEFORE] ?? "";
  const bytes = percentDecoded(segment);
  if (encoding === "text") return { path: digest(bytes), key: bytes };
  const text = fromUtf8(bytes) ?? "?";
  if (!isHex(text, encoding === "digest" ? 32 : undefined)) {
    throw bad(encoding === "hex" ? "in hexadecimal" : "a digest: 64 hexadecimal digits");
  }
  const given = fromHex(text);
  return encoding === "digest" ? { path: given } : { path: digest(given), key: given };
}

function bad(what: string): HttpFailure {
  return new HttpFailure(400, "bad_request", `The key in the path is not ${what}.`);
}

/** Bytes of a path segment. */
function percentDecoded(segment: string): Uint8Array {
  const written = utf8(segment);
  const bytes = new Uint8Array(written.length);
  let length = 0;
  for (let i = 0; i < written.length; i++, length++) {
    bytes[length] = written[i]!;
    if (written[i] !== 0x25) continue;
    const digits = segment.slice(i + 1, i + 3);
    if (!isHex(digits, 1)) throw bad("percent-encoded");
    bytes[length] = parseInt(digits, 16);
    i += 2;
  }
  return bytes.subarray(0, length);
}
