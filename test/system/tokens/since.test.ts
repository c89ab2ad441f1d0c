/**
 * Facts since a state or a slot, for random histories with many states in a block and rollbacks that divide the same
 * transactions into other blocks: compared with a reader of all states.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { EMPTY_ROOT, encodeRequest, type Operation } from "#src/contract/datum.ts";
import { spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { encodeData } from "#src/cardano/data.ts";
import { compareRefs, type OutRef, parseRefKey } from "#src/cardano/output.ts";
import { encodeTransaction, transactionHash } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { CachedFacts } from "#src/client/tokenFacts.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { handleErrors } from "#src/http/errors.ts";
import { type Listener, serve } from "#src/http/serve.ts";
import { factRoutes } from "#src/tokens/http/factRoutes.ts";
import type { TokenService } from "#src/tokens/http/service.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { cases } from "../../support/base/longTests.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { alice, cage, policy, stateOf } from "../../support/contract/wholeTransaction.ts";
import { op } from "../../support/contract/contractLedger.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { StoredIndex } from "../../support/tokens/storedIndex.ts";
import { newRef } from "../../support/wallets/person.ts";

const TOKEN = "5a".repeat(32);
const KEYS = ["", "a", "b", "ab"];
const RUNS = cases(1, 10);
const COMPARISONS = cases(250, 1_000);

let infra: Infra;
let store: Store;
let listener: Listener;
let url: string;

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  const app = new OpenAPIHono();
  handleErrors(app, silentLog);
  factRoutes(app, { store } as unknown as TokenService);
  listener = await serve(app, { host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${listener.port}`;
});
afterAll(async () => {
  await listener?.stop();
  await store?.close();
  await infra?.stop();
});

/** A change of a fact; `value` is undefined where it is deleted. */
type Change = readonly [key: string, value: string | undefined];

/** A state of the token: its output, the changes that led to it, and the facts under it. */
interface Moment {
  readonly ref: string;
  readonly changes: readonly Change[];
  readonly facts: ReadonlyMap<string, string>;
}

interface Move {
  readonly transaction: Uint8Array;
  /** The state that the transaction makes. */
  readonly moment?: Moment;
}

const spend = (ref: OutRef, redeemer: SpendRedeemer) => ({
  for: { purpose: "spend" as const, ref },
  data: encodeData(spendData(redeemer)),
  units: { memory: 1n, steps: 1n },
});

const rootOf = (facts: ReadonlyMap<string, string>) =>
  Forestry.from([...facts].map(([key, value]) => leafOf(utf8(key), utf8(value)))).root;

function boot(): Move {
  const transaction = encodeTransaction({
    inputs: [newRef()],
    outputs: [stateOf(TOKEN, fromHex(EMPTY_ROOT))],
    fee: 1n,
    mint: new Map([[policy + TOKEN, 1n]]),
  });
  return { transaction, moment: { ref: `${transactionHash(transaction)}#0`, changes: [], facts: new Map() } };
}

/** Requests for some keys and, unless there are none, the update that applies them in the ledger's order. */
function update(before: Moment, random: () => number): Move[] {
  const facts = new Map(before.facts);
  const wanted = KEYS.filter(() => random() < 0.4);
  const requests = wanted.map((key) => {
    const [old, value] = [facts.get(key), `v${Math.floor(random() * 3)}`];
    const operation: Operation = old === undefined
      ? op.insert(value)
      : random() < 0.5
      ? op.update(old, value)
      : op.remove(old);
    const datum = encodeRequest({
      ...{ policy, name: TOKEN, refund: { payment: alice.key }, fee: 500_000n },
      ...{ key: utf8(key), operation },
    });
    const transaction = encodeTransaction({
      ...{ inputs: [newRef()], outputs: [{ address: cage, value: lovelace(2_000_000n), datum }], fee: 1n },
    });
    const ref = { txHash: transactionHash(transaction), index: 0 };
    return { transaction, ref, key, value: operation.type === "delete" ? undefined : value };
  });
  const changes = [...requests].sort((a, b) => compareRefs(a.ref, b.ref)).map(({ key, value }): Change => [key, value]);
  for (const [key, value] of changes) {
    if (value === undefined) facts.delete(key);
    else facts.set(key, value);
  }
  const spends = [
    spend(parseRefKey(before.ref), { type: "modify", actions: [] }),
    ...requests.map(({ ref }) => spend(ref, { type: "contribute" })),
  ];
  const transaction = encodeTransaction({
    inputs: [...spends.map((one) => one.for.ref), newRef()],
    outputs: [stateOf(TOKEN, rootOf(facts))],
    fee: 1n,
    redeemers: spends,
  });
  const moment = { ref: `${transactionHash(transaction)}#0`, changes, facts };
  return [...requests.map(({ transaction }): Move => ({ transaction })), { transaction, moment }];
}

