/**
 * Proven histories of keys out of the rows of a hostile chain, with a cut from two facts on, several states in a block and
 * rollbacks: every answer verifies and has the values of the model.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { digest } from "#src/forestry/hash.ts";
import { silentLog } from "#src/base/log.ts";
import { refKey } from "#src/cardano/output.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { verifyKeyHistory } from "#src/client/keyHistory.ts";
import { handleErrors } from "#src/http/errors.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { LOG_KEY, noteSigner, vkeyOf } from "#src/tlog/note.ts";
import { inclusions } from "#src/tokens/builds/inclusions.ts";
import { keyHistory } from "#src/tokens/builds/keyHistory.ts";
import { historyRoutes } from "#src/tokens/http/history.ts";
import type { TokenService } from "#src/tokens/http/service.ts";
import { readKeyEvidence } from "#src/tokens/index/keyHistory.ts";
import { cageProjection } from "#src/tokens/index/projection.ts";
import { appendFinal } from "#src/tokens/log/append.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { until } from "../../support/base/until.ts";
import { MemoryChain, memoryPort } from "../../support/chain/memoryChain.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { blank, Hostile, type Model, VERSIONS } from "../../support/tokens/hostileBlocks.ts";

const BLOCKS = 120;

let infra: Infra;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("chain/index", "tokens/index", "tokens/log"));
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

async function follow(chain: MemoryChain): Promise<void> {
  const stop = new AbortController();
  const running = new Follower({
    store,
    port: memoryPort(chain, { random: () => 0 }),
    projections: [cageProjection({ scripts: VERSIONS, network: 0, cutAbove: 2 })],
    networkQueries: [],
    fence: () => Promise.resolve(),
    append: () => Promise.resolve(),
    ring: () => {},
    onStep: () => {},
    log: silentLog,
  }).run(stop.signal);
  await until("the tip", async () => (await readCursor(store.sql)).at.hash === chain.tip.hash);
  stop.abort();
  await running;
}

it("has the model's value in each state of each token", async () => {
  const hostile = new Hostile(seeded(36));
  const chain = new MemoryChain();
  const models: Model[] = [blank];
  const grow = () => {
    const next = hostile.block(models.at(-1)!);
    models.push(next.model);
    chain.add(...next.transactions);
  };
  for (let i = 0; i < BLOCKS; i++) grow();
  await follow(chain);
  chain.rollback(5);
  models.splice(models.length - 5, 5);
  for (let i = 0; i < 10; i++) grow();
  await follow(chain);

  const signer = noteSigner("log.example/rows", LOG_KEY, new Uint8Array(32).fill(5));
  const policy = `log ${vkeyOf(signer)}\nquorum none\n`;
  for (let more = true; more;) {
    ({ more } = await store.sql.begin((sql) => appendFinal(sql, { net: 42, depth: 0, signer })));
  }

  const app = new OpenAPIHono();
  handleErrors(app, silentLog);
  const jobs: Record<string, (input: never) => unknown> = { keyHistory, inclusions };
  const builders = { run: (job: string, input: never) => jobs[job]?.(input) };
  historyRoutes(app, { store, builders } as unknown as TokenService);

  let [compared, several, refused] = [0, 0, 0];
  const last = models.at(-1)!;
  for (const { name } of last.tokens.values()) {
    const states = models.flatMap(({ tokens }) => tokens.get(name) ?? []);
    const strange = states.findIndex(({ status }) => status === "quarantined");
    if (strange >= 0) {
      // of states that requests do not explain nothing can be proven
      expect((await app.request(`/token/${name}/facts/00/history?proof=true&limit=1000`)).status).toBe(409);
      refused++;
    }
    const known = strange < 0 ? states : states.slice(0, strange);
    const newest = known.at(-1);
    if (!newest) continue;
    const [entry] = await store.sql<{ seq: bigint }[]>`select seq from log_entry where ref = ${refKey(newest.ref)}`;
    const to = strange < 0 ? "" : `&to=${entry?.seq}`;
    const keys = new Set(known.flatMap(({ facts }) => [...facts.keys()]));
    const byRef = new Map(known.map((state) => [refKey(state.ref), state.facts]));
    for (const key of [...keys, "00ff"]) {
      const pages: unknown[] = [];
      const limit = 1 + (compared % 7);
      for (
        let next: string | undefined =
          `/token/${name}/facts/${key}/history?encoding=hex&proof=true&limit=${limit}${to}`;
        next !== undefined;
      ) {
        const response: Response = await app.request(next);
        expect([response.status, next], await response.clone().text()).toEqual([200, next]);
        pages.push(await response.json());
        next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      }
      const found = verifyKeyHistory(pages, { tokenId: name, key: fromHex(key), policy });
      if (!found.ok) throw new Error(`${found.error.code}: ${found.error.message}`);
      const shown = (pages as { from: number; states: { ref: string; end?: true; slot: number }[] }[]).flatMap(
        ({ from, states }) => states.map((state, i) => ({ ...state, seq: from + i })),
      );
      several += shown.filter(({ slot }, i) => shown[i - 1]?.slot === slot).length;
      for (const { ref, seq, end } of shown) {
        const facts = byRef.get(ref);
        if (!facts || end) continue;
        const version = found.value.versions.find(({ first, last }) => first.seq <= seq && seq <= last.seq);
        expect(version?.valueHex).toBe(facts.get(key));
        compared++;
      }
    }
  }
  const [busiest] = await store.sql<{ token: string; count: bigint }[]>`
    select token, count(*) as count from token_request_end where status = 'applied' group by token order by 2 desc limit 1`;
  const token = busiest?.token ?? "";
  const refs = await store.sql<{ ref: string; slot: bigint }[]>`
    select ref, slot from log_entry where token = ${token} and ref is not null and not withdrawn order by seq`;
  const places = refs.map(({ ref, slot }) => ({ ref, slot: Number(slot) }));
  const path = digest(fromHex("00"));
  const { changes } = await readKeyEvidence(store.sql, token, path, places);
  expect(changes).toHaveLength(places.length);
  for (let most = 0; most <= Number(busiest?.count); most++) {
    const some = (await readKeyEvidence(store.sql, token, path, places, most)).changes;
    expect(some).toEqual(changes.slice(0, some.length));
    expect(some.flat().length).toBeLessThanOrEqual(most);
    // whole blocks, and no fewer than fit
    const next = places[some.length];
    expect(next?.slot).not.toBe(places[some.length - 1]?.slot ?? -1);
    const block = changes.filter((_, i) => places[i]?.slot === next?.slot).flat();
    if (next) expect(some.flat().length + block.length).toBeGreaterThan(most);
  }
  const [row] = await store.sql<{ cut: bigint }[]>`select count(*) as cut from token_state where cut`;
  expect(Math.min(compared, 100)).toBe(100);
  expect(several).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
  expect(Number(row?.cut)).toBeGreaterThan(0);
});
