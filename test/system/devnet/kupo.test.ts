/**
 * Kupo's API of a devnet: patterns that come and go, over rollbacks and restarts; headers, health, refusals; answers
 * that are sent while blocks are made. The values of matches are judged by `kupoOracle.test.ts`.
 */
import { afterEach, describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, enterpriseAddress, rewardAddress } from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { byronHash } from "#src/devnet/genesis/json.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { addPatterns, PATTERNS_MOST } from "#src/devnet/index/kupo/patterns.ts";
import { readings } from "#src/devnet/serve/kupo/connections.ts";
import { kupoApp } from "#src/devnet/serve/kupo/service.ts";
import { type Listener, serve } from "#src/http/serve.ts";
import { openStore } from "#src/store/store.ts";
import { KupoApi } from "../../support/kupo/kupoApi.ts";
import type { Match } from "../../support/kupo/kupoOracle.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { spend } from "../../support/devnet/devnet.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const [alice, bob, carol] = ["alice", "bob", "carol"].map(person) as [
  ReturnType<typeof person>,
  ReturnType<typeof person>,
  ReturnType<typeof person>,
];
const world = devnetWorld();
const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.stop();
});

const appOf = (devnet: Devnet) => kupoApp({ devnet, store: world.store, log: silentLog });
const apiOf = (devnet: Devnet) => new KupoApi(appOf(devnet));

/** Pays to some addresses, and makes a block. */
async function pay(devnet: Devnet, ...addresses: readonly string[]): Promise<{ slot: number; hash: string }> {
  for (const address of addresses) await give(devnet, address, 5n * ada);
  return await makeBlock(devnet);
}

/** Who has matches at the addresses of the people, in each slot. */
async function holders(api: KupoApi): Promise<string[]> {
  const names = new Map([alice, bob, carol].map(({ enterprise }, i) => [
    addressText(enterpriseAddress(0, { kind: "key", hash: enterprise.slice(2) })),
    ["alice", "bob", "carol"][i]!,
  ]));
  const all = await api.get<Match[]>("/matches?order=oldest_first");
  return all.flatMap(({ address, created_at }) => {
    const name = names.get(String(address));
    return name === undefined ? [] : [`${name} ${(created_at as Match).slot_no}`];
  });
}

const put = (api: KupoApi, path: string, to: object) => api.change<string[]>("PUT", path, { rollback_to: to });

