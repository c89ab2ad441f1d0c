/**
 * What a signing service does, with an owner and two requesters, each with a service and a wallet. No test waits by
 * itself before a call that changes something: a call that depends on a pending transaction waits for its block.
 */
import { execFile, spawnSync } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EMPTY_ROOT } from "#src/contract/datum.ts";
import type { Provider } from "../../support/service/provider.ts";
import { Scenario, scenarioProvider } from "../../support/service/scenario.ts";
import { SignerClient, signerEnv } from "../../support/service/signerClient.ts";

/** `deno task test:long` runs it on `yaci`, whose blocks and answers take longer. */
const provider = (process.env.SIGNER_PROVIDER as Provider | undefined) ?? scenarioProvider;

const shell = spawnSync("bash", ["-c", "command -v curl && command -v grep"]).status === 0;

describe(`three signing services, provider ${provider}`, () => {
  let scenario: Scenario;
  let charlie: SignerClient;
  let bob: SignerClient;
  let alice: SignerClient;

  beforeAll(async () => {
    const env = { ...signerEnv("charlie", "bob", "alice"), ARBOR_FACT_SLOTS: "true" };
    scenario = await Scenario.start({ provider, env });
    const at = (name: string) => new SignerClient(scenario.arbor.places.get(name)!);
    [charlie, bob, alice] = [at("signing service"), at("signing service 2"), at("signing service 3")];
    for (const one of [charlie, bob, alice]) {
      expect(await one.good("PUT", "/wallet/topup", { amount: 10_000 })).toEqual({ message: "Top up successful" });
    }
  });
  afterAll(async () => {
    const faults = await Promise.all([charlie, bob, alice].map((one) => one.faults()));
    await scenario?.stop();
    expect(faults).toEqual([[], [], []]);
  });

  it("shows the wallet, whose top-ups are spendable within two blocks", async () => {
    const wallet = await charlie.good("GET", "/wallet");
    expect(wallet).toMatchObject({
      walletAddress: expect.stringMatching(/^addr_test1/),
      address: wallet.walletAddress,
      signerHash: expect.stringMatching(/^[0-9a-f]{56}$/),
      owner: wallet.signerHash,
    });
    const before = await bob.lovelace();
    await bob.good("PUT", "/wallet/topup", { amount: 2.5 });
    await bob.sync();
    expect(await bob.lovelace()).toBe(before + 2_500_000n);
    expect(wallet.utxos[0]).toEqual({
      input: { outputIndex: expect.any(Number), txHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      output: { address: wallet.walletAddress, amount: [{ unit: "lovelace", quantity: "10000000000" }] },
    });
  });

  it("creates a token and ends it", async () => {
    const token = await charlie.boot();
    await charlie.sync();
    const listed = await charlie.good("GET", "/tokens");
    expect(listed.tokens.map(({ tokenId }: { tokenId: string }) => tokenId)).toContain(token);
    expect((await bob.token(token)).state).toEqual({
      owner: (await charlie.good("GET", "/wallet")).owner,
      root: EMPTY_ROOT,
    });
    expect(await bob.refused("DELETE", `/token/${token}`)).toEqual([403, "not_owner"]);
    expect(await charlie.good("DELETE", `/token/${token}`)).toEqual({
      txHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    await charlie.sync();
    expect(await charlie.refused("GET", `/token/${token}`)).toEqual([404, "token_ended"]);
    expect(await charlie.refused("DELETE", `/token/${token}`)).toEqual([404, "token_ended"]);
  });

  it("requests, inspects and retracts, for the request's owner alone", async () => {
    const token = await charlie.boot();
    const inserted = await bob.request(token, { operation: "insert", key: "abc", value: "value" });
    expect(inserted).toMatch(/^[0-9a-f]{64}-0$/);
    const { requests } = await alice.token(token);
    expect(requests).toEqual([expect.objectContaining({
      outputRefId: inserted,
      owner: (await bob.good("GET", "/wallet")).owner,
      change: { type: "insert", operation: "insert", key: "abc", value: "value", newValue: "value" },
      ...{ id: inserted, operation: "insert", key: "abc", value: "value" },
    })]);
    expect(await alice.good("GET", `/token/${token}/requests`)).toMatchObject({
      requests: [{ id: inserted, key: "abc" }],
    });
    expect(await charlie.refused("DELETE", `/request/${inserted}`)).toEqual([403, "not_owner"]);
    expect(await bob.refused("PUT", `/token/${token}`, { requestIds: [inserted] })).toEqual([403, "not_owner"]);
    expect(await bob.good("DELETE", `/request/${inserted}`)).toEqual({
      txHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      value: null,
    });
    expect((await alice.token(token)).requests).toEqual([]);
    expect(await bob.refused("DELETE", `/request/${inserted}`)).toEqual([404, "request_unknown"]);
    await charlie.good("DELETE", `/token/${token}`);
  });

  it("applies requests of several users, under the names of both versions", async () => {
    const token = await charlie.boot();
    const first = [
      await bob.request(token, { type: "insert", key: "a", newValue: "1" }),
      await alice.request(token, { operation: "insert", key: "b", value: "2" }),
    ];
    const { value: root } = await charlie.apply(token, first);
    expect(await bob.facts(token)).toEqual({
      a: { value: "1", slot: expect.any(Number) },
      b: { value: "2", slot: expect.any(Number) },
    });
    expect((await alice.token(token)).root).toBe(root);
    const second = [
      await alice.request(token, { type: "update", key: "a", oldValue: "1", newValue: "3" }),
      await bob.request(token, { operation: "delete", key: "b", value: "2" }),
    ];
    await charlie.apply(token, second);
    expect(await alice.facts(token)).toEqual({ a: { value: "3", slot: expect.any(Number) } });
    expect(await charlie.refused("PUT", `/token/${token}`, { requestIds: [] })).toEqual([400, "bad_request"]);
    expect(await charlie.refused("PUT", `/token/${token}`, { requestIds: [first[0]] })).toEqual([409, "requests_fail"]);
    const third = await charlie.request(token, { type: "delete", key: "a", oldValue: "3" });
    expect((await charlie.apply(token, [third])).value).toBe(EMPTY_ROOT);
    await charlie.good("DELETE", `/token/${token}`);
  });

  it("refuses a request that could not be applied before its deposit is locked, unless it is forced", async () => {
    const token = await charlie.boot();
    const path = `/token/${token}/request`;
    const insert = { type: "insert", key: "planet", value: "Earth" };
    const update = { type: "update", key: "planet", oldValue: "Earth", newValue: "Mars" };
    expect(await bob.refused("POST", path, { type: "delete", key: "planet", value: "Earth" }))
      .toEqual([409, "fact_missing"]);
    expect(await bob.refused("POST", path, update)).toEqual([409, "fact_missing"]);
    const inserted = await bob.request(token, insert);
    // the insert is pending, and then open
    const conflict = { code: "fact_exists", details: { request: inserted } };
    expect(await alice.call("POST", path, insert)).toMatchObject({ status: 409, body: conflict });
    const updated = await alice.request(token, update);
    await bob.sync();
    expect(await bob.refused("POST", path, insert)).toEqual([409, "fact_exists"]);
    await charlie.apply(token, [inserted]);
    await charlie.apply(token, [updated]);
    // the update is pending, and then in a block
    for (const wait of [false, true]) {
      if (wait) await alice.sync();
      const before = await alice.lovelace();
      expect(await alice.refused("POST", path, insert)).toEqual([409, "fact_exists"]);
      expect(await alice.refused("POST", path, update)).toEqual([409, "fact_differs"]);
      expect(await alice.refused("POST", path, { type: "delete", key: "planet", value: "Earth" }))
        .toEqual([409, "fact_differs"]);
      expect(await alice.lovelace()).toBe(before);
    }
    const forced = await alice.good("POST", `${path}?force=true`, insert, { "idempotency-key": "forced" });
    expect((await alice.token(token)).requests).toEqual([expect.objectContaining({ id: forced })]);
    expect(await alice.refused("POST", path, insert, { "idempotency-key": "forced" }))
      .toEqual([409, "idempotency_key_reused"]);
    expect(await charlie.refused("PUT", `/token/${token}`, { requestIds: [forced] })).toEqual([409, "requests_fail"]);
    await alice.good("DELETE", `/request/${forced}`);
    await charlie.good("DELETE", `/token/${token}`);
  });

  it("gives the same root for the same facts, in whatever order they came", async () => {
    const [one, two] = [await charlie.boot(), await bob.boot()];
    const change = (key: string) => ({ type: "insert", key, value: `value of ${key}` });
    await charlie.apply(one, [await alice.request(one, change("a"))]);
    const { value } = await charlie.apply(one, [await alice.request(one, change("b"))]);
    await bob.apply(two, [await charlie.request(two, change("b"))]);
    expect((await bob.apply(two, [await charlie.request(two, change("a"))])).value).toBe(value);
    await charlie.good("DELETE", `/token/${one}`);
    await bob.good("DELETE", `/token/${two}`);
  });

  it("ends a token with open requests, whose deposits return", async () => {
    const token = await charlie.boot();
    const open = await bob.request(token, { type: "insert", key: "left", value: "open" });
    await bob.sync();
    const before = await bob.lovelace();
    await charlie.good("DELETE", `/token/${token}`);
    await bob.sync();
    await bob.good("DELETE", `/request/${open}`);
    await bob.sync();
    expect(await bob.lovelace()).toBeGreaterThan(before);
  });

  it("carries out twenty requests of one wallet at once, each one time", async () => {
    const token = await charlie.boot();
    await alice.sync();
    const keys = Array.from({ length: 20 }, (_, i) => `key ${i}`);
    const ids = await Promise.all(keys.map((key) => alice.request(token, { type: "insert", key, value: "x" })));
    expect(new Set(ids).size).toBe(20);
    const { requests } = await alice.token(token) as {
      requests: { outputRefId: string; change: { key: string } }[];
    };
    expect(requests.map(({ outputRefId }) => outputRefId).sort()).toEqual([...ids].sort());
    expect(requests.map(({ change }) => change.key).sort()).toEqual([...keys].sort());
    await charlie.good("DELETE", `/token/${token}`);
  });

  it("applies requests in two updates at once, the second after the block of the first", async () => {
    const token = await charlie.boot();
    const change = (key: string) => ({ type: "insert", key, value: "x" });
    const [one, two] = [await bob.request(token, change("one")), await alice.request(token, change("two"))];
    await bob.sync();
    const updates = await Promise.all([charlie.apply(token, [one]), charlie.apply(token, [two])]);
    expect(new Set(updates.map(({ txHash }) => txHash)).size).toBe(2);
    expect(Object.keys(await bob.facts(token)).sort()).toEqual(["one", "two"]);
    await charlie.good("DELETE", `/token/${token}`);
  });

  it("carries out a request once under an idempotency key", async () => {
    const token = await charlie.boot();
    await bob.sync();
    const change = { type: "insert", key: "once", value: "1" };
    const ids = await Promise.all([1, 2, 3].map(() => bob.request(token, change, "once")));
    expect(new Set([...ids, await bob.request(token, change, "once")]).size).toBe(1);
    expect((await bob.token(token)).requests).toHaveLength(1);
    const other = { ...change, value: "2" };
    expect(await bob.refused("POST", `/token/${token}/request`, other, { "idempotency-key": "once" }))
      .toEqual([409, "idempotency_key_reused"]);
    const boots = await Promise.all(
      [1, 2].map(() => bob.good("POST", "/token", undefined, { "idempotency-key": "boot" })),
    );
    expect(boots[0]).toEqual(boots[1]);
    await bob.good("DELETE", `/token/${boots[0].tokenId}`);
    await charlie.good("DELETE", `/token/${token}`);
  });

  it("refuses nonsense with a code, and unknown things as unknown", async () => {
    const token = await charlie.boot();
    const unknown = "ab".repeat(32);
    const request = `/token/${token}/request`;
    const nonsense: readonly (readonly [method: string, path: string, body: unknown, code: string])[] = [
      ["PUT", "/wallet/topup", {}, "bad_request"],
      ["PUT", "/wallet/topup", { amount: "10" }, "bad_request"],
      ["PUT", "/wallet/topup", { amount: -1 }, "bad_request"],
      ["PUT", "/wallet/topup", { amount: 1e-7 }, "bad_request"],
      ["PUT", "/wallet/topup", "{", "malformed_json"],
      ["POST", "/token", "nonsense", "malformed_json"],
      ["POST", "/token", { owner: 1 }, "bad_request"],
      ["POST", request, undefined, "malformed_json"],
      ["POST", request, [], "bad_request"],
      ["POST", request, { key: "a", value: "b" }, "bad_request"],
      ["POST", request, { type: "insert", operation: "delete", key: "a", value: "b" }, "bad_request"],
      ["POST", request, { type: "append", key: "a", value: "b" }, "bad_request"],
      ["POST", request, { type: "insert", key: 1, value: "b" }, "bad_request"],
      ["POST", request, { type: "insert", key: "a" }, "bad_request"],
      ["POST", request, { type: "update", key: "a", value: "b" }, "bad_request"],
      ["PUT", `/token/${token}`, {}, "bad_request"],
      ["PUT", `/token/${token}`, { requestIds: "all" }, "bad_request"],
      ["PUT", `/token/${token}`, { requestIds: ["nonsense"] }, "bad_request"],
      ["DELETE", "/token/nonsense", undefined, "bad_request"],
      ["DELETE", "/request/nonsense", undefined, "bad_request"],
    ];
    for (const [method, path, body, code] of nonsense) {
      expect([method, path, body, ...await charlie.refused(method, path, body)]).toEqual([
        method,
        path,
        body,
        400,
        code,
      ]);
    }
    const change = { type: "insert", key: "a", value: "b" };
    expect(await charlie.refused("POST", `/token/${unknown}/request`, change)).toEqual([404, "token_unknown"]);
    expect(await charlie.refused("PUT", `/token/${unknown}`, { requestIds: [`${unknown}-0`] }))
      .toEqual([404, "token_unknown"]);
    expect(await charlie.refused("DELETE", `/token/${unknown}`)).toEqual([404, "token_unknown"]);
    expect(await charlie.refused("DELETE", `/request/${unknown}-0`)).toEqual([404, "request_unknown"]);
    expect(await charlie.refused("POST", "/token", { owner: "ab".repeat(28) })).toEqual([403, "not_owner"]);
    expect(await charlie.refused("POST", "/token", {}, { "idempotency-key": "a key" })).toEqual([400, "bad_request"]);
    await charlie.good("DELETE", `/token/${token}`);
  });

  it("carries out the examples of its document", async () => {
    const { paths } = await (await fetch(`${charlie.base}/openapi.json`)).json();
    const bodyOf = (method: string, path: string) =>
      paths[path][method].requestBody.content["application/json"].example as object;
    await charlie.good("PUT", "/wallet/topup", bodyOf("put", "/wallet/topup"));
    const { tokenId } = await charlie.good("POST", "/token", bodyOf("post", "/token"));
    const change = bodyOf("post", "/token/{tokenId}/request") as { key: string; value: string };
    const ids = [await charlie.request(tokenId, change)];
    await charlie.good("PUT", `/token/${tokenId}`, { ...bodyOf("put", "/token/{tokenId}"), requestIds: ids });
    expect(await charlie.facts(tokenId)).toMatchObject({ [change.key]: { value: change.value } });
    await charlie.good("DELETE", `/token/${tokenId}`);
  });

  it.skipIf(!shell)(
    "has a page whose links work, and whose examples run when they are copied into a shell",
    async () => {
      const page = await fetch(charlie.base);
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      const text = await page.text();
      expect(text).not.toContain("{origin}");
      for (const [, link] of text.matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
        const answer = await fetch(charlie.base + link);
        await answer.body?.cancel();
        expect([link, answer.status]).toEqual([link, 200]);
      }
      const examples = [...text.matchAll(/<pre>([^]*?)<\/pre>/g)].map(([, code]) => code!);
      expect(examples.length).toBeGreaterThan(1);
      // not synchronously: the NATS endpoint of the service is in this process
      const { stdout } = await promisify(execFile)("bash", ["-ec", examples.join("\n")]);
      expect(stdout).toMatch(/"planet":\{"value":"Earth","slot":\d+\}/);
    },
  );
});
