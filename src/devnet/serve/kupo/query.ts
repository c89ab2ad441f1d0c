/**
 * The query of a request for matches. As at Kupo, a flag differs from a parameter with an empty value, unknown
 * parameters are ignored, and so is one that needs a value and has none.
 */
import { isHex } from "#src/base/bytes.ts";
import type { MatchQuestion } from "#src/devnet/index/kupo/matches.ts";
import { parsePattern } from "#src/devnet/index/kupo/pattern.ts";
import { refused } from "#src/devnet/serve/kupo/failures.ts";

/** A parameter; a flag has no value. */
type Parameter = readonly [name: string, value: string | undefined];
export type Parameters = readonly Parameter[];

/** A bound of a range: a slot, and the block that is expected there. */
export interface Bound {
  readonly of: "created" | "spent";
  readonly slot: bigint;
  readonly hash?: string | undefined;
}

/** Options of a request for matches. */
export interface MatchOptions extends Pick<MatchQuestion, "filter" | "status" | "oldestFirst" | "resolve"> {
  readonly after: Bound | undefined;
  readonly before: Bound | undefined;
}

/** The parameters of a URL. Malformed escapes stay as they are. */
export function parametersOf(url: string): Parameters {
  const { search } = new URL(url);
  return search.slice(1).split("&").filter((part) => part !== "").map((part): Parameter => {
    const at = part.indexOf("=");
    return at < 0 ? [unescaped(part), undefined] : [unescaped(part.slice(0, at)), unescaped(part.slice(at + 1))];
  });
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** Reads the options of a request for matches. @throws {HttpFailure} 400 for the first malformed one */
export function readMatchOptions(parameters: Parameters): MatchOptions {
  const flags = parameters.filter(([name]) => name === "spent" || name === "unspent");
  if (flags.length > 1 || flags.some(([, value]) => value !== undefined)) throw refused.status();
  const [status] = flags.map(([name]) => name === "spent" ? "spent" as const : "unspent" as const);
  const resolve = parameters.filter(([name]) => name === "resolve_hashes");
  if (resolve.some(([, value]) => value !== undefined)) throw refused.resolve();
  return {
    filter: readFilter(parameters),
    status,
    oldestFirst: readOrder(parameters) === "oldest_first",
    resolve: resolve.length > 0,
    after: readBound(parameters, "after"),
    before: readBound(parameters, "before"),
  };
}

function readOrder(parameters: Parameters): "most_recent_first" | "oldest_first" {
  const orders = parameters.filter(([name]) => name === "order").map(([, value]) => value);
  const [order = "most_recent_first"] = orders;
  const isKnown = order === "most_recent_first" || order === "oldest_first";
  if (!isKnown || orders.length > 1 || orders.includes(undefined)) throw refused.order();
  return order;
}

function readFilter(parameters: Parameters): MatchOptions["filter"] {
  const only = (name: string) => {
    const values = parameters.flatMap(([key, value]) => key === name && value !== undefined ? [value] : []);
    if (values.length > 1) throw refused.filter();
    return values[0];
  };
  const policy = only("policy_id");
  const name = only("asset_name");
  const transaction = only("transaction_id");
  const index = only("output_index");
  if (policy === undefined && transaction === undefined && name === undefined && index === undefined) return undefined;
  if (policy !== undefined && transaction === undefined && index === undefined) {
    const filter = parsePattern(`${policy}.${name ?? "*"}`);
    // the name may not be the wildcard itself
    if (filter?.kind === "asset" && name !== "*") return filter;
  }
  if (transaction !== undefined && policy === undefined && name === undefined) {
    const filter = parsePattern(`${index ?? "*"}@${transaction}`);
    if (filter?.kind === "output" && index !== "*") return filter;
  }
  throw refused.filter();
}

function readBound(parameters: Parameters, side: "after" | "before"): Bound | undefined {
  const found = parameters.filter(([name]) => name === `created_${side}` || name === `spent_${side}`);
  const [bound] = found;
  if (bound === undefined) return undefined;
  const [name, value = ""] = bound;
  const [, slot, hash] = /^(\d{1,20})(?:\.([0-9a-f]{64}))?$/i.exec(value) ?? [];
  if (found.length > 1 || slot === undefined) throw refused.range();
  const of = name.startsWith("created") ? "created" : "spent";
  return { of, slot: slotNumber(slot), hash: hash?.toLowerCase() };
}

/** Larger than every slot; the database has no larger integers. */
const LAST_SLOT = (1n << 63n) - 2n;

/** A slot of at most 20 digits. Those that no chain reaches are one. */
function slotNumber(digits: string): bigint {
  const slot = BigInt(digits);
  return slot > LAST_SLOT ? LAST_SLOT : slot;
}

/** The slot at the end of a path. @throws {HttpFailure} 400 */
export function readSlot(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw refused.slot();
  return slotNumber(text);
}

/** Whether `?strict` is given. @throws {HttpFailure} 400 for any other query */
export function readStrict(parameters: Parameters): boolean {
  const [first, second] = parameters;
  if (first === undefined) return false;
  if (second !== undefined || first[0] !== "strict" || first[1] !== undefined) throw refused.strict();
  return true;
}

/** The parameter `transaction_id`, of a request for metadata. @throws {HttpFailure} 400 */
export function readTransactionFilter(parameters: Parameters): string | undefined {
  const filter = parameters.filter(([name, value]) =>
    value !== undefined && ["transaction_id", "output_index", "policy_id", "asset_name"].includes(name)
  );
  const [first] = filter;
  if (first === undefined) return undefined;
  const [name, value = ""] = first;
  if (filter.length > 1 || name !== "transaction_id" || !isHex(value, 32)) throw refused.metadataFilter();
  return value.toLowerCase();
}
