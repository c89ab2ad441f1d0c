/**
 * Policies: which logs and witnesses a reader trusts, and how many of the witnesses must have signed (tlog-policy). A log is
 * accepted only under the name of its key.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type NotedCheckpoint, parseCheckpoint } from "#src/tlog/checkpoint.ts";
import {
  LOG_KEY,
  type NoteKey,
  parseVkey,
  samePublicKey,
  type VerifiedSignature,
  verifySignatures,
  WITNESS_KEY,
} from "#src/tlog/note.ts";

/** Most characters of a policy. */
const MAX_POLICY = 65_536;
/** Most lines of a policy. */
const MAX_LINES = 256;

interface PolicyWitness {
  readonly name: string;
  readonly key: NoteKey;
  readonly url?: string;
}

/** A rule over witnesses: one of them, or some of several. */
export type Quorum =
  | { readonly type: "witness"; readonly name: string }
  | { readonly type: "group"; readonly name: string; readonly threshold: number; readonly members: readonly Quorum[] };

export interface Policy {
  readonly logs: readonly { readonly key: NoteKey; readonly url?: string }[];
  readonly witnesses: readonly PolicyWitness[];
  /** Undefined: no witness is needed. */
  readonly quorum: Quorum | undefined;
}

type PolicyFailure = Failure<"bad_policy">;

/** Reads a policy file. */
export function parsePolicy(text: string): Result<Policy, PolicyFailure> {
  if (text.length > MAX_POLICY) return fail("bad_policy", `The policy has more than ${MAX_POLICY} characters.`);
  const lines = text.split("\n");
  if (lines.length > MAX_LINES) return fail("bad_policy", `The policy has more than ${MAX_LINES} lines.`);
  const reader = new PolicyReader();
  for (const [i, line] of lines.entries()) {
    // deno-lint-ignore no-control-regex
    const problem = /[\0-\x08\x0a-\x1f\x7f]/.test(line) ? "has a control character" : reader.line(line);
    if (problem !== undefined) return fail("bad_policy", `Line ${i + 1} of the policy ${problem}.`);
  }
  return reader.policy();
}

class PolicyReader {
  readonly #logs: { key: NoteKey; url?: string }[] = [];
  readonly #witnesses: PolicyWitness[] = [];
  readonly #names = new Map<string, Quorum>();
  readonly #used = new Set<string>();
  #quorum: { readonly of: Quorum | undefined } | undefined;

  /** Takes a line; gives what is wrong with it. */
  line(line: string): string | undefined {
    const [keyword = "", ...words] = line.split(/[ \t]+/).filter((word) => word !== "");
    if (keyword === "" || keyword.startsWith("#")) return undefined;
    switch (keyword) {
      case "log":
        return this.#log(words);
      case "witness":
        return this.#witness(words);
      case "group":
        return this.#group(words);
      case "quorum":
        return this.#setQuorum(words);
      default:
        return "begins with a word that no policy has";
    }
  }

