/**
 * What a token metadata server says of assets (CIP-26): asked in batches as the registry's own server takes them, kept for a while. A
 * property that is not as it should be is left out; an answer that cannot be read, or a name or description that is none, is an error of
 * its own kind, for clients tell the two apart.
 */
import { isObject, type Json, readJson, toJson } from "#src/base/json.ts";
import type { Log } from "#src/base/log.ts";
import { type FetchOptions, fetchOutside } from "#src/wallet/outside/fetch.ts";

export interface TokenMetadata {
  readonly name: string;
  readonly description: string;
  readonly ticker?: string;
  readonly decimals?: number;
  readonly url?: string;
  /** PNG in base64. */
  readonly logo?: string;
}

/** What is known of an asset: nothing where the server knows nothing. */
export type TokenKnown =
  | { readonly metadata?: TokenMetadata; readonly error?: undefined }
  | { readonly metadata?: undefined; readonly error: "fetch" | "parse" };

export interface TokenServerOptions {
  /** Address of the server; `/metadata/query` is added. */
  readonly url: string;
  readonly fetch: Pick<FetchOptions, "allowPrivate" | "ca" | "timeoutMs">;
  readonly log: Log;
  /** Milliseconds that an answer is used, and one that failed. */
  readonly keepMs?: number;
  readonly keepFailedMs?: number;
}

const KEEP_MS = 600_000;
const KEEP_FAILED_MS = 10_000;
/** Assets that are kept, and those of one request. */
const MOST_KEPT = 10_000;
const AT_ONCE = 100;
const LANES = 4;
/** A logo may have 64 kB, in base64; of a hundred assets together the answer is bounded all the same. */
const MOST_BYTES = 16_777_216;
const PROPERTIES = ["name", "description", "ticker", "decimals", "url", "logo"];

/** A client of one server. */
export class TokenServer {
  private readonly kept = new Map<string, { readonly known: TokenKnown; readonly until: number }>();
  private readonly asking = new Map<string, Promise<void>>();
  /** Requests stand in a few lines, so that a wallet of many assets is no burden to the server. */
  private readonly lanes: Promise<void>[] = Array.from({ length: LANES }, () => Promise.resolve());

  constructor(private readonly options: TokenServerOptions) {}

  /** What is known of assets (policy and name, in hexadecimal, one after the other), by asset. Never rejects. */
  async find(subjects: readonly string[]): Promise<ReadonlyMap<string, TokenKnown>> {
    const wanted = [...new Set(subjects)];
    const now = Date.now();
    const missing = wanted.filter((one) => (this.kept.get(one)?.until ?? 0) <= now);
    const fresh = missing.filter((one) => !this.asking.has(one));
    for (let from = 0; from < fresh.length; from += AT_ONCE) {
      const some = fresh.slice(from, from + AT_ONCE);
      const lane = (from / AT_ONCE) % this.lanes.length;
      const asked = this.lanes[lane]!.then(() => this.ask(some)).finally(() =>
        some.forEach((one) => this.asking.delete(one))
      );
      this.lanes[lane] = asked;
      for (const one of some) this.asking.set(one, asked);
    }
    await Promise.all(missing.flatMap((one) => this.asking.get(one) ?? []));
    const found = new Map(wanted.map((one) => [one, this.kept.get(one)?.known ?? {}]));
    this.trim();
    return found;
  }

  private async ask(subjects: readonly string[]): Promise<void> {
    const { url, fetch, log, keepMs = KEEP_MS, keepFailedMs = KEEP_FAILED_MS } = this.options;
    const answer = await fetchOutside(`${url.replace(/\/$/, "")}/metadata/query`, {
      ...fetch,
      maxBytes: MOST_BYTES,
      body: toJson({ subjects, properties: PROPERTIES }),
    });
    const keep = (one: string, known: TokenKnown) =>
      this.kept.set(one, { known, until: Date.now() + (known.error ? keepFailedMs : keepMs) });
    if (!answer.ok || answer.value.status !== 200) {
      const why = answer.ok ? `The answer has the status ${answer.value.status}.` : answer.error.message;
      log.warn("the token metadata server does not answer", { reason: why });
      for (const one of subjects) keep(one, { error: "fetch" });
      return;
    }
    const told = readAnswer(answer.value.bytes);
    if (!told) log.warn("the token metadata server's answer cannot be read");
    for (const one of subjects) keep(one, told ? told.get(one) ?? {} : { error: "parse" });
  }

  /** Lets go of what was kept longest. */
  private trim(): void {
    for (const one of this.kept.keys()) {
      if (this.kept.size <= MOST_KEPT) return;
      this.kept.delete(one);
    }
  }
}

type Members = { readonly [name: string]: Json };
const members = (json: Json | undefined): Members | undefined => isObject(json) ? json : undefined;

/** What an answer says, by subject; `undefined` where it cannot be read. */
function readAnswer(bytes: Uint8Array): ReadonlyMap<string, TokenKnown> | undefined {
  const subjects = members(readJson(bytes))?.subjects;
  if (!Array.isArray(subjects)) return undefined;
  return new Map(subjects.flatMap((one): [string, TokenKnown][] => {
    const properties = members(one);
    const subject = properties?.subject;
    if (!properties || typeof subject !== "string") return [];
    const metadata = readToken(properties);
    return [[subject, metadata ? { metadata } : { error: "parse" }]];
  }));
}

const lengthOf = (text: string) => Array.from(text).length;

/** Reads properties as the registry wraps them; `undefined` where the name or the description is none. */
function readToken(properties: Members): TokenMetadata | undefined {
  const value = (name: string) => members(properties[name])?.value;
  const text = (name: string, least: number, most: number) => {
    const given = value(name);
    return typeof given === "string" && lengthOf(given) >= least && lengthOf(given) <= most ? given : undefined;
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
