/** A service of MPFS v2 on a ledger in memory: its answers, true ones, for a test to falsify. */
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { constr, type Data, encodeData } from "#src/cardano/data.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import type { TrustedRoot } from "#src/client/ledgerRoot.ts";
import { addressPrefix, outputKey } from "#src/csmt/key.ts";
import { type Node, rootOf } from "#src/csmt/node.ts";
import { canonicalOutput } from "#src/csmt/output.ts";
import { encodeCompleteness, encodeInclusion } from "#src/csmt/proof.ts";
import { proveCompleteness, proveInclusion } from "#src/csmt/prove.ts";
import { insert, remove } from "#src/csmt/tree.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { digest } from "#src/forestry/hash.ts";
import { encodeProof, type Proof } from "#src/forestry/proof.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";

export const POLICY = "c2".repeat(28);
export const STATE_ADDRESS = scriptAddress(0, POLICY).hex;
export const OWNER = "0a".repeat(28);
export const REQUESTER = "0b".repeat(28);

export interface ShownUtxo {
  tx_in: { tx_id: string; tx_ix: number };
  tx_out: string;
  utxo_proof: string;
}
export interface ShownSet {
  entries: { ref: { tx_id: string; tx_ix: number }; txout_cbor: string }[];
  completeness_proof: string;
}
export interface Snapshot {
  utxo_root: string;
  chainpoint: { slot: number; block_id: string };
}

interface Held {
  readonly ref: OutRef;
  readonly address: string;
  readonly cbor: Uint8Array;
}

/** Address of the requests of a token; here a script that stands for the request script with its parameters. */
export function requestAddress(token: string): string {
  return scriptAddress(0, toHex(digest(fromHex(POLICY + token))).slice(0, 56)).hex;
}

/** Datum of a state. */
export function stateDatum(root: string, owner = OWNER): Data {
  return constr(1, constr(0, fromHex(owner), fromHex(root), 1_000_000n, 300_000n, 600_000n));
}

/** Datum of a request: insertion of a value. */
export function requestDatum(token: string, key: Uint8Array, value: Uint8Array): Data {
  const operation = constr(0, value);
  return constr(
    0,
    constr(0, constr(0, fromHex(token)), fromHex(REQUESTER), key, operation, 1_000_000n, 1_780_000_000_000n),
  );
}

export class V2Service {
  #slot = 100;
  #top: Node | undefined;
  readonly #held = new Map<string, Held>();
  readonly #states = new Map<string, OutRef>();
  readonly #facts = new Map<string, Map<string, string>>();

  constructor() {
    // outputs of others, so that no address has a tree of its own
    for (let i = 0; i < 20; i++) {
      this.add(this.ref(`other ${i}`), scriptAddress(0, i.toString(16).padStart(56, "7")).hex, undefined);
    }
  }

  /** A reference that a name determines. */
  ref(name: string, index = 0): OutRef {
    return { txHash: toHex(digest(utf8(name))), index };
  }

  /** Adds an output, in a block of its own, with one of each asset that is named, as often as it is named. */
  add(ref: OutRef, address: string, datum: Data | undefined, assets: readonly string[] = []): OutRef {
    const held = new Map<string, bigint>();
    for (const asset of assets) held.set(asset, (held.get(asset) ?? 0n) + 1n);
    const cbor = canonicalOutput({
      address,
      value: { lovelace: 2_000_000n, assets: held },
      ...(datum === undefined ? {} : { datum: encodeData(datum) }),
    });
    this.#top = insert(this.#top, { key: outputKey(address, ref), value: blake2b256(cbor) });
    this.#held.set(refKey(ref), { ref, address, cbor });
    this.#slot += 20;
    return ref;
  }

  spend(ref: OutRef): void {
    const held = this.#get(ref);
    this.#top = remove(this.#top, outputKey(held.address, ref));
    this.#held.delete(refKey(ref));
  }

