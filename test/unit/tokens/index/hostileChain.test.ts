/**
 * Random blocks of a hostile chain, with rollbacks: after every block and every rollback the index, the events of tokens
 * and a subscriber's replica from the events are those of a plain model. Outputs next to a token do not change it, and nothing stops the index.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createActor } from "xstate";
import { type FactText, tokenInputs, tokenMachine } from "#machines/token.ts";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { created, origin } from "#src/cardano/block.ts";
import { encodeData } from "#src/cardano/data.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { encodeTransaction, transactionHash, type TransactionParts } from "#src/cardano/transaction.ts";
import { lovelace, policyOf } from "#src/cardano/value.ts";
import { encodeRequest, encodeState } from "#src/contract/datum.ts";
import { operationOf } from "#src/tokens/index/read.ts";
import { spendData } from "#src/contract/redeemer.ts";
import { bytesText } from "#src/contract/text.ts";
import { type ActorEvent, FactReplica } from "#src/client/factReplica.ts";
import { MemoryChain } from "../../../support/chain/memoryChain.ts";
import { blank, Hostile, type Model, operationText, trieOf, VERSIONS } from "../../../support/tokens/hostileBlocks.ts";
import { MemoryIndex } from "../../../support/tokens/memoryIndex.ts";
import { seeded } from "../../../support/base/seededRandom.ts";
import { TokenEvents } from "../../../support/tokens/tokenEvents.ts";
import { vectors } from "../../../support/base/vectors.ts";
import { newRef } from "../../../support/wallets/person.ts";

const BLOCKS = 40;
const bytes = (value: unknown) => toHex(new Uint8Array(value as Uint8Array));

/** Every visible row is in the model. */
function expectModel(index: MemoryIndex, model: Model): void {
  const tokens = [...model.tokens.values()];
  const alive = tokens.filter(({ status }) => status !== "ended");
  expect(
    new Map(index.live("token_state").map((row) => [row.token, [row.ref, row.owner, row.root]])),
  ).toEqual(new Map(alive.map(({ name, ref, owner, root }) => [name, [refKey(ref), owner, root]])));
  expect(index.live("token_state").length).toBe(alive.length);
  const quarantined = new Set(index.live("token_quarantine").map((row) => row.token));
  expect([...quarantined].filter((name) => model.tokens.get(name as string)!.status !== "ended").sort()).toEqual(
    tokens.filter(({ status }) => status === "quarantined").map(({ name }) => name).sort(),
  );
  for (const { name, facts, root, status } of tokens) {
    const rows = index.live("fact").filter((row) => row.token === name);
    expect(new Map(rows.map((row) => [bytes(row.key), bytes(row.value)]))).toEqual(facts);
    expect(rows.length).toBe(facts.size);
    if (status === "live") expect(toHex(trieOf(facts).root)).toBe(root);
  }
  expect(
    new Map(
      index.live("token_request").map((row) => [row.ref, [row.token, bytes(row.key), operationText(operationOf(row))]]),
    ),
  ).toEqual(
    new Map(
      [...model.requests].map(([ref, { token, key, operation }]) => [ref, [token, key, operationText(operation)]]),
    ),
  );
  expect(new Map(index.live("token_request_end").map((row) => [row.ref, row.status]))).toEqual(model.ended);
}

/** A subscriber's replica has the model's live tokens, their owners, roots and facts. */
function expectReplica(replica: FactReplica, model: Model): void {
  for (const { name, owner, root, ref, facts, status } of model.tokens.values()) {
    const held = replica.token(name);
    expect([name, held?.status, held?.complete]).toEqual([name, status, true]);
    if (status !== "ended") expect(held).toMatchObject({ owner, root, ref: refKey(ref) });
    const expected = [...facts].map(([key, value]) => [bytesText(fromHex(key)), bytesText(fromHex(value))]);
    expect(status === "live" ? textsOf(replica, name) : undefined).toEqual(
      status === "live" ? new Map(expected as [string, string][]) : undefined,
    );
    expect(replica.facts(name) === undefined).toBe(status !== "live");
    expect(replica.verify(name)).toBe(status === "live");
  }
  const alive = [...model.tokens.values()].filter(({ status }) => status !== "ended").map(({ name }) => name);
  expect(replica.tokens().sort()).toEqual(alive.sort());
}

const written = (text: FactText) =>
  typeof text === "string" ? text : "hex" in text ? bytesText(fromHex(text.hex)) : "?";
const textsOf = (replica: FactReplica, token: string) =>
  new Map(replica.facts(token)?.map(({ key, value }) => [written(key), written(value)]));

