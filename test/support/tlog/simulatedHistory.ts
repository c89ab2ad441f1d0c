/** A simulated log and token: changes of its facts, and the answers that an honest service gives of them. */
import { toHex, utf8 } from "#src/base/bytes.ts";
import type { KeyHistoryPage } from "#src/client/keyHistory.ts";
import { leafBytes, type StateLeaf } from "#src/contract/logLeaf.ts";
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

/** A token's state: its value of each key. */
interface SimulatedState {
  readonly index: number;
  readonly leaf: StateLeaf;
  readonly changes: readonly Change[];
  readonly facts: ReadonlyMap<string, string>;
}

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
  readonly entries: StateLeaf[] = [];
  readonly #tokens = new Map<string, SimulatedState[]>();

  constructor(seed = 7) {
    this.signer = noteSigner("log.example/simulated", LOG_KEY, new Uint8Array(32).fill(seed));
    this.policy = `log ${vkeyOf(this.signer)}\nquorum none\n`;
  }

  /** Adds a state of a token that makes some changes; without any it keeps its root. */
  add(token: string, changed: ReadonlyMap<string, string | undefined>): void {
    const states = this.#tokens.get(token) ?? [];
    const facts = new Map(states.at(-1)?.facts);
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
      ...{ v: 1, net: 42, kind: states.length === 0 ? "boot" : "update", policy: POLICY_ID, token },
      seq: states.length,
      slot: 10 * index,
      ref: `${toHex(digest(utf8(`${token} ${states.length}`)))}#0`,
      root: toHex(trie.root),
    };
    this.entries.push(leaf);
    this.#tokens.set(token, [...states, { index, leaf, changes, facts }]);
  }

  /** Values of a key in the states of a token, from the model. */
  values(token: string, key: string): (string | undefined)[] {
    return this.#tokens.get(token)!.map(({ facts }) => facts.get(key));
  }

  /** The answer of an honest service. */
  async page(token: string, key: string, from: number, to: number): Promise<KeyHistoryPage> {
    const states = this.#tokens.get(token)!;
    const span = states.slice(from, to + 1);
    const path = digest(utf8(key));
    const before = states[from - 1]?.facts ?? new Map<string, string>();
    const leaves = [...before].flatMap(([name, value]) => [...digest(utf8(name)), ...digest(utf8(value))]);
    const proven = await keyHistory({
      path,
      facts: { leaves: Uint8Array.from(leaves) },
      states: span.map(({ leaf, changes }) => ({ root: leaf.root, changes, proven: true })),
    });
    if (!proven.ok) throw new Error(proven.error.message);
    const values = [...new Set(span.flatMap(({ facts }) => facts.get(key) ?? []))];
    const size = this.entries.length;
    const hashOf = subtrees(this.entries.map((leaf) => leafHash(leafBytes(leaf))));
    return {
      format: "arbor.key-history/1",
      tokenId: token,
      path: toHex(path),
      net: 42,
      policyId: POLICY_ID,
      from,
      states: span.map(({ index, leaf: { slot, ref, root }, facts }, i) => {
        const value = facts.get(key);
        return {
          ...{ index, slot, ref, root },
          value: value === undefined ? null : values.indexOf(value),
          steps: [...proven.value.states[i]!.steps],
        };
      }),
      values: values.map((value) => toHex(utf8(value))),
      steps: proofJson(proven.value.steps),
      hashes: multiProof(span.map(({ index }) => index), size, hashOf).map(toHex),
      checkpoint: signCheckpoint(this.signer, { origin: this.signer.name, size, root: treeRoot(size, hashOf) }),
    };
  }
}
