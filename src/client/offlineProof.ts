/**
 * Facts that are proven without a network: a file with facts and their proofs, the state output, and the proof that the
 * state is in the log of an instance, under a checkpoint that the log and witnesses signed. The reader brings a policy: which
 * logs and witnesses it trusts, and how many of them must have signed.
 */
import { fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { parseLeaf, type StateLeaf } from "#src/contract/logLeaf.ts";
import { bytesText } from "#src/contract/text.ts";
import type { Checkpoint } from "#src/tlog/checkpoint.ts";
import { parsePolicy } from "#src/tlog/policy.ts";
import { parseLogProof, verifyLogProof } from "#src/tlog/proofFile.ts";
import { type FactProof, type FactRefusal, verifyFact } from "#src/client/proofs.ts";

/** What a file says that it is. */
const FORMAT = "arbor.offline-proof/1";
/** Most facts in a file. */
const MOST_FACTS = 1_000;

/** The content of a file. */
export interface OfflineProof {
  readonly format: typeof FORMAT;
  /** Facts of one state of one token, as the token service gives them. */
  readonly facts: readonly FactProof[];
  /** The tlog-proof of that state. */
  readonly log: string;
}

/** A file of facts, all of the state whose tlog-proof that is. */
export function offlineProof(facts: readonly FactProof[], log: string): OfflineProof {
  return { format: FORMAT, facts, log };
}

/** A fact of a file that was verified. */
export interface OfflineFact {
  readonly keyHex: string;
  /** The key in the service's encoding. */
  readonly key: string;
  readonly included: boolean;
  readonly valueHex?: string;
  readonly value?: string;
}

/** What a file proves under a policy. */
export interface VerifiedOffline {
  readonly token: string;
  readonly facts: readonly OfflineFact[];
  /** The entry of the log. */
  readonly leaf: StateLeaf;
  readonly index: number;
  readonly checkpoint: Checkpoint;
  /** Witnesses of the policy that signed, with the time of each in seconds since 1970. */
  readonly witnesses: readonly { readonly name: string; readonly seconds: number }[];
  /** Sentences that say what was checked, and what was not. */
  readonly checked: readonly string[];
  readonly notChecked: readonly string[];
}

/**
 * Why a file proves nothing: `bad_policy`: the policy; `malformed`: the file; `not_logged`: the log's proof fails under the
 * policy, with the reason in `details`; `other_state`: the facts are of another state than the entry; others as of
 * `verifyFact`.
 */
export type OfflineRefusal =
  | FactRefusal
  | Failure<"bad_policy" | "malformed" | "not_logged" | "other_state">;

/**
 * Verifies a file, which may be any value, under a policy.
 *
 * @example
 * ```ts
 * import { verifyOffline } from "./src/client/offlineProof.ts";
 *
 * const verified = verifyOffline({}, "quorum none");
 * console.log(verified.ok ? verified.value.checked : verified.error.code); // malformed
 * ```
 */
export function verifyOffline(file: unknown, policyText: string): Result<VerifiedOffline, OfflineRefusal> {
  const policy = parsePolicy(policyText);
  if (!policy.ok) return policy;
  const content = contentOf(file as Json);
  if (!content) return fail("malformed", "The file is not a proof for readers without a network.");
  const proof = parseLogProof(content.log);
  if (!proof.ok) return fail("malformed", proof.error.message);
  const { extra, index } = proof.value;
  const leaf = extra && parseLeaf(extra);
  if (!leaf) return fail("malformed", "The log's proof has no entry that is a state of a token.");
  if (leaf.kind === "rollback" || leaf.kind === "snapshot" || leaf.kind === "end") {
    return fail("other_state", "The entry of the log is not a state with facts.");
  }
  const logged = verifyLogProof(policy.value, extra, proof.value);
  if (!logged.ok) return fail("not_logged", logged.error.message, { reason: logged.error.code });
  const facts: OfflineFact[] = [];
  for (const answer of content.facts) {
    const fact = verifyOne(answer, leaf);
    if (!fact.ok) return fact;
    facts.push(fact.value);
  }
  const { checkpoint } = logged.value;
  const witnesses = logged.value.witnesses.map(({ name, seconds }) => ({ name, seconds }));
  const found = { token: leaf.token, facts, leaf, index, checkpoint, witnesses };
  return ok({ ...found, checked: checkedOf(found), notChecked: notCheckedOf(found) });
}

function contentOf(file: Json): { readonly facts: readonly Partial<FactProof>[]; readonly log: string } | undefined {
  if (!isObject(file) || file.format !== FORMAT || typeof file.log !== "string") return undefined;
  const { facts, log } = file;
  if (!Array.isArray(facts) || facts.length === 0 || facts.length > MOST_FACTS) return undefined;
  // the members are checked by `verifyFact`
  return facts.every(isObject) ? { facts: facts as readonly Partial<FactProof>[], log } : undefined;
}

function verifyOne(answer: Partial<FactProof>, leaf: StateLeaf): Result<OfflineFact, OfflineRefusal> {
  const { keyHex } = answer;
  if (typeof keyHex !== "string" || !isHex(keyHex) || keyHex !== keyHex.toLowerCase()) {
    return fail("malformed", "A fact has no key.");
  }
  const isState = answer.tokenId === leaf.token && answer.root === leaf.root &&
    answer.outputRefId === leaf.ref.replace("#", "-") && answer.stateOutput?.policyId === leaf.policy;
  if (!isState) return fail("other_state", "A fact is of another state than the entry of the log.");
  const key = fromHex(keyHex);
  const checked = verifyFact(answer, { tokenId: leaf.token, key, trusted: { root: leaf.root } });
  if (!checked.ok) return checked;
  const named = { keyHex, key: bytesText(key) };
  if (!checked.value.included) return ok({ ...named, included: false });
  const { value, text } = checked.value;
  return ok({ ...named, included: true, valueHex: toHex(value), value: text });
}

type Found = Omit<VerifiedOffline, "checked" | "notChecked">;

function checkedOf({ token, facts, leaf, index, checkpoint, witnesses }: Found): string[] {
  const { origin, size } = checkpoint;
  return [
    ...facts.map(({ key, included, value }) =>
      included
        ? `Under the key ${quoted(key)} the value is ${quoted(value ?? "")}: its proof leads to the root ${leaf.root}.`
        : `Under the key ${quoted(key)} there is no fact: the proof of that leads to the root ${leaf.root}.`
    ),
    `Entry ${index} of the log ${origin} says that this is the root of the token ${token} of the contract ${leaf.policy} in the output ${leaf.ref}: its state number ${leaf.seq}, made in slot ${leaf.slot} of the network ${leaf.net}.`,
    `The entry is in the tree of ${size} entries that the log signed.`,
    ...witnesses.map(({ name, seconds }) =>
      `The witness ${name} signed that tree; it says on ${new Date(seconds * 1_000).toISOString()}.`
    ),
  ];
}

function notCheckedOf({ witnesses }: Found): string[] {
  return [
    "Whether the token has a later state now, or a later entry of the log says that a rollback took this one away.",
    witnesses.length === 0
      ? "Whether the state is on the ledger, and whether others are shown the same log: no witness of the policy signed, so that this rests on the log alone."
      : "Whether the state is on the ledger: this rests on the log, and on those witnesses that make the entries from an index of their own.",
    "The owner of the token and what else the state output holds: an entry has the root alone.",
  ];
}

const LONGEST = 200;

/** A text in quotation marks, cut where it is long. */
function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}