  policy(): Result<Policy, PolicyFailure> {
    return this.#quorum
      ? ok({ logs: this.#logs, witnesses: this.#witnesses, quorum: this.#quorum.of })
      : fail("bad_policy", "The policy has no quorum line.");
  }

  #log([vkey, url, ...more]: string[]): string | undefined {
    if (vkey === undefined || more.length > 0) return "is not a log with a key and at most a URL";
    const key = parseVkey(vkey);
    if (!key.ok || key.value.type !== LOG_KEY) return "has a key that is not one of a log (Ed25519, type 01)";
    if (this.#logs.some((other) => samePublicKey(other.key, key.value))) return "names the key of another log";
    this.#logs.push({ key: key.value, ...(url === undefined ? {} : { url }) });
    return undefined;
  }

  #witness([name, vkey, url, ...more]: string[]): string | undefined {
    if (name === undefined || vkey === undefined || more.length > 0) {
      return "is not a witness with a name, a key and at most a URL";
    }
    const key = parseVkey(vkey);
    if (!key.ok || key.value.type !== WITNESS_KEY) return "has a key that is not one of a witness (Ed25519, type 04)";
    if (this.#witnesses.some((other) => samePublicKey(other.key, key.value))) return "names the key of another witness";
    const problem = this.#define(name, { type: "witness", name });
    if (problem === undefined) this.#witnesses.push({ name, key: key.value, ...(url === undefined ? {} : { url }) });
    return problem;
  }

  #group([name, count, ...members]: string[]): string | undefined {
    if (name === undefined || count === undefined || members.length === 0) return "is not a group with members";
    const threshold = count === "any"
      ? 1
      : count === "all"
      ? members.length
      : /^[1-9]\d{0,3}$/.test(count)
      ? +count
      : 0;
    if (threshold < 1 || threshold > members.length) return "requires a number of members that the group cannot have";
    const found: Quorum[] = [];
    for (const member of members) {
      const quorum = this.#names.get(member);
      if (!quorum) return "has a member that no line before it defines";
      // otherwise one signature would count twice
      if (this.#used.has(member)) return "has a member that is already in a group";
      this.#used.add(member);
      found.push(quorum);
    }
    return this.#define(name, { type: "group", name, threshold, members: found });
  }

  #setQuorum([name, ...more]: string[]): string | undefined {
    if (name === undefined || more.length > 0) return "is not a quorum with one name";
    if (this.#quorum) return "is a second quorum";
    const quorum = this.#names.get(name);
    if (!quorum && name !== "none") return "names a quorum that no line before it defines";
    this.#quorum = { of: quorum };
    return undefined;
  }

  #define(name: string, quorum: Quorum): string | undefined {
    if (name === "none" || this.#names.has(name)) return "gives a name that is already taken";
    this.#names.set(name, quorum);
    return undefined;
  }
}

/** A checkpoint that a policy accepts. */
export interface AcceptedCheckpoint extends NotedCheckpoint {
  /** The log that signed it. */
  readonly log: NoteKey;
  /** The witnesses of the policy that signed it, with the time of each. */
  readonly witnesses: readonly { readonly name: string; readonly key: NoteKey; readonly seconds: number }[];
}

export type PolicyRefusal = Failure<
  "bad_note" | "bad_checkpoint" | "bad_signature" | "unknown_log" | "not_signed" | "no_quorum"
>;

/** Whether a policy accepts a checkpoint: signed by one of its logs under the log's name, and by enough of its witnesses. */
export function acceptCheckpoint(policy: Policy, text: string): Result<AcceptedCheckpoint, PolicyRefusal> {
  const parsed = parseCheckpoint(text);
  if (!parsed.ok) return parsed;
  const { checkpoint, note } = parsed.value;
  const logs = policy.logs.filter(({ key }) => key.name === checkpoint.origin).map(({ key }) => key);
  if (logs.length === 0) return fail("unknown_log", "The checkpoint is of a log that the policy does not name.");
  const verified = verifySignatures(note, [...logs, ...policy.witnesses.map(({ key }) => key)]);
  if (!verified.ok) return verified;
  const log = verified.value.find(({ key }) => logs.includes(key));
  if (!log) return fail("not_signed", "The checkpoint is not signed by the key of its log.");
  const witnesses = policy.witnesses.flatMap(({ name, key }) => {
    const signature = verified.value.find((one): one is VerifiedSignature & { seconds: number } =>
      one.key === key && one.seconds !== undefined
    );
    return signature ? [{ name, key, seconds: signature.seconds }] : [];
  });
  const signed = new Set(witnesses.map(({ name }) => name));
  if (policy.quorum && !isReached(policy.quorum, signed)) {
    return fail("no_quorum", `Too few of the policy's witnesses signed the checkpoint: ${signed.size}.`);
  }
  return ok({ ...parsed.value, log: log.key, witnesses });
}

/** Whether a set of witnesses reaches a quorum. */
function isReached(quorum: Quorum, signed: ReadonlySet<string>): boolean {
  if (quorum.type === "witness") return signed.has(quorum.name);
  return quorum.members.filter((member) => isReached(member, signed)).length >= quorum.threshold;
}
