/** What events of tokens say: texts of every kind, and more changes than fit into one event. */
import { describe, expect, it } from "vitest";
import { tokenContent } from "#machines/token.ts";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { encodeData } from "#src/cardano/data.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { encodeTransaction, transactionHash, type TransactionParts } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { encodeRequest, encodeState, type Operation } from "#src/contract/datum.ts";
import { eventText } from "#src/tokens/index/changes.ts";
import { spendData } from "#src/contract/redeemer.ts";
import { FactReplica, readFactText } from "#src/client/factReplica.ts";
import { digest } from "#src/forestry/hash.ts";
import { CONTENT_BYTES } from "#src/runtime/events/content.ts";
import { MemoryChain } from "../../../support/chain/memoryChain.ts";
import { trieOf } from "../../../support/tokens/hostileBlocks.ts";
import { MemoryIndex } from "../../../support/tokens/memoryIndex.ts";
import { TokenEvents } from "../../../support/tokens/tokenEvents.ts";
import { newRef } from "../../../support/wallets/person.ts";

const SCRIPT = "ab".repeat(28);
const TOKEN = "5a".repeat(32);
const OWNER = "0c".repeat(28);
const REQUESTER = "0d".repeat(28);
const LOVELACE = 2_000_000n;

interface Change {
  readonly key: Uint8Array;
  readonly operation: Operation;
}
const insert = (key: Uint8Array, value: Uint8Array): Change => ({ key, operation: { type: "insert", value } });
const make = (parts: Partial<TransactionParts>) =>
  encodeTransaction({ inputs: [newRef()], outputs: [], fee: 0n, ...parts });
const outOf = (transaction: Uint8Array, index = 0): OutRef => ({ txHash: transactionHash(transaction), index });
const hexFacts = (facts: readonly (readonly [Uint8Array, Uint8Array])[]) =>
  new Map(facts.map(([key, value]) => [toHex(key), toHex(value)]));
const state = (root: string) => ({
  address: `70${SCRIPT}`,
  value: { lovelace: LOVELACE, assets: new Map([[SCRIPT + TOKEN, 1n]]) },
  datum: encodeState({ owner: OWNER, root }),
});
const asking = (changes: readonly Change[]) =>
  make({
    outputs: changes.map(({ key, operation }) => ({
      address: `70${SCRIPT}`,
      value: lovelace(LOVELACE),
      datum: encodeRequest({
        policy: SCRIPT,
        name: TOKEN,
        refund: { payment: REQUESTER },
        fee: 0n,
        key,
        operation,
      }),
    })),
  });
const updating = (from: OutRef, requests: readonly OutRef[], root: string) =>
  make({
    inputs: [from, ...requests],
    outputs: [state(root)],
    redeemers: [from, ...requests].map((ref, i) => ({
      for: { purpose: "spend", ref },
      // contributing as in version 3 of the contract
      data: (index) => encodeData(spendData(i === 0 ? { type: "modify", actions: [] } : { type: "contribute", index })),
      units: { memory: 1n, steps: 1n },
    })),
  });

/** The events of a token whose boot, requests and update are in three blocks. */
function story(changes: readonly Change[], facts: readonly (readonly [Uint8Array, Uint8Array])[]) {
  const boot = make({ outputs: [state(toHex(trieOf(new Map()).root))], mint: new Map([[SCRIPT + TOKEN, 1n]]) });
  const requests = asking(changes);
  const root = toHex(trieOf(hexFacts(facts)).root);
  const refs = changes.map((_, i) => outOf(requests, i));
  const update = updating(outOf(boot), refs, root);
  const chain = new MemoryChain();
  const index = new MemoryIndex({ scripts: [SCRIPT], network: 0 });
  const blocks = [boot, requests, update].map((transaction) => chain.add(transaction));
  for (const block of blocks) index.follow(block);
  const places = blocks.map(({ slot, hash, height, transactions: [one] }) => ({
    slot,
    transaction: one!.hash,
    block: hash,
    height,
  }));
  const events = new TokenEvents().publish(index.events);
  return { events, places, refs: refs.map(refKey), root, boot, update };
}

const contentsOf = (events: ReturnType<TokenEvents["publish"]>) =>
  events.map(({ type, data }) => ({ type: type.slice("arbor.token.".length), ...data.content as object }));