/** A chain, and the moves that are in its blocks. */
class History {
  /** By block. */
  readonly blocks: { readonly slot: number; readonly moves: readonly Move[] }[] = [];
  private readonly index = new StoredIndex(store);
  constructor(private readonly random: () => number) {}

  get moments(): readonly Moment[] {
    return this.blocks.flatMap(({ moves }) => momentsOf(moves));
  }

  get tip(): Moment {
    return this.moments.at(-1)!;
  }

  /** Divides moves into blocks, some of them large. */
  async add(moves: readonly Move[]): Promise<void> {
    for (let rest = moves; rest.length > 0;) {
      const some = rest.slice(0, 1 + Math.floor(this.random() * (this.random() < 0.5 ? 3 : 30)));
      rest = rest.slice(some.length);
      const { slot } = await this.index.follow(...some.map(({ transaction }) => transaction));
      this.blocks.push({ slot, moves: some });
    }
  }

  /** Goes on with updates, after a rollback that divides what was into other blocks, or forgets the last of it. */
  async step(): Promise<void> {
    let again: readonly Move[] = [];
    if (this.random() < 0.6) {
      const count = Math.floor(this.random() * Math.min(6, this.blocks.length));
      await this.index.undo(count, this.random() < 0.5 ? "again" : "go on");
      const undone = this.blocks.splice(this.blocks.length - count, count).flatMap(({ moves }) => moves);
      again = this.random() < 0.7 ? undone : undone.slice(0, Math.floor(this.random() * undone.length));
    }
    const news: Move[] = [];
    let at = momentsOf(again).at(-1) ?? this.tip;
    for (let n = Math.floor(this.random() * 6); n > 0; n--) {
      const made = update(at, this.random);
      news.push(...made);
      at = momentsOf(made).at(-1)!;
    }
    await this.add([...again, ...news]);
  }
}

const momentsOf = (moves: readonly Move[]) => moves.flatMap(({ moment }) => moment ?? []);

/** What changed after a state (the n-th, or none before the first), as the reader of all states sees it. */
function changesAfter(moments: readonly Moment[], n: number) {
  const before = moments[n]?.facts ?? new Map<string, string>();
  const last = new Map<string, string | undefined>();
  for (const [key, value] of moments.slice(n + 1).flatMap(({ changes }) => changes)) {
    last.delete(key);
    last.set(key, value);
  }
  const entries = [...last];
  return {
    facts: entries.flatMap(([key, value]) => value === undefined ? [] : [[key, value]]),
    deleted: entries.flatMap(([key, value]) => value === undefined && before.has(key) ? [key] : []),
  };
}

interface Answer {
  readonly facts: Record<string, string>;
  readonly deleted: readonly string[];
  readonly at: { readonly outputRefId: string; readonly root: string };
}

const said = ({ ref }: Moment) => ref.replace("#", "-");

