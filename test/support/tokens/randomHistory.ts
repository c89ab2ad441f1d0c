/**
 * Random histories of the cage, as transactions that no ledger has validated: tokens booted, changed and ended,
 * requests made, applied, retracted, outputs moved between addresses; occasionally a token whose root no request
 * explains.
 */
import { toHex, utf8 } from "#src/base/bytes.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { encodeData } from "#src/cardano/data.ts";
import { encodeTransaction, type NewOutput, type Redeemer, transactionHash } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { changeOf, EMPTY_ROOT, encodeRequest, encodeState, type Operation } from "#src/contract/datum.ts";
import { spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { Forestry } from "#src/forestry/trie.ts";

export const SCRIPT = "ab".repeat(28);
const CAGE = `70${SCRIPT}`;
/** Addresses that outputs move between. */
export const ADDRESSES = [1, 2, 3].map((n) => `60${n.toString(16).padStart(2, "0").repeat(28)}`);

interface Request {
  readonly ref: OutRef;
  readonly token: string;
  readonly key: string;
  readonly operation: Operation;
}

interface Token {
  readonly id: string;
  readonly ref: OutRef;
  readonly facts: ReadonlyMap<string, string>;
  readonly quarantined: boolean;
  readonly ended: boolean;
}

/** The expected content of the index. */
export interface World {
  readonly tokens: ReadonlyMap<string, Token>;
  readonly requests: ReadonlyMap<string, Request>;
}

export const nothing: World = { tokens: new Map(), requests: new Map() };

const units = { memory: 1n, steps: 1n };

function spend(ref: OutRef, redeemer: SpendRedeemer): Redeemer {
  return { for: { purpose: "spend", ref }, data: encodeData(spendData(redeemer)), units };
}

function trieOf(facts: ReadonlyMap<string, string>): Forestry {
  const trie = new Forestry();
  for (const [key, value] of facts) {
    const change = changeOf(utf8(key), { type: "insert", value: utf8(value) });
    trie.insert(change.path, change.value);
  }
  return trie;
}

/** Generates random transactions that follow a world; every one is different. */
export class Historian {
  private serial = 0;
  constructor(private readonly random: () => number) {}

  private pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.random() * list.length)];
  }

  /** An input that is unknown to the index. */
  private seed(): OutRef {
    this.serial++;
    return { txHash: (this.serial + 2 ** 40).toString(16).padStart(64, "0"), index: 0 };
  }

  private make(parts: {
    inputs?: OutRef[];
    outputs: NewOutput[];
    mint?: Map<string, bigint>;
    redeemers?: Redeemer[];
  }): Uint8Array {
    return encodeTransaction({ ...parts, inputs: [...(parts.inputs ?? []), this.seed()], fee: 0n });
  }

  private state(id: string, root: string): NewOutput {
    return {
      address: CAGE,
      value: { lovelace: 2_000_000n, assets: new Map([[SCRIPT + id, 1n]]) },
      datum: encodeState({ owner: "0c".repeat(28), root }),
    };
  }

  /** The next transaction, and the world after it. */
  next(world: World): { transaction: Uint8Array; world: World } {
    const live = [...world.tokens.values()].filter((token) => !token.ended);
    const roll = this.random();
    if (live.length === 0 || roll < 0.1) return this.boot(world);
    if (roll < 0.45) return this.request(world, this.pick(live)!);
    if (roll < 0.85) return this.update(world, this.pick(live)!);
    if (roll < 0.93) return this.retract(world);
    if (roll < 0.96) return this.end(world, this.pick(live)!);
    return { transaction: this.payment(), world };
  }

  payment(): Uint8Array {
    return this.make({ outputs: [{ address: this.pick(ADDRESSES)!, value: lovelace(1_000_000n) }] });
  }

  private boot(world: World) {
    const id = (++this.serial).toString(16).padStart(64, "0");
    const transaction = this.make({ outputs: [this.state(id, EMPTY_ROOT)], mint: new Map([[SCRIPT + id, 1n]]) });
    const ref = { txHash: transactionHash(transaction), index: 0 };
    const token: Token = { id, ref, facts: new Map(), quarantined: false, ended: false };
    return { transaction, world: { ...world, tokens: new Map(world.tokens).set(id, token) } };
  }

  private request(world: World, token: Token) {
    const key = `key-${Math.floor(this.random() * 12)}`;
    const old = token.facts.get(key) ?? "nothing";
    const value = utf8(`value-${++this.serial}`);
    const operation: Operation = this.random() < 0.5
      ? { type: "insert", value }
      : this.random() < 0.5
      ? { type: "update", old: utf8(old), value }
      : { type: "delete", value: utf8(old) };
    const refund = { payment: "0d".repeat(28) };
    const datum = encodeRequest({ policy: SCRIPT, name: token.id, refund, fee: 1n, key: utf8(key), operation });
    const transaction = this.make({ outputs: [{ address: CAGE, value: lovelace(2_000_000n), datum }] });
    const ref = { txHash: transactionHash(transaction), index: 0 };
    const request: Request = { ref, token: token.id, key, operation };
    return { transaction, world: { ...world, requests: new Map(world.requests).set(refKey(ref), request) } };
  }

  private update(world: World, token: Token) {
    const wrong = this.random() < 0.03;
    const trie = trieOf(token.facts);
    const facts = new Map(token.facts);
    const applied: Request[] = [];
    const mine = [...world.requests.values()].filter((request) => request.token === token.id)
      .sort((a, b) => refKey(a.ref) < refKey(b.ref) ? -1 : 1);
    for (const request of mine) {
      const change = changeOf(utf8(request.key), request.operation);
      if (this.random() < 0.2 || !trie.apply(change).ok) continue;
      applied.push(request);
      if (request.operation.type === "delete") facts.delete(request.key);
      else facts.set(request.key, new TextDecoder().decode(request.operation.value));
    }
    const root = wrong ? "77".repeat(32) : token.quarantined ? "78".repeat(32) : toHex(trie.root);
    const transaction = this.make({
      inputs: [token.ref, ...applied.map((request) => request.ref)],
      outputs: [this.state(token.id, root)],
      redeemers: [
        spend(token.ref, { type: "modify", actions: [] }),
        ...applied.map((request) => spend(request.ref, { type: "contribute" })),
      ],
    });
    const requests = new Map(world.requests);
    for (const request of applied) requests.delete(refKey(request.ref));
    const quarantined = token.quarantined || wrong;
    const next: Token = {
      ...token,
      ref: { txHash: transactionHash(transaction), index: 0 },
      facts: quarantined ? token.facts : facts,
      quarantined,
    };
    return { transaction, world: { tokens: new Map(world.tokens).set(token.id, next), requests } };
  }

  private retract(world: World) {
    const request = this.pick([...world.requests.values()]);
    if (!request) return { transaction: this.payment(), world };
    const transaction = this.make({
      inputs: [request.ref],
      outputs: [{ address: ADDRESSES[0]!, value: lovelace(1_900_000n) }],
      redeemers: [spend(request.ref, { type: "retract" })],
    });
    const requests = new Map(world.requests);
    requests.delete(refKey(request.ref));
    return { transaction, world: { ...world, requests } };
  }

  private end(world: World, token: Token) {
    const transaction = this.make({
      inputs: [token.ref],
      outputs: [{ address: ADDRESSES[1]!, value: lovelace(1_000_000n) }],
      mint: new Map([[SCRIPT + token.id, -1n]]),
      redeemers: [spend(token.ref, { type: "end" })],
    });
    return { transaction, world: { ...world, tokens: new Map(world.tokens).set(token.id, { ...token, ended: true }) } };
  }
}