describe("patterns", () => {
  test("the first one is the wildcard, with which everything is a match, genesis included", async () => {
    const devnet = await world.start();
    const api = apiOf(devnet);
    expect(await api.get("/patterns")).toEqual(["*"]);
    const first = genesisOutputs(devnet.genesis);
    const matches = await api.get<Match[]>("/matches?order=oldest_first");
    expect(matches.map(({ transaction_id, output_index }) => [transaction_id, output_index])).toEqual(
      first.map(({ ref }) => [ref.txHash, ref.index]),
    );
    for (const { created_at, transaction_index } of matches) {
      expect(created_at).toEqual({ slot_no: 0, header_hash: byronHash(devnet.genesis) });
      expect(transaction_index).toBe(matches.findIndex((one) => one.transaction_index === transaction_index));
    }
    expect((await api.send("GET", "/matches")).headers.get("x-most-recent-checkpoint")).toBe("0");
    expect((await api.send("GET", "/matches")).headers.get("etag")).toBeNull();
    expect(await api.get("/checkpoints")).toEqual([]);
    expect(await api.get("/checkpoints/5")).toBeNull();
  });

  test("matches are those of the blocks in which a pattern was active, or that were read again", async () => {
    const devnet = await world.start();
    const api = apiOf(devnet);
    const [a, b] = [alice, bob].map(({ key }) => `${key}/*`) as [string, string];
    const one = await pay(devnet, alice.enterprise, bob.enterprise);
    expect(await api.change("DELETE", "/patterns/*")).toEqual({ deleted: 1 });
    expect(await api.change("DELETE", "/patterns/*")).toEqual({ deleted: 0 });
    expect(await api.get("/patterns")).toEqual([]);
    const two = await pay(devnet, alice.enterprise, bob.enterprise);
    // matches of the wildcard stay; blocks since then have none
    expect(await holders(api)).toEqual([`alice ${one.slot}`, `bob ${one.slot}`]);

    // from the tip on
    expect(await put(api, `/patterns/${a}`, { slot_no: two.slot })).toEqual([a]);
    const three = await pay(devnet, alice.enterprise, bob.enterprise);
    expect(await holders(api)).toEqual([`alice ${one.slot}`, `bob ${one.slot}`, `alice ${three.slot}`]);

    // from the first block on: also the pattern that is active is matched again
    expect(await put(api, `/patterns/${b}`, { slot_no: one.slot, header_hash: one.hash })).toEqual([a, b].sort());
    const seen = [one, two, three].flatMap(({ slot }) => [`alice ${slot}`, `bob ${slot}`]);
    expect(await holders(api)).toEqual(seen);

    // what is read again after the removal of a pattern has no matches of it
    expect(await api.change("DELETE", `/patterns/${b}`)).toEqual({ deleted: 1 });
    expect(await holders(api)).toEqual(seen);
    expect(await put(api, `/patterns/${a}`, { slot_no: two.slot })).toEqual([a]);
    expect(await holders(api)).toEqual(seen.filter((name) => name !== `bob ${three.slot}`));
  });

  test("blocks after a rollback are matched with the patterns that are active then, also after a restart", async () => {
    const devnet = await world.start();
    let api = apiOf(devnet);
    const a = `${alice.key}/*`;
    const one = await pay(devnet, alice.enterprise, bob.enterprise);
    await pay(devnet, alice.enterprise, bob.enterprise);
    await api.change("DELETE", "/patterns/*");
    await put(api, `/patterns/${a}`, { slot_no: devnet.tip().slot });
    await pay(devnet, alice.enterprise, bob.enterprise);
    valueOf(await devnet.rollback({ blocks: 2 }, { drop: true }));
    const two = await pay(devnet, alice.enterprise, bob.enterprise);
    const three = await pay(devnet, alice.enterprise, bob.enterprise);
    const expected = [`alice ${one.slot}`, `bob ${one.slot}`, `alice ${two.slot}`, `alice ${three.slot}`];
    expect(await holders(api)).toEqual(expected);

    await devnet.stop();
    world.running.splice(0);
    const again = await world.start();
    api = apiOf(again);
    expect(await api.get("/patterns")).toEqual([a]);
    expect(await holders(api)).toEqual(expected);
    const four = await pay(again, alice.enterprise, bob.enterprise);
    expect(await holders(api)).toEqual([...expected, `alice ${four.slot}`]);
    // the wildcard from the genesis on has everything again
    expect(await put(api, "/patterns/*", { slot_no: 0 })).toEqual(["*", a]);
    expect(await holders(api)).toEqual([one, two, three, four].flatMap(({ slot }) => [`alice ${slot}`, `bob ${slot}`]));
    expect((await api.get<Match[]>("/matches")).length).toBeGreaterThan(8);
  });

  test("matches are deleted unless an active pattern has them, and come back where blocks are read again", async () => {
    const devnet = await world.start();
    const api = apiOf(devnet);
    const [a, b] = [alice, bob].map(({ key }) => `${key}/*`) as [string, string];
    // slot 0 would mean the genesis
    await makeBlock(devnet);
    const one = await pay(devnet, alice.enterprise, bob.enterprise, carol.enterprise);
    const two = await pay(devnet, alice.enterprise, bob.enterprise);
    for (const pattern of [a, "*", "*/*", `*@${"0".repeat(64)}`]) {
      expect(await api.refused("DELETE", `/matches/${pattern}`)).toEqual([400, expect.stringContaining("overlaps")]);
    }
    await api.change("DELETE", "/patterns/*");
    await put(api, `/patterns/${a}`, { slot_no: two.slot });
    expect(await api.refused("DELETE", `/matches/${alice.enterprise}`)).toEqual([400, expect.any(String)]);
    expect(await api.change("DELETE", `/matches/${b}`)).toEqual({ deleted: 2 });
    expect(await api.change("DELETE", `/matches/${b}`)).toEqual({ deleted: 0 });
    expect(await api.change("DELETE", `/matches/${b}`)).toEqual({ deleted: 0 });
    expect(await holders(api)).toEqual([`alice ${one.slot}`, `carol ${one.slot}`, `alice ${two.slot}`]);
    // the second block is read again, the first one is not
    await put(api, `/patterns/${b}`, { slot_no: one.slot });
    expect(await holders(api)).toEqual([
      `alice ${one.slot}`,
      `carol ${one.slot}`,
      `alice ${two.slot}`,
      `bob ${two.slot}`,
    ]);
    await api.change("DELETE", `/patterns/${b}`);
    expect(await api.refused("DELETE", "/matches/*/*")).toEqual([400, expect.any(String)]);
    await api.change("DELETE", `/patterns/${a}`);
    const { deleted } = await api.change<{ deleted: number }>("DELETE", "/matches/*");
    expect(deleted).toBeGreaterThan(4);
    expect(await api.get("/matches")).toEqual([]);
  });

  test("patterns of each form match what they name", async () => {
    const devnet = await world.start();
    const api = apiOf(devnet);
    const coin = await give(devnet, alice.base, 50n * ada);
    await pay(devnet, carol.enterprise);
    const { cbor, hash } = spend({
      from: alice,
      inputs: [coin],
      outputs: [[bob.base, 20n * ada], [alice.enterprise, 29n * ada]],
    });
    expect(valueOf(await devnet.submit(cbor)).outcome).toBe("accepted");
    await makeBlock(devnet);
    await api.change("DELETE", "/patterns/*");
    await api.change("DELETE", "/matches/*");
    const bobs = addressText(rewardAddress(0, { kind: "key", hash: bob.stake }));
    const forms: Record<string, [text: string, count: number]> = {
      [bob.base]: [bob.base, 1],
      [`*/${toBech32("stake_vkh", fromHex(bob.stake))}`]: [`*/${bob.stake}`, 1],
      [`${bob.key}/${bob.stake}`]: [`${bob.key}/${bob.stake}`, 1],
      [bobs]: [`*/${bob.stake}`, 1],
      [`*@${hash}`]: [`*@${hash}`, 2],
      [`1@${hash}`]: [`1@${hash}`, 1],
      ["{674}"]: ["{674}", 0],
      [`${"ab".repeat(28)}.*`]: [`${"ab".repeat(28)}.*`, 0],
      [`${"ab".repeat(28)}.`]: [`${"ab".repeat(28)}.`, 0],
    };
    for (const [pattern, [text, count]] of Object.entries(forms)) {
      const path = `/patterns/${encodeURIComponent(pattern)}`;
      expect(await put(api, path, { slot_no: 0 }), pattern).toEqual([text]);
      expect((await api.get<Match[]>("/matches")).length, pattern).toBe(count);
      expect(await api.get(path), pattern).toEqual([text]);
      expect(await api.change("DELETE", path), pattern).toEqual({ deleted: 1 });
      await api.change("DELETE", "/matches/*");
    }
    // several at once
    const patterns = [`*@${hash}`, bob.base, `*@${hash}`];
    expect(await api.change("PUT", "/patterns", { patterns, rollback_to: { slot_no: 0 } })).toEqual(
      [`*@${hash}`, bob.base].sort(),
    );
    expect(await api.get(`/patterns/${bob.base}`)).toEqual([bob.base]);
    expect(await api.get(`/patterns/0@${hash}`)).toEqual([`*@${hash}`]);
    expect(await api.get(`/patterns/${carol.base}`)).toEqual([]);
  });

  test("points: the nearest block before a slot, a named block exactly, and not too far back", async () => {
    const devnet = await world.start();
    const api = apiOf(devnet);
    const one = await pay(devnet, alice.enterprise);
    world.clock.advance(130_000_000);
    const late = await makeBlock(devnet);
    expect(late.slot - one.slot).toBeGreaterThan(129_600);
    const a = `/patterns/${alice.key}/*`;
    const body = (to: object, limit?: string) => JSON.stringify({ rollback_to: to, ...(limit ? { limit } : {}) });
    expect(await api.refused("PUT", a, body({ slot_no: one.slot }))).toEqual([
      400,
      expect.stringContaining("36 hours"),
    ]);
    expect(await api.refused("PUT", a, body({ slot_no: one.slot }, "within_safe_zone"))).toEqual([
      400,
      expect.any(String),
    ]);
    const unsafe = "unsafe_allow_beyond_safe_zone";
    await api.change("PUT", a, { rollback_to: { slot_no: one.slot + 5 }, limit: unsafe });
    await api.change("PUT", a, {
      rollback_to: { slot_no: one.slot, header_hash: one.hash.toUpperCase() },
      limit: unsafe,
    });
    for (
      const to of [{ slot_no: one.slot, header_hash: late.hash }, { slot_no: one.slot + 1, header_hash: one.hash }]
    ) {
      expect(await api.refused("PUT", a, body(to, unsafe))).toEqual([400, expect.stringContaining("unknown")]);
    }
    // a slot after the tip is the tip
    await api.change("PUT", a, { rollback_to: { slot_no: late.slot + 1_000 } });
  });

  test("there are at most so many", async () => {
    const devnet = await world.start();
    const api = apiOf(devnet);
    await makeBlock(devnet);
    const patterns = Array.from({ length: PATTERNS_MOST }, (_, i) => ({ kind: "label", label: String(i) }) as const);
    await world.store.sql.begin((sql) => addPatterns(sql, patterns.slice(1), 0));
    const body = (text: string) => JSON.stringify({ patterns: [text], rollback_to: { slot_no: 0 } });
    expect(await api.refused("PUT", "/patterns", body("{5000}"))).toEqual([400, expect.stringContaining("1000")]);
    expect(await api.get<string[]>("/patterns")).toHaveLength(PATTERNS_MOST);
    expect((await api.get<Match[]>("/matches")).length).toBeGreaterThan(0);
  });
});

