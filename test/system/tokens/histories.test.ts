/**
 * Histories of facts and requests, over HTTP: on a real ledger with rollbacks, through the client, and after the
 * token's end.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { ApiError } from "#src/client/http.ts";
import type { CachedFacts, FactChange, PastRequest } from "#src/client/tokenFacts.ts";
import { TokenClient } from "#src/client/tokens.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of entries) found.push(one);
  return found;
}

/** Every number in some JSON, with its position. */
function* numbers(text: string): Generator<string> {
  // strings first, so that digits inside a string are not counted
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)) if (!token.startsWith('"')) yield token;
}

describe("histories", () => {
  let infra: Infra;
  let arbor: Arbor;
  let client: TokenClient;
  let token: string;
  const owner = new User("base");
  const other = new User("enterprise");

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra, env: { ARBOR_FACT_SLOTS: "true" } });
    client = new TokenClient(arbor.tokens);
    await Promise.all([owner, other].map((user) => fund(arbor.devnet, arbor.tokens, user)));
    const { unsignedTransaction, value } = await client.boot(owner.address);
    await landed(owner, unsignedTransaction);
    token = value;
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  const landed = (user: User, unsigned: string) => land(arbor.tokens, user.sign(unsigned));
  const requested = async (type: "insert" | "update" | "delete", body: Record<string, string>, user = other) => {
    const built = await http(arbor.tokens, "POST", `/transaction/${user.address}/request-${type}/${token}`, body);
    expect([built.status, built.body.code]).toEqual([200, undefined]);
    return `${await landed(user, built.body.unsignedTransaction)}-0`;
  };
  const applied = async (...requests: string[]) =>
    await landed(owner, (await client.apply(owner.address, token, requests)).unsignedTransaction);
  const slotOf = async (hash: string) => Number((await client.transaction(hash))!.slot);
  /** All entries of a list in pages. */
  // deno-lint-ignore no-explicit-any
  const pagesOf = async (path: string, entriesOf: (page: any) => any[]) => {
    // deno-lint-ignore no-explicit-any
    const found: any[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const answer: Response = await fetch(arbor.tokens + next);
      found.push(...entriesOf(await answer.json()));
      next = /<([^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    }
    return found;
  };
  /** The transaction of a request. */
  const made = (request: string) => request.slice(0, 64);

  /** The values of a key, oldest first, as `[value, transaction, request]`. */
  const had = async (key: string) =>
    (await all(client.factHistory(token, key))).map(({ value, txHash, outputRef }) => [value, txHash, outputRef])
      .reverse();

  it("of a key have every value with its slot, its transaction and its request", async () => {
    const [first, second, third] = [[] as string[], [] as string[], [] as string[]];
    first.push(await requested("insert", { key: "k", value: "1" }));
    first.push(await applied(first[0]!));
    second.push(await requested("update", { key: "k", oldValue: "1", value: "2" }));
    second.push(await applied(second[0]!));
    third.push(await requested("delete", { key: "k", value: "2", oldValue: "2" }));
    third.push(await applied(third[0]!));
    const changes: FactChange[] = await all(client.factHistory(token, "k"));
    const common = { key: "k", owner: other.keyHash };
    const at = async ([request, txHash]: string[]) => ({
      ...common,
      txHash,
      slot: await slotOf(txHash!),
      outputRefId: request,
      outputRef: request,
    });
    const hex = { one: toHex(utf8("1")), two: toHex(utf8("2")) };
    const [insertion, update, deletion] = [
      { type: "insert", operation: "insert", value: "1", newValue: "1", valueHex: hex.one },
      {
        ...{ type: "update", operation: "update", value: "2", oldValue: "1", newValue: "2" },
        ...{ valueHex: hex.two, oldValueHex: hex.one },
      },
      {
        ...{ type: "delete", operation: "delete", value: null, oldValue: "2" },
        ...{ valueHex: null, oldValueHex: hex.two },
      },
    ];
    expect(changes).toEqual([
      { ...await at(third), ...deletion },
      { ...await at(second), ...update },
      { ...await at(first), ...insertion },
    ]);
    const page = await http(arbor.tokens, "GET", `/token/${token}/facts/k/history?limit=2`);
    expect(page.body).toMatchObject({ tokenId: token, key: "k", status: "live", history: [{}, {}] });
  });

  it("support keys of every kind, in a path as they are, in hexadecimal and by their digests", async () => {
    const keys = [
      "",
      "a/b",
      "a%2Fb",
      "%",
      "a?b#c",
      ".",
      "..",
      "2024",
      "deadbeef",
      "\u0000",
      "history",
      "ключ 🗝",
      "a b+c",
    ];
    const requests: string[] = [];
    for (const key of keys) requests.push(await requested("insert", { key, value: `of ${key}` }));
    // several at once: as many as fit into one transaction
    for (let open = requests; open.length > 0;) {
      const { unsignedTransaction, applied } = await client.apply(owner.address, token);
      expect(applied.length).toBeGreaterThan(0);
      await landed(owner, unsignedTransaction);
      open = open.filter((one) => !applied.includes(one));
    }
    expect(await client.facts(token)).toEqual(Object.fromEntries(keys.map((key) => [key, `of ${key}`])));
    for (const key of keys) {
      const written = [
        ...(key === "." || key === ".." ? [] : [`${encodeURIComponent(key)}/history`]),
        `${toHex(utf8(key))}/history?encoding=hex`,
        `${toHex(blake2b256(utf8(key)))}/history?encoding=digest`,
      ];
      for (const path of written) {
        const { status, body } = await http(arbor.tokens, "GET", `/token/${token}/facts/${path}`);
        expect([path, status, body.key, body.history?.map((one: FactChange) => one.value)]).toEqual([
          path,
          200,
          key,
          [`of ${key}`],
        ]);
      }
      expect((await had(key)).map(([value]) => value)).toEqual([`of ${key}`]);
      expect((await all(client.history(token, { key }))).map(({ change }) => change.key)).toEqual([key]);
      const found: Record<string, string> = {};
      for await (const page of client.factPages(token, { prefix: key, limit: 3 })) Object.assign(found, page);
      expect(found).toEqual(
        Object.fromEntries(keys.filter((one) => one.startsWith(key)).map((one) => [one, `of ${one}`])),
      );
    }
    expect(await had("nobody's")).toEqual([]);
  });

  it("have an address of each request, before and after it ends", async () => {
    const request = await requested("insert", { key: "one \udcff", value: "1" });
    const read = (ref: string, query = "") => http(arbor.tokens, "GET", `/token/${token}/requests/${ref}${query}`);
    const open = await read(request);
    expect([open.status, open.body.status, open.body.closed]).toEqual([200, "open", undefined]);
    const closing = await applied(request);
    const { status, body } = await read(request.replace("-", "%23"), "?encoding=hex");
    const [listed] = await all(client.history(token, { key: Uint8Array.of(...utf8("one "), 0xff) }));
    const change = { ...listed!.change, key: toHex(utf8("one ")) + "ff", value: "31", newValue: "31" };
    expect([status, body]).toEqual([200, { ...listed, change }]);
    expect([body.status, body.closed.txHash]).toEqual(["applied", closing]);
    for (const [path, code] of [[`${"0".repeat(64)}-0`, "request_unknown"], ["x", "bad_request"]] as const) {
      const refused = await read(path);
      expect([refused.status, refused.body.code]).toEqual([code === "bad_request" ? 400 : 404, code]);
    }
  });

  it("of requests have the outcome of each, by status, key and owner, in pages", async () => {
    const open = await requested("insert", { key: "open", value: "1" });
    const mine = await requested("insert", { key: "mine", value: "1" }, owner);
    const taken = await requested("insert", { key: "taken", value: "1" });
    const back = await landed(other, (await client.retract(other.address, taken)).unsignedTransaction);
    const past: PastRequest[] = await all(client.history(token, { limit: 3 }));
    const find = (ref: string) => past.find(({ outputRefId }) => outputRefId === ref)!;
    expect(new Set(past.map(({ outputRef }) => outputRef)).size).toBe(past.length);
    expect(past.slice(0, 3).map(({ outputRef }) => outputRef)).toEqual([taken, mine, open]);
    expect(past.map(({ opened }) => opened.slot)).toEqual(past.map(({ opened }) => opened.slot).sort((a, b) => b - a));
    expect(find(open)).toEqual({
      outputRefId: open,
      outputRef: open,
      owner: other.keyHash,
      change: { type: "insert", operation: "insert", key: "open", value: "1", newValue: "1" },
      lovelace: expect.any(Number),
      fee: expect.any(Number),
      status: "open",
      opened: { slot: await slotOf(made(open)), txHash: made(open) },
    });
    expect(find(taken)).toMatchObject({
      status: "retracted",
      opened: { txHash: made(taken) },
      closed: { slot: await slotOf(back), txHash: back },
    });
    const those = async (query: Parameters<TokenClient["history"]>[1]) =>
      (await all(client.history(token, query))).map(({ outputRef }) => outputRef);
    expect(await those({ status: "open" })).toEqual([mine, open]);
    expect(await those({ status: "retracted" })).toEqual([taken]);
    expect(await those({ owner: owner.keyHash })).toEqual([mine]);
    expect(await those({ owner: other.keyHash, status: "open" })).toEqual([open]);
    expect(await those({ key: "taken", limit: 1 })).toEqual([taken]);
    expect(await those({ key: "k", status: "applied", limit: 1 })).toHaveLength(3);
    const done = await all(client.history(token, { status: "applied", limit: 4 }));
    expect(done.map(({ closed }) => closed!.slot)).toEqual(
      done.map(({ closed }) => closed!.slot).sort((a, b) => b - a),
    );
    expect(new Set(done.map(({ outputRef }) => outputRef))).toEqual(
      new Set(past.filter(({ status }) => status === "applied").map(({ outputRef }) => outputRef)),
    );
    await applied(open, mine);
  });

  it("come with the facts that changed since a state, and a tag", async () => {
    const before: CachedFacts = await client.refresh(token);
    expect(Object.fromEntries(before.facts)).toEqual(await client.facts(token));
    const path = `${arbor.tokens}/token/${token}/facts?since=${before.at.outputRefId}`;
    const tag = (await fetch(path)).headers.get("etag")!;
    const same = await fetch(path, { headers: { "if-none-match": tag } });
    expect([same.status, await same.text()]).toEqual([304, ""]);
    await applied(
      await requested("insert", { key: "later", value: "1" }),
      await requested("delete", { key: "mine", value: "1" }),
    );
    expect(await (await fetch(path, { headers: { "if-none-match": tag } })).json()).toMatchObject({
      facts: { later: { value: "1", slot: expect.any(Number) } },
      deleted: ["mine"],
    });
    const after = await client.refresh(token, before);
    expect(Object.fromEntries(after.facts)).toEqual(await client.facts(token));
    expect((await client.factsWithSlots(token)).later).toEqual({ value: "1", slot: after.at.slot });
  });

  it("are rolled back with the chain, and return unchanged with the same transactions", async () => {
    const held = await client.refresh(token);
    const request = await requested("insert", { key: "back", value: "1" });
    const hash = await applied(request);
    const ahead = await client.refresh(token, held);
    expect(ahead.facts.get("back")).toBe("1");
    const before = (await client.transaction(hash))!;
    const parent = (await client.transaction(made(request)))!;
    expect((await http(arbor.devnet, "POST", "/rollback", { slot: Number(parent.slot) - 1 })).status).toBe(200);
    // rolled back transactions return from the mempool, in other blocks
    await until("the transaction again", async () => {
      const again = await client.transaction(hash);
      return again !== undefined && again.block !== before.block;
    });
    const slot = await slotOf(hash);
    await until("the history again", async () => (await had("back")).length === 1);
    expect(await had("back")).toEqual([["1", hash, request]]);
    const [past] = await all(client.history(token, { key: "back" }));
    expect(past).toMatchObject({ status: "applied", closed: { slot: await slotOf(hash), txHash: hash } });
    expect(await client.factsWithSlots(token)).toMatchObject({ back: { value: "1", slot } });
    // the state is the same, so nothing changed since
    expect(Object.fromEntries((await client.refresh(token, ahead)).facts)).toEqual(Object.fromEntries(ahead.facts));
    const strange = { ...held, at: { ...held.at, outputRefId: `${"00".repeat(32)}-0` } };
    expect(Object.fromEntries((await client.refresh(token, strange)).facts)).toEqual(await client.facts(token));
    await expect(all(client.factPages(token, { limit: 1 }))).resolves.toHaveLength(ahead.facts.size);
  });

  it("of a token are one timeline by pages, and its open requests say what would happen to them", async () => {
    const booted = (await client.boot(owner.address)).value;
    const { unsignedTransaction } = await client.boot(owner.address);
    expect(booted).toMatch(/^[0-9a-f]{64}$/);
    const boot = await landed(owner, unsignedTransaction);
    const mine = (await http(arbor.tokens, "GET", "/tokens")).body.tokens.find((one: { booted: { txHash: string } }) =>
      one.booted.txHash === boot
    ).tokenId as string;
    const ask = async (type: string, body: Record<string, string>) => {
      const path = `/transaction/${other.address}/request-${type}/${mine}`;
      const built = await http(arbor.tokens, "POST", path, body);
      return `${await landed(other, built.body.unsignedTransaction)}-0`;
    };
    const open = async (query = "") => (await http(arbor.tokens, "GET", `/token/${mine}/requests${query}`)).body;
    const first = await ask("insert", { key: "planet", newValue: "Earth" });
    const second = await ask("insert", { key: "planet", newValue: "Mars" });
    const third = await ask("delete", { key: "moon", oldValue: "cheese" });
    expect(await open()).toMatchObject({
      status: "live",
      total: 3,
      requests: [
        { outputRefId: first, outlook: { applies: true, message: "It would be applied." } },
        {
          outputRefId: second,
          outlook: {
            applies: false,
            code: "fact_exists",
            message: "The key already has a value once an older request for it is applied.",
            older: first,
          },
        },
        { outputRefId: third, outlook: { applies: false, code: "fact_missing", message: "The key has no value." } },
      ],
    });
    const [one] = (await open("?encoding=hex&limit=1")).requests;
    expect(one).toEqual({
      outputRefId: first,
      outputRef: first,
      owner: other.keyHash,
      change: expect.objectContaining({ type: "insert", key: toHex(utf8("planet")), newValue: toHex(utf8("Earth")) }),
      refundAddress: other.address,
      lovelace: expect.any(Number),
      fee: expect.any(Number),
      opened: { slot: await slotOf(made(first)), txHash: made(first) },
      outlook: expect.any(Object),
    });
    const refs = await pagesOf(`/token/${mine}/requests?limit=1`, ({ requests }) => requests);
    expect(refs.map((one) => one.outputRefId)).toEqual([first, second, third]);
    expect((await open(`?owner=${owner.keyHash}`)).requests).toEqual([]);

    const built = await client.apply(owner.address, mine, [first], { refuse: [second] });
    const update = await landed(owner, built.unsignedTransaction);
    const retract = await landed(other, (await client.retract(other.address, third)).unsignedTransaction);
    const found = async (...queries: string[]) =>
      Object.keys((await http(arbor.tokens, "GET", `/token/${mine}/facts?slots=false&${queries.join("&")}`)).body);
    expect([await found("contains=lane"), await found("contains=arth"), await found("contains=mars")]).toEqual([
      ["planet"],
      ["planet"],
      [],
    ]);
    expect(await found("contains=6172&encoding=hex", "limit=5")).toEqual([toHex(utf8("planet"))]);
    expect([await found("contains=LAneT"), await found("contains=LAneT&ignoreCase=true")]).toEqual([[], ["planet"]]);
    expect((await http(arbor.tokens, "GET", `/token/${mine}/facts?contains=a&since=0`)).status).toBe(400);
    const handed = await client.transfer(owner.address, mine, other.address);
    const transfer = await land(arbor.tokens, other.sign(owner.sign(handed.unsignedTransaction)));
    const end = await landed(other, (await client.end(other.address, mine)).unsignedTransaction);
    const entries = await pagesOf(`/token/${mine}/timeline?limit=2`, (page) => page.entries);
    expect(entries.map(({ type, txHash, outputRefId }) => [type, txHash, outputRefId])).toEqual([
      ["ended", end, undefined],
      ["transferred", transfer, undefined],
      ["retracted", retract, third],
      ...built.applied[0]! < built.refused[0]!
        ? [["refused", update, second], ["applied", update, first]]
        : [["applied", update, first], ["refused", update, second]],
      ["requested", made(third), third],
      ["requested", made(second), second],
      ["requested", made(first), first],
      ["booted", boot, undefined],
    ]);
    expect((await http(arbor.tokens, "GET", `/token/${mine}/timeline`)).body).toMatchObject({ status: "ended" });
    expect((await http(arbor.tokens, "GET", `/token/${"00".repeat(32)}/timeline`)).status).toBe(404);
    expect((await http(arbor.tokens, "GET", `/token/${"00".repeat(32)}/requests`)).status).toBe(404);
  });

  it("include the contract and the network; no number in any answer has a fraction", async () => {
    const { status, body } = await http(arbor.tokens, "GET", "/config");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      address: expect.stringMatching(/^addr_test1w/),
      policyId: expect.stringMatching(/^[0-9a-f]{56}$/),
      network: { id: 0, magic: 42 },
      factSlots: true,
    });
    const validators = body.plutus.validators as { hash: string }[];
    expect(new Set(validators.map(({ hash }) => hash))).toEqual(new Set([body.policyId]));
    expect(body.versions.at(-1)).toMatchObject({ policyId: body.policyId, address: body.address });
    await requested("insert", { key: "1.5", value: "2.5" });
    const { txHash } = (await all(client.factHistory(token, "k")))[0]!;
    const paths = [
      ...["/tokens", "/config", "/health", "/ready", `/token/${token}`, `/transaction?txHash=${txHash}`],
      ...["", "?slots=true", "?since=0", "?limit=2", "/k", "/k/history"].map((rest) => `/token/${token}/facts${rest}`),
      ...["", "?status=open", "?status=applied&limit=1", "?status=retracted"].map((rest) =>
        `/token/${token}/history${rest}`
      ),
      ...["boot-token", `update-token/${token}`, `update-token/${token}?dryRun=true`].map((rest) =>
        `/transaction/${owner.address}/${rest}`
      ),
      ...["timeline", "requests", "requests?limit=1"].map((rest) => `/token/${token}/${rest}`),
      "/wait/0",
      "/nowhere",
    ];
    for (const path of paths) {
      const answer = await fetch(arbor.tokens + path);
      const text = await answer.text();
      expect([path, answer.status < 500]).toEqual([path, true]);
      expect([path, [...numbers(text)].filter((number) => !/^-?\d+$/.test(number))]).toEqual([path, []]);
    }
  });

  it("are available after the token's end", async () => {
    const before = { k: await had("k"), all: await all(client.history(token)) };
    await landed(owner, (await client.end(owner.address, token)).unsignedTransaction);
    await expect(client.facts(token)).rejects.toThrow(ApiError);
    expect({ k: await had("k"), all: await all(client.history(token)) }).toEqual(before);
    const { body } = await http(arbor.tokens, "GET", `/token/${token}/history?status=open`);
    expect(body.status).toBe("ended");
    const [left] = body.requests as PastRequest[];
    const back = await landed(other, (await client.retract(other.address, left!.outputRef)).unsignedTransaction);
    expect(await all(client.history(token, { status: "retracted" }))).toMatchObject([
      { outputRef: left!.outputRef, closed: { txHash: back } },
      {},
    ]);
    expect((await http(arbor.tokens, "GET", `/token/${"00".repeat(32)}/history`)).status).toBe(404);
    expect((await http(arbor.tokens, "GET", `/token/${"00".repeat(32)}/facts/k/history`)).status).toBe(404);
    expect((await http(arbor.tokens, "GET", `/token/${token}/history?after=e30`)).status).toBe(400);
    const nowhere = btoa(JSON.stringify({ request: `${"00".repeat(32)}#0` })).replace(/=+$/, "");
    expect((await http(arbor.tokens, "GET", `/token/${token}/history?after=${nowhere}`)).body.code).toBe("rolled_back");
  });
});
