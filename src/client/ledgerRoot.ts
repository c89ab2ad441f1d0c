/**
 * The root of all unspent outputs from other instances than the one whose answer is verified: token services' devnets,
 * followers, and services of cardano-utxo-csmt. Runs in a browser.
 */
import { sleep } from "#src/base/clock.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { isRecord } from "#src/base/record.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { ApiError, call } from "#src/client/http.ts";

/** A block of the chain. */
export interface ChainPoint {
  readonly slot: number;
  /** Hash of the block. */
  readonly hash: string;
}

/** The root of all unspent outputs after a block, which the caller trusts. */
export interface TrustedRoot {
  /** In hexadecimal; null: there is no unspent output. */
  readonly utxoRoot: string | null;
  readonly point: ChainPoint;
  /** Where it is from, for the sentences of what was verified. */
  readonly from?: readonly string[];
}

/** What is said of a trusted root of another form. */
export const BAD_ROOT =
  "trusted.utxoRoot and trusted.point.hash must have 64 hexadecimal digits each, as GET /utxo-root of an instance gives them.";

/** Which instances say the root, and how many must. */
export interface RootSources {
  /** URLs of instances that the caller trusts more than the one that answered, and that others run. */
  readonly instances: readonly string[];
  /** How many of them must know the block and agree on its root; by default all. */
  readonly quorum?: number;
  /** How many newer blocks an instance may know at most, so that an old answer is not taken for a new one; default 20. */
  readonly mostBehind?: number;
  /** How long to wait for instances that have not read the block yet, in milliseconds; default 5,000. */
  readonly waitMs?: number;
}

/**
 * Why there is no trusted root. `bad_quorum`: more are required than there are instances, or less than one; `malformed`: an answer
 * names no block; `instances_disagree`: an instance has another root or another block in its place; `too_old`: the
 * answer is of an old block; `no_quorum`: too few instances know the block.
 */
export type RootRefusal = Failure<"bad_quorum" | "malformed" | "instances_disagree" | "too_old" | "no_quorum">;

const MOST_BEHIND = 20;
const WAIT_MS = 5_000;
const LOOK_MS = 250;
/** One request at most, in milliseconds. */
const REQUEST_MS = 10_000;

/** What an instance says of a block. */
type Said =
  | { readonly kind: "root"; readonly root: string | null; readonly behind: number }
  | { readonly kind: "other_block"; readonly hash: string }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * The root after the block of an answer, from other instances: a quorum of them must know the block and agree, and none may
 * say something else. `answer` is any answer with a proof.
 *
 * @example
 * ```ts
 * import { fetchTrustedRoot } from "./src/client/ledgerRoot.ts";
 *
 * const answer = { snapshot: { utxo_root: "00".repeat(32), chainpoint: { slot: 1, block_id: "00".repeat(32) } } };
 * const trusted = await fetchTrustedRoot(answer, { instances: ["http://127.0.0.1:1"], waitMs: 0 });
 * console.log(trusted.ok ? trusted.value.utxoRoot : trusted.error.code); // no_quorum
 * ```
 */
export async function fetchTrustedRoot(
  answer: unknown,
  { instances: given, quorum: wanted, mostBehind = MOST_BEHIND, waitMs = WAIT_MS }: RootSources,
): Promise<Result<TrustedRoot, RootRefusal>> {
  const instances = [...new Set(given.map((url) => url.replace(/\/+$/, "")))];
  const quorum = wanted ?? instances.length;
  if (!Number.isInteger(quorum) || quorum < 1 || quorum > instances.length) {
    return fail("bad_quorum", `A quorum of ${quorum} among ${instances.length} different instances is not possible.`);
  }
  const point = pointOf(answer);
  if (!point) return fail("malformed", "The response does not say of which block it is.");
  const until = Date.now() + waitMs;
  for (;;) {
    const said = await Promise.all(instances.map(async (url) => ({ url, ...await ask(url, point) })));
    const judged = judge(said, point, { quorum, mostBehind });
    if (judged.ok || judged.error.code !== "no_quorum" || Date.now() >= until) return judged;
    await sleep(LOOK_MS);
  }
}