describe("requests", () => {
  test("headers name the newest block, and a client that holds its answer gets 304", async () => {
    const devnet = await world.start();
    const api = apiOf(devnet);
    const { slot, hash } = await pay(devnet, alice.enterprise);
    const paths = [
      "/matches",
      `/matches/${alice.enterprise}?unspent`,
      `/datums/${hash}`,
      `/scripts/${"0".repeat(56)}`,
      "/checkpoints",
      `/checkpoints/${slot}`,
      `/metadata/${slot}`,
    ];
    for (const path of paths) {
      const { status, headers } = await api.send("GET", path);
      expect([status, headers.get("x-most-recent-checkpoint"), headers.get("etag")]).toEqual([200, String(slot), hash]);
      const held = await api.send("GET", path, { headers: { "if-none-match": hash } });
      expect([held.status, held.text, held.headers.get("etag")], path).toEqual([304, "", hash]);
      expect((await api.send("GET", path, { headers: { "if-none-match": "f".repeat(64) } })).status).toBe(200);
    }
    await makeBlock(devnet);
    expect((await api.send("GET", "/matches", { headers: { "if-none-match": hash } })).status).toBe(200);
  });

  test("health as JSON and for Prometheus, and while the database is away", async () => {
    const devnet = await world.start();
    const api = apiOf(devnet);
    expect(await api.get("/health")).toMatchObject({ most_recent_checkpoint: null, seconds_since_last_block: null });
    const { slot } = await pay(devnet, alice.enterprise);
    world.clock.advance(42_500);
    const json = await api.send("GET", "/health", { headers: { accept: "application/json" } });
    expect([json.status, json.body]).toEqual([200, {
      connection_status: "connected",
      most_recent_checkpoint: slot,
      most_recent_node_tip: slot,
      seconds_since_last_block: expect.any(Number),
      network_synchronization: 1,
      configuration: { indexes: "installed" },
      version: expect.any(String),
    }]);
    expect((json.body as Match).seconds_since_last_block).toBeGreaterThan(30);
    for (const accept of ["text/plain", "*/*", "text/plain;version=0.0.4, */*;q=0.1"]) {
      const { text, status, headers } = await api.send("GET", "/health", { headers: { accept } });
      expect([status, headers.get("content-type")]).toEqual([200, "text/plain;charset=utf-8"]);
      expect(text).toMatch(/^# TYPE kupo_configuration_indexes gauge\nkupo_configuration_indexes {2}1\.0\n\n/);
      expect(text).toContain(`# TYPE kupo_most_recent_checkpoint counter\nkupo_most_recent_checkpoint  ${slot}\n`);
      expect(text).toContain("kupo_network_synchronization  1.0\n");
    }
    const { status, body } = await api.send("GET", "/health", { headers: { accept: "text/html" } });
    expect([status, body]).toEqual([400, { hint: expect.stringContaining("text/plain") }]);
    for (const accept of ["text/html", "text/plain", "*/*"]) {
      const { text } = await api.send("GET", "/metrics", { headers: { accept } });
      expect(text).toContain("kupo_connection_status  1.0\n");
    }
    // the index is behind the chain, as while it is built again
    await world.store.sql`update devnet_index set height = -1`;
    await world.store.sql`update devnet_block set slot = slot + 10`;
    const behind = await api.send("GET", "/health");
    expect([behind.status, behind.body]).toEqual([202, expect.objectContaining({ network_synchronization: 0 })]);

    const away = openStore("postgres://arbor@127.0.0.1:1/nothing", { max: 1 });
    const lost = new KupoApi(kupoApp({ devnet, store: away, log: silentLog }));
    const gone = await lost.send("GET", "/health");
    expect([gone.status, gone.body]).toEqual([503, expect.objectContaining({ connection_status: "disconnected" })]);
    expect((await lost.send("GET", "/metrics")).text).toContain("kupo_connection_status  0.0\n");
    expect(await lost.refused("GET", "/matches")).toEqual([503, expect.any(String)]);
    await away.close();
  });

  test("pages of every origin may read, and may not change patterns", async () => {
    const app = appOf(await world.start());
    const headers = { origin: "https://example.org", "access-control-request-method": "DELETE" };
    for (const path of ["/matches", "/patterns/*", "/nowhere"]) {
      const answer = await app.request(path, { method: "OPTIONS", headers });
      expect([answer.status, await answer.text()]).toEqual([200, ""]);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-methods")).toBeNull();
    }
    // another name may be one that a page made to point here
    expect((await app.request("/matches", { headers: { host: "evil.example" } })).status).toBe(403);
  });

  test("nonsense gets a hint", async () => {
    const devnet = await world.start();
    const { slot, hash } = await pay(devnet, alice.enterprise);
    const api = apiOf(devnet);
    const [policy, tx] = ["ab".repeat(28), "cd".repeat(32)];
    const malformed = [
      ...["/matches/nonsense", "/matches/*%2F", "/matches/a/b/c", "/matches/**", "/matches/*/*/*", "/matches/%FF"],
      ...[`/matches/${policy}`, `/matches/${policy}.abc`, `/matches/${policy}.${"00".repeat(33)}`, "/matches/{674}"],
      ...[`/matches/65536@${tx}`, `/matches/-1@${tx}`, "/matches/1@", `/matches/${alice.base}00`, "/matches/*.*"],
      ...[`/matches/${toBech32("pool", fromHex(policy))}/*`, `/matches/${"x".repeat(5_000)}`],
      ...["?spent&unspent", "?spent&spent", "?spent=true", "?unspent=", "?resolve_hashes=1", "?order", "?order=newest"]
        .map((query) => `/matches${query}`),
      ...[
        "order=oldest_first&order=oldest_first",
        "policy_id=zz",
        `asset_name=00`,
        `policy_id=${policy}&policy_id=${policy}`,
      ]
        .map((query) => `/matches?${query}`),
      ...[
        `policy_id=${policy}&asset_name=*`,
        `policy_id=${policy}&asset_name=0`,
        `policy_id=${policy}&transaction_id=${tx}`,
      ]
        .map((query) => `/matches?${query}`),
      ...[
        `output_index=0`,
        `transaction_id=${tx}&output_index=*`,
        `transaction_id=${tx}&output_index=x`,
        "transaction_id=1",
      ]
        .map((query) => `/matches?${query}`),
      ...[
        "created_after",
        "created_after=",
        "created_after=x",
        "created_after=-1",
        "created_before=1.2",
        "spent_after=1e3",
      ]
        .map((query) => `/matches?${query}`),
      ...["created_after=1&spent_after=1", "created_before=1&created_before=1", `spent_before=${slot}.${tx}`]
        .map((query) => `/matches?${query}`),
      ...["/datums/00", `/datums/${"g".repeat(64)}`, `/datums/${policy}`, "/scripts/00", `/scripts/${tx}`],
      ...[
        "/checkpoints/x",
        "/checkpoints/-1",
        "/checkpoints/1?strict=",
        "/checkpoints/1?strict&strict",
        "/checkpoints/1?a",
      ],
      ...[
        "/metadata/x",
        `/metadata/${slot}?transaction_id=1`,
        `/metadata/${slot}?policy_id=${policy}`,
        "/patterns/nonsense",
      ],
      ...[`/metadata/${slot}?transaction_id=${tx}&transaction_id=${tx}`],
    ];
    for (const path of malformed) expect(await api.refused("GET", path), path).toEqual([400, expect.any(String)]);
    for (
      const path of ["/", "/nowhere", "/datums", `/datums/${tx}/x`, "/scripts", "/metadata", "/health/x", "/v2/matches"]
    ) {
      expect(await api.refused("GET", path), path).toEqual([404, expect.any(String)]);
    }
    const wrong = [
      ...[["POST", "/matches"], ["PUT", "/matches/*"], ["DELETE", `/datums/${tx}`], ["POST", "/patterns"], [
        "PUT",
        "/health",
      ]],
      ...[["DELETE", "/patterns"], ["DELETE", "/matches"], ["PATCH", "/checkpoints"], ["POST", "/metadata/1"]],
    ];
    for (const [method, path] of wrong as [string, string][]) {
      expect(await api.refused(method, path), `${method} ${path}`).toEqual([406, expect.stringContaining("method")]);
    }
    const head = await appOf(devnet).request("/matches", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([406, ""]);
    const deep = "[".repeat(10_000);
    const bodies = [
      ...[
        "",
        "{",
        "null",
        "[]",
        "1",
        "{}",
        deep,
        '{"rollback_to":1}',
        '{"rollback_to":{}}',
        '{"rollback_to":{"slot_no":-1}}',
      ],
      ...[
        '{"rollback_to":{"slot_no":"1"}}',
        '{"rollback_to":{"slot_no":1.5}}',
        '{"rollback_to":{"slot_no":99999999999999999999}}',
      ],
      ...['{"rollback_to":{"slot_no":1,"header_hash":1}}', '{"rollback_to":{"slot_no":1,"header_hash":"zz"}}'],
      ...['{"rollback_to":{"slot_no":1},"limit":"none"}', '{"rollback_to":{"slot_no":1},"limit":1}'],
      JSON.stringify({ rollback_to: { slot_no: slot, header_hash: "0".repeat(64) } }),
    ];
    for (const body of bodies) {
      expect(await api.refused("PUT", "/patterns/*", body), body.slice(0, 60)).toEqual([400, expect.any(String)]);
    }
    for (const patterns of [undefined, [], "*", ["*", "nonsense"], [1], [null]]) {
      const body = JSON.stringify({ patterns, rollback_to: { slot_no: slot, header_hash: hash } });
      expect(await api.refused("PUT", "/patterns", body), body).toEqual([400, expect.any(String)]);
    }
    expect(await api.refused("PUT", "/patterns", " ".repeat(300_000))).toEqual([413, expect.any(String)]);
    expect(await api.refused("PUT", "/patterns/nonsense", '{"rollback_to":{"slot_no":0}}')).toEqual([
      400,
      expect.any(String),
    ]);
    expect(await api.refused("DELETE", "/patterns/nonsense")).toEqual([400, expect.any(String)]);
    expect(await api.refused("DELETE", "/matches/nonsense")).toEqual([400, expect.any(String)]);
    // nothing of it changed anything
    expect(await api.get("/patterns")).toEqual(["*"]);
  });

  test("where every connection is taken for long, a request is refused", async () => {
    const reading = readings(world.store, 1, 50);
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = reading(async () => {
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    await expect(reading(async () => 1)).rejects.toMatchObject({ status: 503 });
    const next = readings(world.store, 1, 60_000);
    held.resolve();
    await first;
    expect(await reading(async () => 2)).toBe(2);
    // one that waits gets the connection of the one before
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((n) => next(async () => void order.push(n))));
    expect(order).toEqual([1, 2, 3]);
    await expect(reading(() => Promise.reject(new Error("fault")))).rejects.toThrow("fault");
    expect(await reading(async () => 3)).toBe(3);
  });
});

describe("large answers", () => {
  /** A devnet with thousands of outputs of alice. */
  async function largeDevnet(): Promise<Devnet> {
    const devnet = await world.start();
    const coin = await give(devnet, alice.enterprise, 20_000n * ada);
    await makeBlock(devnet);
    let inputs = [coin];
    for (let i = 0; i < 12; i++) {
      const outputs = Array.from({ length: 200 }, () => [alice.base, 2n * ada] as const);
      const left = inputs.reduce((sum, { output }) => sum + output.value.lovelace, 0n) - 400n * ada - ada;
      const made = spend({ from: alice, inputs, outputs: [...outputs, [alice.enterprise, left]] });
      expect(valueOf(await devnet.submit(made.cbor)).outcome).toBe("accepted");
      inputs = made.created.filter(({ output }) => output.address === alice.enterprise);
      await makeBlock(devnet);
    }
    return devnet;
  }

  test("are of one state of the chain while blocks are made and undone", async () => {
    const devnet = await largeDevnet();
    const listener = await serve(appOf(devnet), { host: "127.0.0.1", port: 0 });
    listeners.push(listener);
    const read = async () => {
      const response = await fetch(`http://127.0.0.1:${listener.port}/matches`);
      const matches = await response.json() as Match[];
      return { etag: response.headers.get("etag"), matches };
    };
    const blocks = new Map<string, number>();
    const note = async () => {
      const hash = devnet.tip().hash;
      const [row] = await world.store.sql<{ count: bigint }[]>`select count(*) as count from devnet_index_output`;
      blocks.set(hash, Number(row!.count));
    };
    await note();
    const reading = Promise.all(Array.from({ length: 12 }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 20));
      return await read();
    }));
    for (let i = 0; i < 6; i++) {
      await pay(devnet, bob.enterprise);
      await note();
      if (i % 2 === 1) {
        valueOf(await devnet.rollback({ blocks: 1 }, { drop: true }));
        await note();
      }
    }
    for (const { etag, matches } of await reading) {
      expect(matches.length).toBeGreaterThan(2_400);
      expect(matches.length).toBe(blocks.get(etag!));
      const refs = new Set(matches.map(({ transaction_id, output_index }) => `${transaction_id}#${output_index}`));
      expect(refs.size).toBe(matches.length);
    }
  });

  test("that a client leaves free their connection", async () => {
    const devnet = await largeDevnet();
    const listener = await serve(appOf(devnet), { host: "127.0.0.1", port: 0 });
    listeners.push(listener);
    for (let i = 0; i < 20; i++) {
      const abort = new AbortController();
      const response = await fetch(`http://127.0.0.1:${listener.port}/matches`, { signal: abort.signal });
      await response.body!.getReader().read();
      abort.abort();
    }
    const response = await fetch(`http://127.0.0.1:${listener.port}/matches`);
    expect((await response.json() as Match[]).length).toBeGreaterThan(2_400);
  });
});
