/** Metadata of pools (CIP-6), fetched from each kind of source. */
import { isStorable } from "#src/base/bytes.ts";
import { isObject, type Json, readJson } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { type FetchOptions, fetchOutside } from "#src/base/outsideFetch.ts";
import type { PoolSource } from "#src/wallets/pools/source.ts";

export interface PoolMetadata {
  /** 3 to 5 characters. */
  readonly ticker: string;
  /** At most 50 characters. */
  readonly name: string;
  /** At most 255 characters. */
  readonly description?: string;
  readonly homepage: string;
}

/** Reference to a pool's metadata in its registration. */
export interface PoolAnchor {
  readonly pool: string;
  readonly url: string;
  /** Hash of the text, in hexadecimal. */
  readonly hash: string;
}

type MetadataFailure = Failure<
  /** No response, or an error status. */
  | "unreachable"
  /** The text is not the one that was registered. */
  | "wrong_hash"
  /** The text is not pool metadata. */
  | "malformed"
  /** The SMASH server does not have it. */
  | "unknown"
>;

/** Most bytes of a text (CIP-6). */
const MOST_BYTES = 512;
/** Most bytes of a SMASH server's response, which wraps the text. */
const MOST_WRAPPED = 4_096;

const lengthOf = (text: string) => Array.from(text).length;

/** Reads metadata from JSON; `undefined` where it is invalid. */
export function readMetadata(json: Json | undefined): PoolMetadata | undefined {
  if (!isObject(json)) return undefined;
  const { ticker, name, description, homepage } = json;
  const text = (value: Json | undefined, least: number, most: number): value is string =>
    typeof value === "string" && lengthOf(value) >= least && lengthOf(value) <= most && isStorable(value);
  if (!text(ticker, 3, 5) || !text(name, 1, 50) || !text(homepage, 0, 255)) return undefined;
  // a description that is too long is left out, and the rest is kept
  return { ticker, name, homepage, ...(text(description, 0, 255) ? { description } : {}) };
}

/** Fetches a pool's metadata from a source other than `none`. */
export async function fetchMetadata(
  source: PoolSource,
  { pool, url, hash }: PoolAnchor,
  options: Omit<FetchOptions, "body" | "maxBytes">,
): Promise<Result<PoolMetadata, MetadataFailure>> {
  const direct = source === "direct";
  const address = direct ? url : `${source}/api/v1/metadata/${pool}/${hash}`;
  const answer = await fetchOutside(address, { ...options, maxBytes: direct ? MOST_BYTES : MOST_WRAPPED });
  if (!answer.ok) {
    return answer.error.code === "too_large"
      ? fail("malformed", answer.error.message)
      : fail("unreachable", answer.error.message);
  }
  const { status, bytes } = answer.value;
  if (!direct && status === 404) return fail("unknown", "The server does not know this pool's metadata.");
  if (status !== 200) return fail("unreachable", `The response has the status ${status}.`);
  if (direct && hash256(bytes) !== hash) {
    return fail("wrong_hash", "The hash of the metadata differs from the registered hash.");
  }
  const metadata = readMetadata(readJson(bytes));
  return metadata ? ok(metadata) : fail("malformed", "The text is not valid pool metadata.");
}

/** Health of a SMASH server. */
type SmashHealth = "available" | "unavailable" | "unreachable";

/** Queries the health of a SMASH server. */
export async function smashHealth(server: string, options: FetchOptions): Promise<SmashHealth> {
  const answer = await fetchOutside(`${server.replace(/\/$/, "")}/api/v1/status`, options);
  if (!answer.ok) return "unreachable";
  const json = readJson(answer.value.bytes);
  const status = isObject(json) ? json.status : undefined;
  return answer.value.status === 200 && status === "OK" ? "available" : "unavailable";
}

/** Pools that a SMASH server delists, by id in hexadecimal. */
export async function fetchDelisted(
  server: string,
  options: FetchOptions,
): Promise<Result<readonly string[], Failure<"unreachable">>> {
  const answer = await fetchOutside(`${server}/api/v1/delisted`, { ...options, maxBytes: 4_194_304 });
  if (!answer.ok) return fail("unreachable", answer.error.message);
  const json = answer.value.status === 200 ? readJson(answer.value.bytes) : undefined;
  if (!Array.isArray(json)) return fail("unreachable", "The server does not return its delisted pools.");
  return ok(json.flatMap((one) => {
    const id = isObject(one) ? one.poolId : undefined;
    return typeof id === "string" && /^[0-9a-f]{56}$/.test(id) ? [id] : [];
  }));
}
