/**
 * Keys of facts and prefixes of keys in a request's path and query: any bytes. They are read from the raw URL, since
 * routers decode to text and lose bytes that are no UTF-8.
 */
import { fromHex, fromUtf8, isHex, utf8 } from "#src/base/bytes.ts";
import { digest } from "#src/forestry/hash.ts";
import { HttpFailure } from "#src/http/failure.ts";

/** A key, or only its digest. */
export interface FactKey {
  /** blake2b-256 of the key: its place in the trie. */
  readonly path: Uint8Array;
  readonly key?: Uint8Array;
}

/** Path segments before the key: an empty one, `token`, the token, `facts`. */
const BEFORE = 4;

/**
 * The key in the path of a URL `/token/{tokenId}/facts/{key}…`. Throws `HttpFailure` 400 `bad_request`; also for an empty text
 * at the end of the path: it may have been `.`, which URL parsers remove.
 */
export function factKeyIn(url: string, encoding: "text" | "hex" | "digest"): FactKey {
  const [segment = "", ...behind] = new URL(url).pathname.split("/").slice(BEFORE);
  if (segment === "" && behind.length === 0 && encoding === "text") throw noKey();
  const bytes = percentDecoded(segment);
  if (encoding === "text") return { path: digest(bytes), key: bytes };
  const text = fromUtf8(bytes) ?? "?";
  if (!isHex(text, encoding === "digest" ? 32 : undefined)) {
    throw bad(encoding === "hex" ? "in hexadecimal" : "a digest: 64 hexadecimal digits");
  }
  const given = fromHex(text);
  return encoding === "digest" ? { path: given } : { path: digest(given), key: given };
}

/** The refusal where the path has no key. */
export function noKey(): HttpFailure {
  return new HttpFailure(
    400,
    "bad_request",
    "The path has no key. URL parsers remove the keys . and .. from a path: name them by encoding=hex (2e, 2e2e), and the empty key by " +
      "encoding=hex with nothing after the slash.",
  );
}

function bad(what: string): HttpFailure {
  return new HttpFailure(400, "bad_request", `The key in the path is not ${what}.`);
}

/**
 * The bytes of a parameter of a URL's query, percent-encoded or in hexadecimal; undefined where it is not given. Throws
 * `HttpFailure` 400 `bad_request`.
 */
export function queryBytes(url: string, name: string, encoding: "text" | "hex"): Uint8Array | undefined {
  const pairs = new URL(url).search.slice(1).split("&").map((pair) => pair.split("="));
  const given = pairs.find(([written = ""]) => fromUtf8(formDecoded(written)) === name)?.slice(1).join("=");
  if (given === undefined) return undefined;
  const bytes = formDecoded(given);
  if (encoding === "text") return bytes;
  const digits = String.fromCharCode(...bytes);
  if (!isHex(digits)) throw new HttpFailure(400, "bad_request", `${name} is not in hexadecimal.`);
  return fromHex(digits);
}

/** Bytes of a value as forms encode them: a plus sign is a space, a percent sign without two digits is itself. */
const formDecoded = (text: string): Uint8Array => percentBytes(text.replaceAll("+", " "));

/** Bytes of a path segment. */
function percentDecoded(segment: string): Uint8Array {
  if (/%(?![0-9a-fA-F]{2})/.test(segment)) throw bad("percent-encoded");
  return percentBytes(segment);
}

function percentBytes(text: string): Uint8Array {
  const parts = text.split(/(%[0-9a-fA-F]{2})/);
  return Uint8Array.from(parts.flatMap((part, i) => i % 2 === 0 ? [...utf8(part)] : [parseInt(part.slice(1), 16)]));
}