/** The block that an answer says to be of. */
export function pointOf(answer: unknown): ChainPoint | undefined {
  if (!isRecord(answer) || !isRecord(answer.snapshot) || !isRecord(answer.snapshot.chainpoint)) return undefined;
  const { slot, block_id: hash } = answer.snapshot.chainpoint;
  if (!Number.isSafeInteger(slot) || typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash)) return undefined;
  return { slot: Number(slot), hash };
}

function judge(
  said: readonly ({ readonly url: string } & Said)[],
  { slot, hash }: ChainPoint,
  { quorum, mostBehind }: { readonly quorum: number; readonly mostBehind: number },
): Result<TrustedRoot, RootRefusal> {
  const other = said.find(({ kind }) => kind === "other_block");
  if (other?.kind === "other_block") {
    return fail(
      "instances_disagree",
      `${other.url} has another block in slot ${slot}: ${other.hash}, not ${hash}. One of the two is on another chain or has not read a rollback.`,
      { instance: other.url },
    );
  }
  const known = said.flatMap((one) => one.kind === "root" ? [one] : []);
  const [first] = known;
  const differing = known.find(({ root }) => root !== first?.root);
  if (first && differing) {
    return fail(
      "instances_disagree",
      `${first.url} and ${differing.url} have different roots after the block in slot ${slot}.`,
      { instances: [first.url, differing.url] },
    );
  }
  if (!first || known.length < quorum) {
    const reasons = said.flatMap((one) => one.kind === "unknown" ? [`${one.url}: ${one.why}`] : []);
    return fail(
      "no_quorum",
      `${known.length} of ${said.length} instances know the block in slot ${slot}, and ${quorum} must. ${
        reasons.join(" ")
      }`,
      { known: known.length, quorum },
    );
  }
  const behind = Math.max(...known.map((one) => one.behind));
  if (behind > mostBehind) {
    return fail("too_old", `The response is of the block in slot ${slot}, and ${behind} newer blocks are known.`, {
      behind,
    });
  }
  return ok({ utxoRoot: first.root, point: { slot, hash }, from: known.map(({ url }) => url) });
}

/** What an instance says, which may be anything. */
async function ask(url: string, { slot, hash }: ChainPoint): Promise<Said> {
  let roots: Json;
  try {
    roots = await rootsOf(url);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: "unknown", why: error.message };
  }
  if (!Array.isArray(roots)) return { kind: "unknown", why: "Its response is no list of roots." };
  for (const one of roots) {
    if (!isObject(one) || typeof one.slotNo !== "number" || typeof one.blockHash !== "string") {
      return { kind: "unknown", why: "Its list of roots is malformed." };
    }
    if (one.slotNo !== slot) continue;
    if (one.blockHash !== hash) return { kind: "other_block", hash: one.blockHash };
    const { merkleRoot: root } = one;
    if (root !== null && (typeof root !== "string" || !/^[0-9a-f]{64}$/.test(root))) {
      return { kind: "unknown", why: "Its list of roots is malformed." };
    }
    return { kind: "root", root, behind: roots.filter((each) => isObject(each) && Number(each.slotNo) > slot).length };
  }
  return { kind: "unknown", why: `It does not know the block in slot ${slot}, or no longer its root.` };
}

/** The list of roots: of our own services, or of a service of cardano-utxo-csmt. */
async function rootsOf(url: string): Promise<Json> {
  try {
    return await call(url, "GET", "/utxo-csmt/merkle-roots", undefined, AbortSignal.timeout(REQUEST_MS));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return await call(url, "GET", "/merkle-roots", undefined, AbortSignal.timeout(REQUEST_MS));
  }
}
