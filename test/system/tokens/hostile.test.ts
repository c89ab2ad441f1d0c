/**
 * A hostile chain through the follower and its SQL, with rollbacks and crashes; and quarantine, which a replay from the
 * ledger's own bytes releases: the remaining rows are those of an index that never failed.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { tokenReleases } from "#src/tokens/tokenRelease.ts";
import { toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { cageProjection } from "#src/tokens/index/projection.ts";
import { readRequests, readToken } from "#src/tokens/index/read.ts";
import { readQuarantined, readReleaseOutcome, requestRelease } from "#src/tokens/index/release.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower, type FollowerStep } from "#src/chain/index/follower.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { MemoryChain, memoryPort } from "../../support/chain/memoryChain.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { blank, Hostile, type Model, VERSIONS } from "../../support/tokens/hostileBlocks.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { until } from "../../support/base/until.ts";

const CUT_ABOVE = 2;
const TABLES = ["token_state", "token_quarantine", "token_request", "token_request_end", "fact", "token_bucket"];

let infra: Infra;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("chain/index", "tokens/index"));
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});
beforeEach(() => wipe());

async function wipe(): Promise<void> {
  for (const table of [...TABLES, "token_release", "chain_block"]) await store.sql`truncate ${store.sql(table)}`;
  await store.sql`update chain_cursor set slot = -1, hash = '', height = 0, tip_slot = -1, tip_height = 0`;
}

/** Follows a chain until its tip, and while `work` runs; returns the events. */
async function following<T>(
  chain: MemoryChain,
  work: (reach: () => Promise<void>) => Promise<T>,
  onStep: (step: FollowerStep | "appended") => void = () => {},
): Promise<{ value: T; events: readonly Touched[] }> {
  const events: Touched[] = [];
  const stop = new AbortController();
  const follower = new Follower({
    store,
    port: memoryPort(chain, { random: () => 0 }),
    projections: [cageProjection({ scripts: VERSIONS, network: 0, cutAbove: CUT_ABOVE })],
    networkQueries: [tokenReleases(store, { cutAbove: CUT_ABOVE })],
    fence: () => Promise.resolve(),
    append: () => {
      onStep("appended");
      return Promise.resolve();
    },
    ring: (touched) => void events.push(...touched),
    onStep,
    log: silentLog,
  });
  const running = follower.run(stop.signal);
  const reach = async () => {
    await until("the tip", async () => (await readCursor(store.sql)).at.hash === chain.tip.hash);
  };
  try {
    await reach();
    const value = await work(reach);
    return { value, events: events };
  } finally {
    stop.abort();
    await running;
  }
}

/** All rows, as texts in an order of their own. */
async function dump(): Promise<Record<string, string[]>> {
  const rows = await Promise.all(TABLES.map(async (table) => {
    const found = await store.sql<{ line: string }[]>`select t::text as line from ${store.sql(table)} t`;
    return [table, found.map(({ line }) => line).sort()] as const;
  }));
  return Object.fromEntries(rows);
}

async function expectModel(model: Model): Promise<void> {
  for (const { name, ref, owner, root, facts, status } of model.tokens.values()) {
    const found = await readToken(store.sql, name);
    expect([name, found.status]).toEqual([name, status]);
    const rows = await store.sql<{ key: Uint8Array; value: Uint8Array }[]>`
      select key, value from fact where token = ${name} and to_slot is null`;
    expect(new Map(rows.map(({ key, value }) => [toHex(new Uint8Array(key)), toHex(new Uint8Array(value))]))).toEqual(
      facts,
    );
    if (!("state" in found)) continue;
    expect([refKey(found.state.utxo.ref), found.state.owner, found.state.root]).toEqual([refKey(ref), owner, root]);
    const requests = await readRequests(store.sql, name, { limit: 1_000 });
    expect(requests.map(({ utxo }) => refKey(utxo.ref)).sort()).toEqual(
      [...model.requests.values()].filter(({ token }) => token === name).map(({ ref }) => refKey(ref)).sort(),
    );
  }
  const ends = await store.sql<{ ref: string; status: string }[]>`select ref, status from token_request_end`;
  expect(new Map(ends.map((row) => [row.ref, row.status]))).toEqual(model.ended);
}