/** The actors' states after all events are those of the model. */
function expectActors(events: readonly Touched[], model: Model): void {
  const actors = new Map<string, ReturnType<typeof createActor<typeof tokenMachine>>>();
  for (const { entity: { id }, event } of events) {
    const actor = actors.get(id) ?? createActor(tokenMachine, { input: { kind: "token", id } }).start();
    actors.set(id, actor);
    actor.send({ ...tokenInputs.parse(event), turn: { at: 0 } });
  }
  expect(new Set(actors.keys())).toEqual(new Set([...actors.keys(), ...model.tokens.keys()]));
  for (const [id, actor] of actors) {
    const token = model.tokens.get(id);
    const { value, context } = actor.getSnapshot();
    expect([id, value]).toEqual([id, token?.status ?? "absent"]);
    if (token && token.status !== "ended") {
      const { owner, root, ref } = token;
      expect(context).toMatchObject({ owner, root, ref: refKey(ref) });
    }
  }
}

describe("a hostile chain", () => {
  const seen = { applied: 0, retracted: 0, quarantined: 0, ended: 0, twins: 0, rollbacks: 0, crowds: 0 };
  it.each([1, 2, 3, 4])("is followed exactly, run %i", (seed) => {
    const random = seeded(seed);
    const hostile = new Hostile(random);
    const chain = new MemoryChain();
    const index = new MemoryIndex({ scripts: VERSIONS, network: 0, cutAbove: seed % 2 === 0 ? 2 : 1_000 });
    const models: Model[] = [blank];
    const chance = seeded(100 + seed);
    const published = new TokenEvents();
    const log: ActorEvent[] = [];
    let replica = new FactReplica();
    /** Publishes events, some of them twice; the subscriber continues from its saved state, if it ends. */
    const publish = (touched: readonly Touched[]) => {
      for (const event of published.publish(touched)) {
        expect(replica.apply(event)).toBe(true);
        log.push(event);
        if (chance() < 0.3) expect(replica.apply(log[Math.floor(chance() * log.length)]!)).toBe(false);
      }
      if (chance() < 0.2) replica = FactReplica.from(JSON.parse(JSON.stringify(replica)));
    };
    for (let i = 0; i < BLOCKS; i++) {
      if (chain.blocks.length > 2 && random() < 0.15) {
        const count = 1 + Math.floor(random() * Math.min(8, chain.blocks.length - 1));
        chain.rollback(count);
        models.splice(models.length - count, count);
        publish(index.rollback(chain.tip));
        seen.rollbacks++;
        expectModel(index, models.at(-1)!);
        expectReplica(replica, models.at(-1)!);
      }
      const next = hostile.block(models.at(-1)!);
      const block = chain.add(...next.transactions);
      seen.crowds += block.transactions.filter(({ outputs }) => outputs.length >= 100).length;
      publish(index.follow(block));
      models.push(next.model);
      expectModel(index, next.model);
      expectReplica(replica, next.model);
    }
    const model = models.at(-1)!;
    expectActors(index.events, model);
    const fromStart = new FactReplica();
    for (const event of log) fromStart.apply(event);
    expectReplica(fromStart, model);
    for (const status of model.ended.values()) seen[status]++;
    for (const { status } of model.tokens.values()) if (status !== "live") seen[status]++;
    seen.twins += model.twins.length;
  });
  it("had every kind of event in those runs", () => {
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  });
});