/** All pages from a query on, `undefined` where one is refused; `between` runs after each page. */
async function pagesOf(query: string, between: () => Promise<void>): Promise<readonly Answer[] | undefined> {
  const pages: Answer[] = [];
  for (let next: string | undefined = `/token/${TOKEN}/facts?${query}`; next !== undefined;) {
    const answer: Response = await fetch(url + next);
    const body = await answer.json();
    if (answer.status === 409) {
      expect(body.code).toBe("rolled_back");
      return undefined;
    }
    expect([next, answer.status]).toEqual([next, 200]);
    pages.push(body);
    next = /<([^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    if (next !== undefined) await between();
  }
  return pages;
}

it.each(Array.from({ length: RUNS }, (_, run) => run))(
  "are exact since any state and any slot, in pages as well, for every client, run %i",
  async () => {
    await store
      .sql`truncate chain_block, token_state, token_quarantine, token_request, token_request_end, token_end, fact, token_bucket`;
    await store.sql`update chain_cursor set slot = -1, hash = '', height = 0`;
    const seed = Number(process.env.SINCE_SEED ?? Math.floor(Math.random() * 2 ** 32));
    console.log(`SINCE_SEED=${seed}`);
    const random = seeded(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const history = new History(random);
    await history.add([boot()]);
    const client = new TokenClient(url);
    let caches: CachedFacts[] = [];
    const seen = { within: 0, moved: 0, refused: 0 };
    for (let done = 0; done < COMPARISONS;) {
      await history.step();
      const { moments, tip } = history;
      const ends = history.blocks.map(({ moves }) => momentsOf(moves).at(-1));
      const numberOf = (moment: Moment | undefined) => moment ? moments.indexOf(moment) : -1;

      const since = async (query: string, n: number) => {
        const [answer] = await pagesOf(`since=${query}`, () => Promise.resolve()) ?? [];
        const { facts, deleted, at } = answer!;
        expect({ query, facts: Object.entries(facts), deleted }).toEqual({ query, ...changesAfter(moments, n) });
        expect(at).toMatchObject({ outputRefId: said(tip), root: toHex(rootOf(tip.facts)) });
        done++;
      };
      for (let i = 0; i < 6; i++) {
        const moment = pick(moments);
        await since(said(moment), numberOf(moment));
        if (!ends.includes(moment)) seen.within++;
      }
      const [{ slot: newest }] = [history.blocks.findLast(({ moves }) => momentsOf(moves).length > 0)!];
      for (const slot of [-1, pick(history.blocks).slot, Math.floor(random() * (newest + 1))]) {
        if (slot > newest) continue;
        const to = history.blocks.filter((block) => block.slot <= slot).flatMap(({ moves }) => momentsOf(moves)).at(-1);
        await since(String(slot), numberOf(to));
      }

      // Pages show one state, whatever comes between them.
      const from = pick(moments);
      const query = random() < 0.5
        ? said(from)
        : String(history.blocks.find(({ moves }) => momentsOf(moves).includes(from))!.slot);
      const first = query.includes("-")
        ? from
        : momentsOf(history.blocks.find(({ slot }) => String(slot) === query)!.moves).at(-1)!;
      const pages = await pagesOf(`since=${query}&limit=2`, async () => {
        if (random() < 0.3) {
          seen.moved++;
          await history.step();
        }
      });
      if (pages) {
        const whole = changesAfter(moments, numberOf(first));
        expect(new Set(pages.map(({ at }) => at.outputRefId))).toEqual(new Set([said(tip)]));
        expect(pages.flatMap(({ facts }) => Object.entries(facts))).toEqual(whole.facts);
        expect(pages.flatMap(({ deleted }) => deleted)).toEqual(whole.deleted);
        done++;
      } else seen.refused++;

      caches = await Promise.all(caches.map((cache) => random() < 0.5 ? client.refresh(TOKEN, cache) : cache));
      const now = await client.refresh(TOKEN, pick(caches));
      for (const { facts, at } of [now, ...caches].filter(({ at }) => at.outputRefId === said(history.tip))) {
        expect([at.outputRefId, new Map(facts)]).toEqual([at.outputRefId, history.tip.facts]);
        done++;
      }
      caches = [...caches, now].slice(-8);
    }
    console.log(JSON.stringify(seen));
    expect(seen.within).toBeGreaterThan(COMPARISONS / 20);
    expect(seen.moved).toBeGreaterThan(0);
  },
);
