/** A simulated log and token: changes of its facts, and the answers that an honest service gives of them. */
import { toHex, utf8 } from "#src/base/bytes.ts";
import type { KeyHistoryPage } from "#src/client/keyHistory.ts";
import { leafBytes, type StateLeaf, type TokenLeaf } from "#src/contract/logLeaf.ts";
import { digest } from "#src/forestry/hash.ts";
import { proofJson } from "#src/forestry/json.ts";
import { type Change, Forestry } from "#src/forestry/trie.ts";
import { signCheckpoint } from "#src/tlog/checkpoint.ts";
import { leafHash, nodeHash } from "#src/tlog/hash.ts";
import { LOG_KEY, noteSigner, vkeyOf } from "#src/tlog/note.ts";
import { multiProof } from "#src/tlog/multiProof.ts";
import { type SubtreeHash, treeRoot } from "#src/tlog/tree.ts";
import { keyHistory } from "#src/tokens/builds/keyHistory.ts";

const POLICY_ID = "cd".repeat(28);

/** An entry of a token; of a state with its facts, and its changes since the state before. */
interface SimulatedEntry {
  readonly index: number;
  readonly leaf: TokenLeaf;
  readonly changes: readonly Change[];
  readonly facts: ReadonlyMap<string, string>;
  withdrawn: boolean;
}

type SimulatedState = SimulatedEntry & { readonly leaf: StateLeaf };

const isOnChain = (entry: SimulatedEntry): entry is SimulatedState =>
  !entry.withdrawn && entry.leaf.kind !== "rollback";

/** Hashes of complete subtrees, kept. */
function subtrees(leaves: readonly Uint8Array[]): SubtreeHash {
  const kept = new Map<string, Uint8Array>();
  const hashOf = (level: number, index: number): Uint8Array => {
    if (level === 0) return leaves[index]!;
    const name = `${level}/${index}`;
    const found = kept.get(name) ?? nodeHash(hashOf(level - 1, 2 * index), hashOf(level - 1, 2 * index + 1));
    kept.set(name, found);
    return found;
  };
  return hashOf;
}

/** A log with states of two tokens. */
export class SimulatedLog {
  readonly signer;
  readonly policy: string;
  readonly entries: TokenLeaf[] = [];
  readonly #tokens = new Map<string, SimulatedEntry[]>();

  constructor(seed = 7) {
    this.signer = noteSigner("log.example/simulated", LOG_KEY, new Uint8Array(32).fill(seed));
    this.policy = `log ${vkeyOf(this.signer)}\nquorum none\n`;
  }

  /** Adds a state of a token that makes some changes; without any it keeps its root. */
  add(token: string, changed: ReadonlyMap<string, string | undefined>): void {
    const entries = this.#tokens.get(token) ?? [];
    const state = entries.findLast(isOnChain);
    const facts = new Map(state?.facts);
    const changes: Change[] = [];
    for (const [key, value] of changed) {
      const old = facts.get(key);
      if (old === value) continue;
      const path = digest(utf8(key));
      if (value === undefined) changes.push({ type: "delete", path, value: digest(utf8(old!)) });
      else if (old === undefined) changes.push({ type: "insert", path, value: digest(utf8(value)) });
      else changes.push({ type: "update", path, old: digest(utf8(old)), value: digest(utf8(value)) });
      if (value === undefined) facts.delete(key);
      else facts.set(key, value);
    }
    const trie = Forestry.from(
      [...facts].map(([key, value]) => ({ path: digest(utf8(key)), value: digest(utf8(value)) })),
    );
    const index = this.entries.length;
    const leaf: StateLeaf = {
      ...{ v: 1, net: 42, kind: state ? "update" : "boot", policy: POLICY_ID, token },
      seq: entries.length,
      slot: 10 * index,
      ref: `${toHex(digest(utf8(`${token} ${entries.length}`)))}#0`,
      root: toHex(trie.root),
    };
    this.entries.push(leaf);
    this.#tokens.set(token, [...entries, { index, leaf, changes, facts, withdrawn: false }]);
  }

  /** Withdraws the newest states of a token, at least one. */
  rollback(token: string, count: number): void {
    const entries = this.#tokens.get(token)!;
    const states = this.states(token);
    const gone = states.slice(-count);
    for (const state of gone) state.withdrawn = true;
    const leaf: TokenLeaf = {
      ...{ v: 1, net: 42, kind: "rollback", policy: POLICY_ID, token, seq: entries.length },
      first: gone[0]!.leaf.seq,
      slot: states.at(-count - 1)?.leaf.slot ?? -1,
    };
    entries.push({ index: this.entries.length, leaf, changes: [], facts: new Map(), withdrawn: false });
    this.entries.push(leaf);
  }

  /** States of a token that are on the chain. */
  states(token: string): readonly SimulatedState[] {
    return this.#tokens.get(token)!.filter(isOnChain);
  }

  /** Values of a key in the states of a token that are on the chain, from the model. */
  values(token: string, key: string): (string | undefined)[] {
    return this.states(token).map(({ facts }) => facts.get(key));
  }

  /** The answer of an honest service. */
  async page(token: string, key: string, from: number, to: number): Promise<KeyHistoryPage> {
    const span = this.#tokens.get(token)!.slice(from, to + 1);
    const states = span.filter(isOnChain);
    const path = digest(utf8(key));
    const before = this.states(token).findLast(({ leaf }) => leaf.seq < from)?.facts ?? new Map<string, string>();
    const leaves = [...before].flatMap(([name, value]) => [...digest(utf8(name)), ...digest(utf8(value))]);
    const proven = await keyHistory({
      path,
      facts: { leaves: Uint8Array.from(leaves) },
      states: states.map(({ leaf, changes }) => ({ root: leaf.root, changes, proven: true })),
    });
    if (!proven.ok) throw new Error(proven.error.message);
    const values = [...new Set(states.flatMap(({ facts }) => facts.get(key) ?? []))];
    const size = this.entries.length;
    const hashOf = subtrees(this.entries.map((leaf) => leafHash(leafBytes(leaf))));
    return {
      format: "arbor.key-history/1",
      tokenId: token,
      path: toHex(path),
      net: 42,
      policyId: POLICY_ID,
      from,
      states: span.map((entry) => {
        const { index, leaf, facts, withdrawn } = entry;
        if (leaf.kind === "rollback") return { index, slot: leaf.slot, first: leaf.first };
        const line = {
          ...{ index, slot: leaf.slot, ref: leaf.ref, root: leaf.root },
          ...(leaf.kind === "boot" && leaf.seq > 0 ? { boot: true as const } : {}),
        };
        if (withdrawn) return { ...line, withdrawn };
        const value = facts.get(key);
        const steps = proven.value.states[states.findIndex((state) => state === entry)]!.steps;
        return { ...line, value: value === undefined ? null : values.indexOf(value), steps: [...steps] };
      }),
      values: values.map((value) => toHex(utf8(value))),
      steps: proofJson(proven.value.steps),
      hashes: multiProof(span.map(({ index }) => index), size, hashOf).map(toHex),
      checkpoint: signCheckpoint(this.signer, { origin: this.signer.name, size, root: treeRoot(size, hashOf) }),
    };
  }
}