/** A chain of hostile blocks, and the expected index after each. */
function grown(seed: number, blocks: number) {
  const hostile = new Hostile(seeded(seed));
  const chain = new MemoryChain();
  const models: Model[] = [blank];
  const grow = () => {
    const next = hostile.block(models.at(-1)!);
    models.push(next.model);
    return chain.add(...next.transactions);
  };
  const back = (count: number) => {
    chain.rollback(count);
    models.splice(models.length - count, count);
  };
  for (let i = 0; i < blocks; i++) grow();
  return { chain, models, grow, back };
}

describe("a hostile chain", () => {
  it("has the model's index, through rollbacks and crashes", async () => {
    const { chain, models, grow, back } = grown(21, 20);
    const random = seeded(22);
    let steps = 0;
    await following(chain, async (reach) => {
      for (let i = 0; i < 8; i++) {
        if (random() < 0.5) back(1 + Math.floor(random() * 6));
        for (let n = 0; n < 4; n++) grow();
        await reach();
        await expectModel(models.at(-1)!);
      }
    }, () => {
      if (++steps % 37 === 0) throw new Error("crash");
    });
    expect(steps).toBeGreaterThan(37);
  });
});

describe("a quarantined token", () => {
  /** A chain on which a live token has facts, and the token. */
  function withFacts() {
    for (let seed = 31;; seed++) {
      const made = grown(seed, 40);
      const tokens = [...made.models.at(-1)!.tokens.values()];
      const found = tokens.find(({ status, facts }) => status === "live" && facts.size > CUT_ABOVE + 1);
      if (found) return { ...made, name: found.name };
    }
  }
  const { chain, models, name } = withFacts();
  const answered = (requestId: bigint) => until("an answer", () => readReleaseOutcome(store.sql, name, requestId));

  /** Possible damages to a token's rows. */
  const damages: Readonly<Record<string, () => PromiseLike<unknown>>> = {
    "facts gone": () => store.sql`delete from fact where token = ${name}`,
    "other values": () => store.sql`update fact set value = '\\x00', digest = '\\x00' where token = ${name}`,
    "values that their digests do not tell": () => store.sql`update fact set value = '\\x00' where token = ${name}`,
    "facts without a request": () =>
      store.sql`insert into fact
        select ${`${name}:`} || repeat('0', 64), token, bucket, repeat('0', 64), key, value, digest, 1
        from fact where token = ${name} limit 1`,
    "facts ended": () => store.sql`update fact set to_slot = from_slot where token = ${name}`,
    "facts of another entry": () =>
      store.sql`update fact set entry = 'elsewhere:' || path where token = ${name} and to_slot is null`,
    "hashes gone": () => store.sql`delete from token_bucket where token = ${name}`,
    "other hashes": () =>
      store.sql`update token_bucket set hash = decode(repeat('11', 32), 'hex') where token = ${name}`,
    "wrong states": () =>
      store.sql`update token_state set facts = 0, cut = not cut, root = repeat('0', 64), owner = repeat('0', 56)
        where token = ${name}`,
  };

  it("has the rows of an index that never failed, whatever the damage, once it is released", async () => {
    const { events } = await following(chain, async () => {
      const right = await dump();
      for (const [what, damage] of Object.entries(damages)) {
        await damage();
        expect([what, await dump()]).not.toEqual([what, right]);
        await store.sql`insert into token_quarantine (token, reason, from_slot)
          values (${name}, ${what}, ${chain.tip.slot})`;
        expect(await readQuarantined(store.sql)).toContainEqual({
          tokenId: name,
          reason: what,
          slot: chain.tip.slot,
        });
        const answer = await answered(await requestRelease(store.sql, name));
        expect([what, answer]).toEqual([what, { released: true, reason: undefined }]);
        expect([what, await dump()]).toEqual([what, right]);
      }
      // a release is harmless where nothing is wrong
      expect((await answered(await requestRelease(store.sql, name))).released).toBe(true);
      expect(await dump()).toEqual(right);
      await expectModel(models.at(-1)!);
    });
    const released = { entity: { kind: "token", id: name }, event: { type: "RELEASED", slot: chain.tip.slot } };
    expect(events.filter(({ event }) => event.type === "RELEASED")).toEqual(Object.keys(damages).map(() => released));
  });

  it.each([
    ["facts", () => store.sql`update fact set digest = decode(repeat('22', 32), 'hex') where token = ${name}`],
    ["lengths", () => store.sql`update fact set digest = '\\x22' where token = ${name}`],
  ])(
    "results from rows that contradict each other in their %s, and neither it nor its release stops other tokens",
    async (_, damage) => {
      const made = withFacts();
      const { value: released } = await following(made.chain, async (reach) => {
        await damage();
        // until the token is changed again
        await until("quarantine", async () => {
          made.grow();
          await reach();
          if (made.models.at(-1)!.tokens.get(name)!.status !== "live") {
            throw new Error("the chain went another way: choose another seed");
          }
          return (await readToken(store.sql, name)).status === "quarantined";
        });
        expect((await answered(await requestRelease(store.sql, name))).released).toBe(true);
        await expectModel(made.models.at(-1)!);
        for (const count of [1, 12]) {
          made.back(count);
          made.grow();
          await reach();
          await expectModel(made.models.at(-1)!);
        }
        return await dump();
      });
      await wipe();
      const { value: rebuilt } = await following(made.chain, dump);
      expect(released).toEqual(rebuilt);
    },
  );

  it("stays if the ledger does not explain its state, which is reported", async () => {
    const made = grown(41, 40);
    const model = made.models.at(-1)!;
    const lost = [...model.tokens.values()].find(({ status }) => status === "quarantined")!;
    const ended = [...model.tokens.values()].find(({ status }) => status === "ended")!;
    const { events } = await following(made.chain, async () => {
      const before = await dump();
      const say = async (token: string) => {
        const requestId = await requestRelease(store.sql, token);
        return await until("an answer", () => readReleaseOutcome(store.sql, token, requestId));
      };
      expect(await say(lost.name)).toEqual({
        released: false,
        reason: expect.stringMatching(/^State [0-9a-f]{64}#\d+ at slot \d+ is not explained: its root is not the one/),
      });
      expect(await say(ended.name)).toEqual({ released: false, reason: "The token has ended." });
      expect(await say("ee".repeat(32))).toEqual({ released: false, reason: "There is no such token." });
      expect(await dump()).toEqual(before);
    });
    expect(events.map(({ event }) => event.type)).not.toContain("RELEASED");
  });

  it("is released once, whichever process dies in the middle and however often it is requested", async () => {
    let before: Awaited<ReturnType<typeof dump>>;
    await following(chain, async () => {
      before = await dump();
    });
    await store.sql`delete from fact where token = ${name}`;
    await store
      .sql`insert into token_quarantine (token, reason, from_slot) values (${name}, 'a test', ${chain.tip.slot})`;
    let crashes = 0;
    const requestIds = await Promise.all([1, 2, 3].map(() => requestRelease(store.sql, name)));
    const { events } = await following(chain, async () => {
      for (const requestId of requestIds) {
        expect(await answered(requestId)).toEqual({ released: true, reason: undefined });
      }
    }, (step) => {
      if (step !== "appended" || crashes === 2) return;
      crashes++;
      throw new Error("crash before the commit");
    });
    expect(crashes).toBe(2);
    expect(events.map(({ event }) => event.type)).toEqual(["RELEASED"]);
    expect(await dump()).toEqual(before!);
  });
});
