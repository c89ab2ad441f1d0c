/**
 * The history of a key, verified without trust in the service: its value in each state of a token over a span, or that it had
 * none. That no state was left out rests on the log: entries of a token are numbered, so numbers without a gap under one
 * checkpoint that the caller's policy accepts are all states that the log has. A rollback is an entry of the token as well, and
 * names the entries that do not count: so the entries have one reading. The value in each of them is proven
 * under the state's root. Runs in a browser, without a network.
 */
import type { z } from "zod";
import { fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { keyBytes } from "#src/client/factKey.ts";
import { guarded, type Refuse, refused as refusal } from "#src/client/untrusted.ts";
import { leafBytes, parseLeaf, type RollbackLeaf, type StateLeaf, type TokenLeaf } from "#src/contract/logLeaf.ts";
import { bytesText } from "#src/contract/text.ts";
import { digest } from "#src/forestry/hash.ts";
import { readProofJson } from "#src/forestry/json.ts";
import type { Step } from "#src/forestry/proof.ts";
import { excludes, includes } from "#src/forestry/verify.ts";
import type { Checkpoint } from "#src/tlog/checkpoint.ts";
import { leafHash } from "#src/tlog/hash.ts";
import { verifyInclusions } from "#src/tlog/multiProof.ts";
import { acceptCheckpoint, type AcceptedCheckpoint, parsePolicy, type Policy } from "#src/tlog/policy.ts";
import type * as api from "#src/tokens/api/keyHistory.ts";

/** A page of a history with its proof, as the token service gives it. */
export type KeyHistoryPage = z.output<typeof api.keyHistory>;

/** Most states of a page. */
const MOST_STATES = 1_000;
/** Most pages. */
const MOST_PAGES = 10_000;
/** Most steps of a proof: nibbles of a path. */
const MOST_STEPS = 64;

/** What a file says that it is. */
const FILE = "arbor.key-history-file/1";

/** A history in a file, with the question that it answers. */
export interface KeyHistoryFile {
  readonly format: typeof FILE;
  readonly tokenId: string;
  readonly keyHex: string;
  readonly pages: readonly KeyHistoryPage[];
}

export interface KeyHistoryQuestion {
  readonly tokenId: string;
  /** Bytes, or a text in the service's encoding. */
  readonly key: string | Uint8Array;
  /** Numbers of the token's first and last entry in the log; by default 0, and the last one of the answer. */
  readonly from?: number;
  readonly to?: number;
  /** Policy of logs and witnesses (tlog-policy). */
  readonly policy: string;
  /** Magic of the network, and policy id of the token's contract, where they are known. */
  readonly network?: number;
  readonly policyId?: string;
}

/** A state of the token. */
export interface LoggedState {
  /** Number among the entries of the token. */
  readonly seq: number;
  readonly slot: number;
  /** `<transaction hash>#<output index>` */
  readonly ref: string;
  readonly root: string;
}

/** States one after the other in all of which the key has the same value, or none. */
export interface KeyVersion {
  readonly first: LoggedState;
  readonly last: LoggedState;
  readonly included: boolean;
  readonly valueHex?: string;
  /** The value in the service's encoding. */
  readonly value?: string;
}

/** What an answer proves under a policy. */
export interface VerifiedKeyHistory {
  readonly token: string;
  readonly keyHex: string;
  readonly key: string;
  readonly network: number;
  readonly policyId: string;
  readonly from: number;
  readonly to: number;
  /** The oldest first; together all states of the span. */
  readonly versions: readonly KeyVersion[];
  /** Whether the key has no value in any state of the span. */
  readonly absent: boolean;
  /** The end of the token, where the span has it: its slot and the output that was spent. */
  readonly end?: LoggedState;
  readonly checkpoint: Checkpoint;
  readonly witnesses: readonly { readonly name: string; readonly seconds: number }[];
  /** Sentences that say what was checked, and what was not. */
  readonly checked: readonly string[];
  readonly notChecked: readonly string[];
}

/**
 * Why an answer proves nothing. `bad_policy`: the policy; `malformed`: the answer; `other_question`: it is about another token,
 * key, network or contract; `incomplete`: it has not all states of the span; `not_logged`: its entries are not in a log
 * that the policy accepts; `withdrawn`: it shows entries that a rollback withdrew as states of the token, or the reverse;
 * `proof_fails`: a proof does not lead to its root.
 */
export type KeyHistoryRefusal = Failure<
  "bad_policy" | "malformed" | "other_question" | "incomplete" | "not_logged" | "withdrawn" | "proof_fails"
>;

const refused: Refuse<KeyHistoryRefusal["code"]> = refusal;

/**
 * Verifies an answer to `GET /token/{tokenId}/facts/{key}/history?proof=true`, or the list of all its pages; either may be
 * any value.
 *
 * @throws {TypeError} for a question whose key is no key (see `keyBytes`).
 *
 * @example
 * ```ts
 * import { verifyKeyHistory } from "./src/client/keyHistory.ts";
 *
 * const verified = verifyKeyHistory({}, { tokenId: "ab".repeat(32), key: "planet", policy: "quorum none" });
 * console.log(verified.ok ? verified.value.versions : verified.error.code); // malformed
 * ```
 */
export function verifyKeyHistory(
  answer: unknown,
  question: KeyHistoryQuestion,
): Result<VerifiedKeyHistory, KeyHistoryRefusal> {
  const key = keyBytes(question.key);
  const policy = parsePolicy(question.policy);
  if (!policy.ok) return policy;
  const pages = Array.isArray(answer) ? answer : [answer];
  return guarded(
    () => verified(pages, { ...question, key }, policy.value),
    fail("malformed", "The answer is malformed.").error,
  );
}

/** The pages of a history of a key (see `keyBytes`) as a file. */
export function keyHistoryFile(
  tokenId: string,
  key: string | Uint8Array,
  pages: readonly KeyHistoryPage[],
): KeyHistoryFile {
  return { format: FILE, tokenId, keyHex: toHex(keyBytes(key)), pages };
}

/** Whether some content is a file of `keyHistoryFile`; its members may be any values. */
export function isKeyHistoryFile(content: unknown): content is { readonly format: typeof FILE } {
  return isObject(content as Json) && (content as { format?: unknown }).format === FILE;
}

/** Verifies a file, which may be any value, under a policy. The result names its token, key and span. */
export function verifyKeyHistoryFile(content: unknown, policy: string): Result<VerifiedKeyHistory, KeyHistoryRefusal> {
  const { tokenId, keyHex, pages }: Partial<Record<keyof KeyHistoryFile, unknown>> = isKeyHistoryFile(content)
    ? content
    : {};
  if (typeof tokenId !== "string" || typeof keyHex !== "string" || !isLowerHex(keyHex) || !Array.isArray(pages)) {
    return fail("malformed", "The file is not the history of a key.");
  }
  const [first] = pages as readonly unknown[];
  // a file may begin anywhere: its reader sees the span in the result
  const from = (first as Partial<KeyHistoryPage> | null | undefined)?.from;
  return verifyKeyHistory(pages, { tokenId, key: fromHex(keyHex), policy, ...(isCount(from) ? { from } : {}) });
}

/**
 * Whether a verified history shows that the key had no value in any state from one number to another; undefined where the
 * history has not all of these states.
 *
 * @example
 * ```ts
 * import { absentDuring } from "./src/client/keyHistory.ts";
 *
 * console.log(absentDuring({ from: 0, to: 3, versions: [] }, 2, 4)); // undefined
 * ```
 */
export function absentDuring(
  history: Pick<VerifiedKeyHistory, "from" | "to" | "versions">,
  from: number,
  to: number,
): boolean | undefined {
  if (!(from >= history.from && from <= to && to <= history.to)) return undefined;
  return history.versions.every(({ first, last, included }) => !included || last.seq < from || first.seq > to);
}

/** An entry with the value of the key in its state; without one at the end of the token and where it is withdrawn. */
interface Entry<Leaf extends TokenLeaf = TokenLeaf> {
  readonly index: number;
  readonly leaf: Leaf;
  /** Whether the answer says that a rollback withdrew it. */
  readonly withdrawn?: boolean;
  /** Undefined: the key has none. */
  readonly value?: Uint8Array | undefined;
}

type Question = KeyHistoryQuestion & { readonly key: Uint8Array };

function verified(pages: readonly unknown[], question: Question, policy: Policy): VerifiedKeyHistory {
  if (pages.length === 0 || pages.length > MOST_PAGES) {
    throw refused("malformed", "The answer has no or too many pages.");
  }
  const { from = 0, to } = question;
  const entries: Entry[] = [];
  let accepted: AcceptedCheckpoint | undefined;
  let text: string | undefined;
  for (const content of pages) {
    const page = pageIn(content);
    const next = from + entries.length;
    if (page.from !== next) {
      throw refused("incomplete", `The answer goes on with the token's entry ${page.from}, not with ${next}.`);
    }
    const mine = entriesIn(page, question);
    const checkpoint = accepted && page.checkpoint === text ? accepted : acceptedIn(page, policy);
    text = page.checkpoint;
    // pages under several checkpoints could be of several histories
    if (accepted && !sameCheckpoint(accepted.checkpoint, checkpoint.checkpoint)) {
      throw refused("not_logged", "The pages are under different checkpoints.");
    }
    accepted = checkpoint;
    if (!areLogged(page, mine, checkpoint.checkpoint)) {
      throw refused("not_logged", "The proof does not lead from the entries to the root of the checkpoint.");
    }
    for (const entry of mine) entries.push(entry);
  }
  const states = statesOf(entries, from);
  const last = from + entries.length - 1;
  if (to !== undefined && last !== to) {
    throw refused("incomplete", `The answer ends with the token's entry ${last}, not with ${to}.`);
  }
  if (!accepted) throw refused("malformed", "The answer has no checkpoint.");
  return resultOf(question, entries, states, accepted);
}

/** A page whose lists and texts are bounded; their members are checked where they are read. */
interface Page {
  readonly from: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly states: readonly Json[];
  readonly values: readonly Json[];
  readonly steps: readonly Json[];
  readonly hashes: readonly Json[];
  readonly checkpoint: string;
}

function pageIn(content: unknown): Page {
  const fields = content as Json;
  if (!isObject(fields) || fields.format !== "arbor.key-history/1") throw malformed("is not a history with its proof");
  const { from, states, values, steps, hashes, checkpoint } = fields;
  if (!isCount(from) || typeof checkpoint !== "string") throw malformed("has no first entry or no checkpoint");
  const isList = (list: unknown, most: number): list is Json[] => Array.isArray(list) && list.length <= most;
  if (!isList(states, MOST_STATES) || states.length === 0) throw malformed("has no or too many states");
  if (!isList(values, MOST_STATES) || !isList(steps, MOST_STATES * MOST_STEPS) || !isList(hashes, MOST_STATES * 64)) {
    throw malformed("has no or too many values, steps or hashes");
  }
  return { from, fields, states, values, steps, hashes, checkpoint };
}

/** The entries of a page, with the values that their proofs show. */
function entriesIn(page: Page, question: Question): Entry[] {
  const { fields: { tokenId, path, net, policyId } } = page;
  const digestOfKey = digest(question.key);
  const sameToken = tokenId === question.tokenId.toLowerCase() && path === toHex(digestOfKey);
  const samePlace = (question.network === undefined || net === question.network) &&
    (question.policyId === undefined || policyId === question.policyId.toLowerCase());
  if (!sameToken || !samePlace) {
    throw refused("other_question", "The answer is for another token, key, network or contract.");
  }
  const values = page.values.map((value) => {
    if (typeof value !== "string" || !isLowerHex(value)) throw malformed("has a value that is not in hexadecimal");
    return fromHex(value);
  });
  const digests = values.map(digest);
  const steps = readProofJson(page.steps);
  if (!steps) throw malformed("has a step that is none");
  const entries: Entry[] = [];
  let before: { readonly root: string; readonly place: number | null } | undefined;
  for (const [i, state] of page.states.entries()) {
    if (!isObject(state)) throw malformed("has a state that is none");
    const { index, slot, ref, root, value: place } = state;
    const seq = page.from + i;
    if (!isCount(index)) throw malformed("has a state without its index");
    const [end, boot, withdrawn] = [isMarked(state.end), isMarked(state.boot), isMarked(state.withdrawn)];
    const leaf = leafIn({
      ...{ v: 1, net, policy: policyId, token: tokenId, seq, slot },
      ...(state.first === undefined
        ? { kind: end ? "end" : seq === 0 || boot ? "boot" : "update", ref, root }
        : { kind: "rollback", first: state.first }),
    });
    if (leaf.kind === "rollback" || end || withdrawn) {
      entries.push({ index, leaf, withdrawn });
      continue;
    }
    if (place !== null && !(isCount(place) && place < values.length)) throw malformed("has a state without its value");
    const valueDigest = place === null ? undefined : digests[place];
    if (state.steps === undefined) {
      if (before?.root !== leaf.root || before.place !== place) {
        throw refused("proof_fails", `The value in the token's state ${seq} has no proof.`);
      }
    } else {
      const proof = stepsIn(state.steps, steps);
      const rootBytes = fromHex(leaf.root);
      const holds = valueDigest
        ? includes(rootBytes, digestOfKey, valueDigest, proof)
        : excludes(rootBytes, digestOfKey, proof);
      if (!holds) throw refused("proof_fails", `The proof of the token's state ${seq} does not lead to its root.`);
    }
    before = { root: leaf.root, place };
    entries.push({ index, leaf, value: place === null ? undefined : values[place] });
  }
  return entries;
}

function isMarked(mark: Json | undefined): boolean {
  if (mark !== undefined && mark !== true) throw malformed("has a mark of a state that is none");
  return mark === true;
}

/** The entry of these members, as the log has it. */
function leafIn(members: Readonly<Record<string, unknown>>): TokenLeaf {
  if (Object.values(members).some((one) => typeof one !== "string" && !isCount(one) && one !== -1)) {
    throw malformed("has a state that no log has");
  }
  // the one text of an entry is made of these members, and read again by all its rules
  const leaf = parseLeaf(leafBytes(members as unknown as TokenLeaf));
  if (leaf?.token === undefined) throw malformed("has a state that no log has");
  return leaf;
}

function stepsIn(places: unknown, steps: readonly Step[]): Step[] {
  if (!Array.isArray(places) || places.length > MOST_STEPS) throw malformed("has a proof that is none");
  return places.map((place) => {
    const step = isCount(place) ? steps[place] : undefined;
    if (!step) throw malformed("has a proof with a step that is missing");
    return step;
  });
}

function acceptedIn(page: Page, policy: Policy): AcceptedCheckpoint {
  const accepted = acceptCheckpoint(policy, page.checkpoint);
  if (!accepted.ok) throw refused("not_logged", accepted.error.message, { reason: accepted.error.code });
  return accepted.value;
}

function areLogged({ hashes }: Page, entries: readonly Entry[], { size, root }: Checkpoint): boolean {
  const proof = hashes.map((hash) => {
    if (typeof hash !== "string" || !isLowerHex(hash, 32)) throw malformed("has a hash that is none");
    return fromHex(hash);
  });
  const leaves = entries.map(({ index, leaf }) => ({ index, leaf: leafHash(leafBytes(leaf)) }));
  return verifyInclusions({ size, root, proof, entries: leaves });
}

/**
 * The entries that count: those that no rollback withdrew. The log has the entries of a token in their order, those that count
 * with ascending slots, and none after the token's end.
 */
function statesOf(entries: readonly Entry[], from: number): Entry<StateLeaf>[] {
  const states: Entry<StateLeaf>[] = [];
  for (const [i, entry] of entries.entries()) {
    const { leaf } = entry;
    const before = entries[i - 1];
    if (before && entry.index <= before.index) {
      throw refused("incomplete", `The token's entry ${leaf.seq} is not after the one before it.`);
    }
    if (before && (leaf.net !== before.leaf.net || leaf.policy !== before.leaf.policy)) {
      throw refused("other_question", "The pages are of different networks or contracts.");
    }
    if (leaf.kind === "rollback") withdraw(states, leaf, from);
    else {
      checkNext(states.at(-1)?.leaf, leaf, from);
      states.push({ ...entry, leaf });
    }
  }
  const counting = new Set(states.map(({ leaf }) => leaf.seq));
  for (const { leaf: { kind, seq }, withdrawn } of entries) {
    if (kind !== "rollback" && withdrawn && counting.has(seq)) {
      throw refused(
        "withdrawn",
        `No entry of the token in the answer withdraws its entry ${seq}, which it calls withdrawn.`,
      );
    }
    if (kind !== "rollback" && !withdrawn && !counting.has(seq)) {
      throw refused(
        "withdrawn",
        `The token's entry ${seq} is no state of it: a later entry says that a rollback withdrew it.`,
      );
    }
  }
  return states;
}

/** Takes away what a rollback withdrew: the last entries, which are above its slot. */
function withdraw(states: Entry<StateLeaf>[], { seq, first, slot }: RollbackLeaf, from: number): void {
  const kept = states.findLastIndex(({ leaf }) => leaf.seq < first) + 1;
  const [last, next] = [states[kept - 1], states[kept]];
  // what it withdrew may be before the span
  const isWhole = first < from || next?.leaf.seq === first;
  if (!isWhole || (last && last.leaf.slot > slot) || (next && next.leaf.slot <= slot)) {
    throw refused("incomplete", `The token's entry ${seq} says of a rollback what does not fit the entries before it.`);
  }
  states.length = kept;
}

/** The entry that counts after another one. */
function checkNext(before: StateLeaf | undefined, { kind, seq, slot, ref, root }: StateLeaf, from: number): void {
  if (before?.kind === "end") throw refused("incomplete", "The answer has a state after the end of the token.");
  if (before && slot < before.slot) {
    throw refused("incomplete", `The token's entry ${seq} is not after the one before it.`);
  }
  if (kind === "boot" ? before : !before && from === 0) {
    throw refused(
      "incomplete",
      `Whether the token's entry ${seq} is its first state does not fit the entries before it.`,
    );
  }
  if (kind === "end" && before && (ref !== before.ref || root !== before.root)) {
    throw refused("incomplete", "The token's end spends another state than its last one.");
  }
}

function resultOf(
  { key, from = 0 }: Question,
  entries: readonly Entry[],
  states: readonly Entry<StateLeaf>[],
  { checkpoint, witnesses }: AcceptedCheckpoint,
): VerifiedKeyHistory {
  const [first] = entries;
  if (!first) throw refused("malformed", "The answer has no states.");
  const versions = versionsOf(states);
  const ending = states.find(({ leaf }) => leaf.kind === "end");
  const rollbacks = entries.flatMap(({ leaf }) => leaf.kind === "rollback" ? [leaf] : []);
  const found = {
    token: first.leaf.token,
    keyHex: toHex(key),
    key: bytesText(key),
    network: first.leaf.net,
    policyId: first.leaf.policy,
    from,
    to: from + entries.length - 1,
    versions,
    absent: versions.length > 0 && versions.every(({ included }) => !included),
    ...(ending && { end: placeOf(ending) }),
    checkpoint,
    witnesses: witnesses.map(({ name, seconds }) => ({ name, seconds })),
  };
  return { ...found, checked: checkedOf(found, rollbacks), notChecked: notCheckedOf(found) };
}

function placeOf({ leaf: { seq, slot, ref, root } }: Entry<StateLeaf>): LoggedState {
  return { seq, slot, ref, root };
}

function versionsOf(entries: readonly Entry<StateLeaf>[]): KeyVersion[] {
  const versions: KeyVersion[] = [];
  for (const entry of entries) {
    if (entry.leaf.kind === "end") continue;
    const valueHex = entry.value && toHex(entry.value);
    const before = versions.at(-1);
    const place = placeOf(entry);
    if (before && before.valueHex === valueHex) versions[versions.length - 1] = { ...before, last: place };
    else if (entry.value === undefined || valueHex === undefined) {
      versions.push({ first: place, last: place, included: false });
    } else {
      versions.push({ first: place, last: place, included: true, valueHex, value: bytesText(entry.value) });
    }
  }
  return versions;
}

type Found = Omit<VerifiedKeyHistory, "checked" | "notChecked">;

/** Versions that have a sentence of their own. */
const MOST_SENTENCES = 100;

function checkedOf(
  { token, key, network, policyId, from, to, versions, end, checkpoint, witnesses }: Found,
  rollbacks: readonly RollbackLeaf[],
): string[] {
  const { origin, size } = checkpoint;
  const more = versions.length - MOST_SENTENCES;
  return [
    `The log ${origin} has the entries ${from} to ${to} of the token ${token} of the contract ${policyId} on the network ${network}: they are numbered without a gap, and all are in the tree of ${size} entries that the log signed.`,
    ...rollbacks.slice(0, MOST_SENTENCES).map(({ seq, first, slot }) =>
      `The token's entry ${seq} says that a rollback to slot ${slot} withdrew ${
        first === seq - 1 ? `its entry ${first}` : `its entries ${first} to ${seq - 1}`
      }: what is withdrawn does not count.`
    ),
    ...versions.slice(0, MOST_SENTENCES).map(({ first, last, included, value }) => {
      const states = first.seq === last.seq
        ? `In the state ${first.seq} (slot ${first.slot})`
        : `In all states from ${first.seq} (slot ${first.slot}) to ${last.seq} (slot ${last.slot})`;
      return included
        ? `${states} the value under the key ${quoted(key)} is ${quoted(value ?? "")}: proven under the root of each.`
        : `${states} there is no fact under the key ${quoted(key)}: proven under the root of each.`;
    }),
    ...(more > 0 ? [`${more} more spans with one value each were checked in the same way.`] : []),
    ...(end ? [`The token ended in slot ${end.slot}.`] : []),
    ...witnesses.map(({ name, seconds }) =>
      `The witness ${name} signed that tree; it says on ${new Date(seconds * 1_000).toISOString()}.`
    ),
  ];
}

function notCheckedOf({ witnesses, to }: Found): string[] {
  return [
    `What happened after the token's entry ${to}; a rollback may have withdrawn it.`,
    "Values that no state had: those that a request set and a later one of the same update replaced.",
    witnesses.length === 0
      ? "Whether these are all states that the ledger has, and whether others are shown the same log: no witness of the policy signed, so that this rests on the log alone."
      : "Whether these are all states that the ledger has: this rests on the log, and on those witnesses that make the entries from an index of their own.",
  ];
}

const LONGEST = 200;

/** A text in quotation marks, cut where it is long. */
function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

function sameCheckpoint(a: Checkpoint, b: Checkpoint): boolean {
  return a.origin === b.origin && a.size === b.size && toHex(a.root) === toHex(b.root);
}

function malformed(what: string): Error {
  return refused("malformed", `The answer ${what}.`);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isLowerHex(text: string, bytes?: number): boolean {
  return /^[0-9a-f]*$/.test(text) && isHex(text, bytes);
}
