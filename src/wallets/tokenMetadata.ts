/**
 * Client of a token metadata server (CIP-26). Assets are requested in batches, as the registry's own server takes them,
 * and cached. An invalid property is left out. An unreadable response, or an invalid name or description, is a `parse`
 * error; no response is a `fetch` error. The API reports the two as different codes.
 */
import { isObject, type Json, readJson, toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { elementAt } from "#src/base/present.ts";
import { type FetchOptions, fetchOutside } from "#src/base/outsideFetch.ts";

interface TokenMetadata {
  readonly name: string;
  readonly description: string;
  readonly ticker?: string;
  readonly decimals?: number;
  readonly url?: string;
  /** PNG in base64. */
  readonly logo?: string;
}

/** Metadata of an asset; neither metadata nor error where the server has none. */
type TokenLookup =
  | { readonly metadata?: TokenMetadata; readonly error?: undefined }
  | { readonly metadata?: undefined; readonly error: "fetch" | "parse" };

interface TokenServerOptions {
  /** Address of the server; `/metadata/query` is added. */
  readonly url: string;
  readonly fetch: Pick<FetchOptions, "allowPrivate" | "chosen" | "ca" | "timeoutMs">;
  readonly log: Log;
  /** Milliseconds that a response is cached, and a failure. */
  readonly keepMs?: number;
  readonly keepFailedMs?: number;
}

const KEEP_MS = 600_000;
const KEEP_FAILED_MS = 10_000;
/** Assets that are cached, and assets of one request. */
const MOST_CACHED = 10_000;
const AT_ONCE = 100;
/** Requests at the same time. */
const CONCURRENT = 4;
/** Bytes of a response. A logo may have 64 kB in base64; the response for 100 assets is bounded nevertheless. */
const MOST_BYTES = 16_777_216;
const PROPERTIES = ["name", "description", "ticker", "decimals", "url", "logo"];

/** A client of one server. */
export class TokenServer {
  private readonly cache = new Map<string, { readonly lookup: TokenLookup; readonly until: number }>();
  private readonly pending = new Map<string, Promise<void>>();
  /** Requests wait in a few queues, so that a wallet of many assets does not overload the server. */
  private readonly queues: Promise<void>[] = Array.from({ length: CONCURRENT }, () => Promise.resolve());

  constructor(private readonly options: TokenServerOptions) {}

  /** Metadata by asset (policy and name in hexadecimal, concatenated). Never rejects. */
  async find(subjects: readonly string[]): Promise<ReadonlyMap<string, TokenLookup>> {
    const wanted = [...new Set(subjects)];
    const now = Date.now();
    const missing = wanted.filter((one) => (this.cache.get(one)?.until ?? 0) <= now);
    const fresh = missing.filter((one) => !this.pending.has(one));
    for (let from = 0; from < fresh.length; from += AT_ONCE) {
      const some = fresh.slice(from, from + AT_ONCE);
      const queue = (from / AT_ONCE) % this.queues.length;
      const request = elementAt(this.queues, queue).then(() => this.request(some)).catch((error: unknown) => {
        this.options.log.warn("token metadata cannot be read", { reason: reason(error) });
      }).finally(() => some.forEach((one) => this.pending.delete(one)));
      this.queues[queue] = request;
      for (const one of some) this.pending.set(one, request);
    }
    await Promise.all(missing.flatMap((one) => this.pending.get(one) ?? []));
    const found = new Map(wanted.map((one) => [one, this.cache.get(one)?.lookup ?? {}]));
    this.trim();
    return found;
  }

  /** Requests the metadata of some assets and caches it, failures too. */
  private async request(subjects: readonly string[]): Promise<void> {
    const { url, fetch, log, keepMs = KEEP_MS, keepFailedMs = KEEP_FAILED_MS } = this.options;
    const keep = (one: string, lookup: TokenLookup) =>
      this.cache.set(one, { lookup, until: Date.now() + (lookup.error ? keepFailedMs : keepMs) });
    const response = await fetchOutside(`${url.replace(/\/$/, "")}/metadata/query`, {
      ...fetch,
      maxBytes: MOST_BYTES,
      body: toJson({ subjects, properties: PROPERTIES }),
    });
    if (!response.ok && response.error.code === "too_large" && subjects.length > 1) {
      // the asset whose properties are too large fails alone
      const half = Math.ceil(subjects.length / 2);
      await this.request(subjects.slice(0, half));
      return await this.request(subjects.slice(half));
    }
    if (!response.ok || response.value.status !== 200) {
      const why = response.ok ? `The response has the status ${response.value.status}.` : response.error.message;
      log.warn("the token metadata server does not respond", { reason: why });
      for (const one of subjects) keep(one, { error: "fetch" });
      return;
    }
    const lookups = readResponse(response.value.bytes);
    if (!lookups) log.warn("the token metadata server's response cannot be parsed");
    for (const one of subjects) keep(one, lookups ? lookups.get(one) ?? {} : { error: "parse" });
  }

  /** Removes the oldest entries. */
  private trim(): void {
    for (const one of this.cache.keys()) {
      if (this.cache.size <= MOST_CACHED) return;
      this.cache.delete(one);
    }
  }
}

type Members = { readonly [name: string]: Json };
const members = (json: Json | undefined): Members | undefined => isObject(json) ? json : undefined;

/** Lookups of a response by subject; `undefined` where it cannot be read. */
function readResponse(bytes: Uint8Array): ReadonlyMap<string, TokenLookup> | undefined {
  const subjects = members(readJson(bytes))?.subjects;
  if (!Array.isArray(subjects)) return undefined;
  return new Map(subjects.flatMap((one): [string, TokenLookup][] => {
    const properties = members(one);
    const subject = properties?.subject;
    if (!properties || typeof subject !== "string") return [];
    const metadata = readToken(properties);
    return [[subject, metadata ? { metadata } : { error: "parse" }]];
  }));
}

const lengthOf = (text: string) => Array.from(text).length;

/** Reads the properties of an asset; `undefined` where the name or the description is missing or invalid. */
function readToken(properties: Members): TokenMetadata | undefined {
  const value = (name: string) => members(properties[name])?.value;
  const text = (name: string, least: number, most: number) => {
    const found = value(name);
    return typeof found === "string" && lengthOf(found) >= least && lengthOf(found) <= most ? found : undefined;
  };
  const [name, description] = [text("name", 1, 50), text("description", 0, 500)];
  if (name === undefined || description === undefined) return undefined;
  const [ticker, url, logo] = [text("ticker", 2, 9), text("url", 1, 250), text("logo", 1, 87_400)];
  const decimals = value("decimals");
  return {
    name,
    description,
    ...(ticker === undefined ? {} : { ticker }),
    ...(typeof decimals === "number" && Number.isInteger(decimals) && decimals >= 0 && decimals <= 255
      ? { decimals }
      : {}),
    ...(url !== undefined && /^https:\/\//.test(url) && URL.canParse(url) ? { url } : {}),
    ...(logo !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(logo) ? { logo } : {}),
  };
}