  /** Sets the facts of a token, texts by text, with a new state. */
  state(token: string, facts: Readonly<Record<string, string>>): OutRef {
    const before = this.#states.get(token);
    if (before) this.spend(before);
    this.#facts.set(token, new Map(Object.entries(facts)));
    const ref = this.ref(`${token} ${this.#slot}`);
    this.#states.set(token, ref);
    return this.add(ref, STATE_ADDRESS, stateDatum(toHex(this.#trie(token).root)), [POLICY + token]);
  }

  request(token: string, key: string, value: string): OutRef {
    const datum = requestDatum(token, utf8(key), utf8(value));
    return this.add(this.ref(`request ${this.#slot}`), requestAddress(token), datum);
  }

  /** The root as a second service has it. */
  get trusted(): TrustedRoot {
    const { utxo_root: utxoRoot, chainpoint: { slot, block_id: hash } } = this.snapshot();
    return { utxoRoot, point: { slot, hash }, from: ["https://second.example"] };
  }

  snapshot(): Snapshot {
    const root = rootOf(this.#top);
    if (!root) throw new Error("the set is empty");
    return {
      utxo_root: toHex(root),
      chainpoint: { slot: this.#slot, block_id: toHex(digest(utf8(`block ${this.#slot}`))) },
    };
  }

  utxo(ref: OutRef): ShownUtxo {
    const { address, cbor } = this.#get(ref);
    const proof = proveInclusion(this.#top, outputKey(address, ref));
    if (!proof) throw new Error("no such output");
    return {
      tx_in: { tx_id: ref.txHash, tx_ix: ref.index },
      tx_out: toHex(cbor),
      utxo_proof: toHex(encodeInclusion(proof)),
    };
  }

  set(address: string): ShownSet {
    return {
      entries: this.#at(address).map(({ ref, cbor }) => ({
        ref: { tx_id: ref.txHash, tx_ix: ref.index },
        txout_cbor: toHex(cbor),
      })),
      completeness_proof: toHex(encodeCompleteness(proveCompleteness(this.#top, addressPrefix(address)).proof)),
    };
  }

  /** `GET /tokens/{id}` */
  tokenState(token: string) {
    return { snapshot: this.snapshot(), state: { utxo: this.utxo(this.#stateOf(token)) } };
  }

  /** `GET /tokens` */
  tokens() {
    return { snapshot: this.snapshot(), tokens: this.set(STATE_ADDRESS) };
  }

  /** `GET /tokens/{id}/facts` */
  facts(token: string) {
    const facts = [...this.#facts.get(token) ?? []].map(([key, value]) => ({
      key: toHex(utf8(key)),
      value: toHex(utf8(value)),
    }));
    return { ...this.tokenState(token), facts };
  }

  /** `GET /tokens/{id}/facts/{key}` */
  fact(token: string, key: string) {
    const proof = this.#trie(token).prove(digest(utf8(key)));
    if (!proof.ok) throw new Error(proof.error.message);
    return { ...this.#proved(token, proof.value), value: toHex(utf8(this.#facts.get(token)?.get(key) ?? "")) };
  }

  /** `GET /tokens/{id}/proofs/{key}` of an absent key */
  absence(token: string, key: string) {
    const proof = this.#trie(token).proveAbsent(digest(utf8(key)));
    if (!proof.ok) throw new Error(proof.error.message);
    return this.#proved(token, proof.value);
  }

  /** `GET /tokens/{id}/requests` */
  requests(token: string) {
    const address = requestAddress(token);
    return {
      snapshot: this.snapshot(),
      request_set: this.set(address),
      requests: this.#at(address).map(({ ref }) => ({ utxo: this.utxo(ref) })),
    };
  }

  #proved(token: string, proof: Proof) {
    const { snapshot, state } = this.tokenState(token);
    return { snapshot, fact: { state, mpf_proof: toHex(encodeProof(proof)) } };
  }

  #trie(token: string): Forestry {
    return Forestry.from([...this.#facts.get(token) ?? []].map(([key, value]) => leafOf(utf8(key), utf8(value))));
  }

  #at(address: string): Held[] {
    return [...this.#held.values()].filter((one) => one.address === address);
  }

  #stateOf(token: string): OutRef {
    const ref = this.#states.get(token);
    if (!ref) throw new Error("no such token");
    return ref;
  }

  #get(ref: OutRef): Held {
    const held = this.#held.get(refKey(ref));
    if (!held) throw new Error("no such output");
    return held;
  }
}