describe("a chain that was built again", () => {
  const SCRIPT = VERSIONS[1];
  const TOKEN = "5a".repeat(32);
  const holding = { lovelace: 2_000_000n, assets: new Map([[SCRIPT + TOKEN, 1n]]) };
  const state = (facts: ReadonlyMap<string, string>) => ({
    address: `70${SCRIPT}`,
    value: holding,
    datum: encodeState({ owner: "0c".repeat(28), root: toHex(trieOf(facts).root) }),
  });
  const make = (parts: Partial<TransactionParts>) =>
    encodeTransaction({ inputs: [newRef()], outputs: [], fee: 0n, ...parts });
  const outOf = (transaction: Uint8Array, index = 0) => ({ txHash: transactionHash(transaction), index });
  const asking = (key: string, value: string) =>
    make({
      outputs: [{
        address: `70${SCRIPT}`,
        value: lovelace(2_000_000n),
        datum: encodeRequest({
          policy: SCRIPT,
          name: TOKEN,
          refund: { payment: "0d".repeat(28) },
          fee: 0n,
          key: utf8(key),
          operation: { type: "insert", value: utf8(value) },
        }),
      }],
    });
  const updating = (from: OutRef, requests: readonly OutRef[], facts: ReadonlyMap<string, string>) =>
    make({
      inputs: [from, ...requests],
      outputs: [state(facts)],
      redeemers: [from, ...requests].map((ref, i) => ({
        for: { purpose: "spend", ref },
        data: encodeData(spendData(i === 0 ? { type: "modify", actions: [] } : { type: "contribute" })),
        units: { memory: 1n, steps: 1n },
      })),
    });
  const hex = (entries: Record<string, string>) =>
    new Map(Object.entries(entries).map(([key, value]) => [toHex(utf8(key)), toHex(utf8(value))]));
  /** Rows without their first and last blocks. */
  const rowsOf = (index: MemoryIndex) =>
    ["token_state", "token_quarantine", "token_request", "token_request_end", "fact"].map((table) =>
      index.live(table).map(({ from_slot: _from, position: _position, ...row }) => row)
        .toSorted((a, b) =>
          JSON.stringify(Object.values(a).map(String)) < JSON.stringify(Object.values(b).map(String)) ? -1 : 1
        )
    );

  it("has the same index if it has the same requests and updates in other blocks and orders", () => {
    const boot = make({ outputs: [state(hex({}))], mint: new Map([[SCRIPT + TOKEN, 1n]]) });
    const [a, b] = [asking("a", "1"), asking("b", "2")];
    const first = updating(outOf(boot), [outOf(a)], hex({ a: "1" }));
    const second = updating(outOf(first), [outOf(b)], hex({ a: "1", b: "2" }));
    // in the opposite order
    const otherFirst = updating(outOf(boot), [outOf(b)], hex({ b: "2" }));
    const otherSecond = updating(outOf(otherFirst), [outOf(a)], hex({ a: "1", b: "2" }));
    const follow = (...chains: readonly (readonly (readonly Uint8Array[])[])[]) => {
      const chain = new MemoryChain();
      const index = new MemoryIndex({ scripts: VERSIONS, network: 0 });
      for (const [i, blocks] of chains.entries()) {
        if (i > 0) {
          chain.rollback(chain.blocks.length);
          index.rollback(origin);
        }
        for (const block of blocks) index.follow(chain.add(...block));
      }
      expect(index.live("token_quarantine")).toEqual([]);
      return rowsOf(index);
    };
    const straight = [[boot], [a], [b], [first], [second]];
    const swapped = [[boot], [b], [a, first], [second]];
    const together = [[boot, b, a, first, second]];
    const other = [[boot, b], [otherFirst], [a], [otherSecond]];
    for (const last of [straight, swapped, together]) {
      for (const before of [straight, swapped, together, other]) expect(follow(before, last)).toEqual(follow(straight));
    }
    expect(follow(straight, other)).toEqual(follow(other));
    expect(follow(other)).not.toEqual(follow(straight));
  });

  it("orders the requests of one transaction by number, not by text", () => {
    const boot = make({ outputs: [state(hex({}))], mint: new Map([[SCRIPT + TOKEN, 1n]]) });
    // each applies only after the previous one
    const count = 100;
    const values = Array.from({ length: count + 1 }, (_, i) => utf8(`${i}`));
    const request = (i: number) => ({
      address: `70${SCRIPT}`,
      value: lovelace(2_000_000n),
      datum: encodeRequest({
        policy: SCRIPT,
        name: TOKEN,
        refund: { payment: "0d".repeat(28) },
        fee: 0n,
        key: utf8("k"),
        operation: i === 0
          ? { type: "insert", value: values[0]! }
          : { type: "update", old: values[i - 1]!, value: values[i]! },
      }),
    });
    const many = make({ outputs: Array.from({ length: count }, (_, i) => request(i)) });
    const refs = Array.from({ length: count }, (_, i) => outOf(many, i));
    const update = updating(outOf(boot), refs, hex({ k: `${count - 1}` }));
    const chain = new MemoryChain();
    const index = new MemoryIndex({ scripts: VERSIONS, network: 0 });
    const types = index.follow(chain.add(boot, many, update)).map(({ event }) => event.type);
    expect(types.at(-1)).toBe("UPDATED");
    expect(index.live("fact").map((row) => bytes(row.value))).toEqual([toHex(values[count - 1]!)]);
  });
});

const folder = vectors("blocks/single");
describe("blocks of every era", () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".cbor") && !/dijkstra/.test(file));
  it("contain no tokens and no requests, even if every script in them were the cage's", () => {
    const eras = new Set<number>();
    for (const file of files) {
      const bytes = new Uint8Array(readFileSync(`${folder}/${file}`));
      const block = scanBlock(bytes);
      const outputs = block.transactions.flatMap((transaction) => created(transaction).map(({ output }) => output));
      const scripts = new Set(outputs.flatMap(({ address }) => [address.slice(2, 58)]));
      for (const { value } of outputs) for (const asset of value.assets.keys()) scripts.add(policyOf(asset));
      const index = new MemoryIndex({ scripts: [...scripts], network: 0 });
      expect([file, index.follow(block)]).toEqual([file, []]);
      expect([file, index.live("token_state"), index.live("token_request")]).toEqual([file, [], []]);
      eras.add(bytes[1]!);
    }
    expect(eras).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]));
  });
});