describe("the content of a token's events", () => {
  it("names the transaction, the block and every change", () => {
    const old = utf8("1");
    const { events, places, refs: [first, second, third], root, boot, update } = story([
      insert(utf8("a"), old),
      { key: utf8("a"), operation: { type: "update", old, value: utf8("2") } },
      { key: utf8("a"), operation: { type: "delete", value: utf8("2") } },
    ], []);
    const [booted, asked, updated] = places;
    const change = (request: string | undefined) => ({ request, requester: REQUESTER, key: "a" });
    const changes = [
      { ...change(first), operation: "insert", newValue: "1" },
      { ...change(second), operation: "update", oldValue: "1", newValue: "2" },
      { ...change(third), operation: "delete", oldValue: "2" },
    ];
    const requested = changes.map((one) => ({ type: "requested", ...asked, ...one, lovelace: "2000000" }));
    const emptyRoot = "0".repeat(64);
    expect(contentsOf(events)).toEqual([
      { type: "booted", ...booted, owner: OWNER, root: emptyRoot, ref: refKey(outOf(boot)) },
      ...requested,
      { type: "updated", ...updated, owner: OWNER, root, ref: refKey(outOf(update)), applied: 3, changes },
    ]);
  });

  it("is divided where the changes of an update are more than one event holds", () => {
    const changes = Array.from({ length: 60 }, (_, i) => insert(utf8(`key ${i}`), utf8("é".repeat(10 * i))));
    const facts = changes.map(({ key, operation }) => [key, operation.value] as const);
    const { events, places, refs } = story(changes, facts);
    const parts = contentsOf(events).filter(({ type }) => type === "applied" || type === "updated");
    expect(parts.length).toBeGreaterThan(4);
    expect(parts.at(-1)).toMatchObject({ type: "updated", parts: parts.length, applied: 60, ...places[2] });
    expect(parts.slice(0, -1)).toMatchObject(
      parts.slice(0, -1).map((_, i) => ({ type: "applied", part: i + 1, parts: parts.length, ...places[2] })),
    );
    const all = parts.flatMap((part) => (part as unknown as { changes: { request: string }[] }).changes);
    expect(all.map(({ request }) => request)).toEqual(refs);
    const replica = new FactReplica();
    for (const event of events) replica.apply(event);
    expect(replica.facts(TOKEN)).toEqual(
      changes.map((_, i) => ({ key: `key ${i}`, value: "é".repeat(10 * i) })),
    );
    expect(replica.verify(TOKEN)).toBe(true);
  });

  it("has at most 8,000 bytes of JSON, whatever bytes the requests have", () => {
    const fillers = [0x61, 0x00, 0x01, 0x22, 0xff].map((byte) => (size: number) => new Uint8Array(size).fill(byte));
    const sizes = [0, 1, 300, 332, 333, 994, 995, 999, 1_000, 1_997, 1_998, 1_999, 2_000, 2_001, 12_000];
    const changes = fillers.flatMap((of) =>
      sizes.flatMap((size) => [
        insert(of(size + 1), of(size)),
        { key: of(size + 1), operation: { type: "update" as const, old: of(size), value: of(size + 2) } },
      ])
    );
    const facts = changes.flatMap(({ key, operation }) =>
      operation.type === "update" ? [[key, operation.value] as const] : []
    );
    const { events } = story(changes, facts);
    const lengths = events.map(({ data }) => utf8(JSON.stringify(data.content)).length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(CONTENT_BYTES);
    expect(Math.max(...lengths)).toBeGreaterThan(CONTENT_BYTES / 2);
    const replica = new FactReplica();
    for (const event of events) replica.apply(event);
    expect(replica.facts(TOKEN)!.length).toBe(fillers.length * sizes.length);
    expect(replica.verify(TOKEN)).toBe(true);
  }, 60_000);

  it("says that the requests do not explain the root", () => {
    const { events } = story([insert(utf8("a"), utf8("1"))], [[utf8("b"), utf8("1")]]);
    expect(contentsOf(events).slice(-2)).toMatchObject([
      { type: "updated", applied: 1, changes: [{ key: "a" }], unexplained: true },
      { type: "quarantined", reason: expect.any(String), transaction: expect.any(String) },
    ]);
  });

  it("of an older release has what it had", () => {
    const old = { type: "UPDATED", slot: 1, owner: OWNER, root: "00", ref: "ab#0", applied: 1 };
    expect(tokenContent.UPDATED.parse(old)).toEqual({ slot: 1, owner: OWNER, root: "00", ref: "ab#0", applied: 1 });
  });
});

describe("a key or a value in an event", () => {
  const href = "/token/a/requests/b-0";
  it("is its text, its bytes in hexadecimal, or a reference", () => {
    expect(eventText(utf8("é 🗝"), href)).toBe("é 🗝");
    expect(eventText(Uint8Array.of(0x61, 0), href)).toEqual({ hex: "6100" });
    expect(eventText(Uint8Array.of(0xff), href)).toEqual({ hex: "ff" });
    const longest = utf8("a".repeat(1_998));
    expect(eventText(longest, href)).toBe("a".repeat(1_998));
    const long = utf8("a".repeat(1_999));
    expect(eventText(long, href)).toEqual({ size: 1_999, digest: toHex(digest(long)), href });
    const quotes = utf8('"'.repeat(1_000));
    expect(eventText(quotes, href)).toEqual({ size: 1_000, digest: toHex(digest(quotes)), href });
  });

  it("has the text of the token service", async () => {
    expect(await readFactText("http://unused", "é", "key")).toBe("é");
    expect(await readFactText("http://unused", { hex: "61ff" }, "value")).toBe("a\udcff");
  });
});
