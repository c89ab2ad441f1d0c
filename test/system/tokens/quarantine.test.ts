/** A token whose rows are damaged in the database: its clients' view, and its recovery by an operator. */
import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { actor, quarantinedTokens } from "#src/operators/api/operator.ts";
import { openStore, type Store } from "#src/store/store.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { type OperatorClient, operatorClient } from "../../support/runtime/operatorService.ts";
import { fund, http, land, User } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

let infra: Infra;
let store: Store;
let arbor: Arbor;
let operator: OperatorClient;
const user = new User();
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  arbor = await startService({ infra, mining: "submit" });
  operator = operatorClient(arbor.operator);
  await fund(arbor.devnet, arbor.tokens, user);
});
afterAll(async () => {
  await arbor?.end();
  await store?.close();
  await infra?.stop();
});

const get = (path: string) => http(arbor.tokens, "GET", path);
const signed = async (method: string, path: string, body?: unknown) => {
  const built = await http(arbor.tokens, method, `/transaction/${user.address}/${path}`, body);
  expect([path, built.status, built.body]).toEqual([path, 200, expect.anything()]);
  return { transaction: user.sign(built.body.unsignedTransaction), body: built.body };
};
const request = async (token: string, key: string, value: string) => {
  const { transaction } = await signed("POST", `request-insert/${token}`, { key, value });
  return `${await land(arbor.tokens, transaction)}-0`;
};
const release = (token: string) => operator.post(`/tokens/${token}/release?wait=60000`);

it("is quarantined, reported as such, and released by a replay: its facts are right, and it can be changed again", async () => {
  const booted = await signed("GET", "boot-token");
  const token = booted.body.value as string;
  await land(arbor.tokens, booted.transaction);
  const first = await request(token, "a", "1");
  await land(arbor.tokens, (await signed("GET", `update-token/${token}?request=${first}`)).transaction);
  const second = await request(token, "b", "2");
  const update = await signed("GET", `update-token/${token}?request=${second}`);
  expect((await get(`/token/${token}/facts`)).body).toEqual({ a: "1" });

  await store.sql`delete from fact where token = ${token}`;
  await land(arbor.tokens, update.transaction);
  const seen = await until("quarantine", async () => {
    const { body } = await get(`/token/${token}`);
    return body.status === "quarantined" && body;
  });
  expect(seen).toMatchObject({ root: update.body.mpfRoot, reason: expect.stringContaining("root") });
  const refusal = { status: 409, body: { code: "token_quarantined", details: { reason: seen.reason } } };
  expect(await get(`/token/${token}/facts`)).toMatchObject(refusal);
  expect(await get(`/token/${token}/facts/a`)).toMatchObject(refusal);
  const third = await until("a build that is refused", async () => {
    const answer = await http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, {
      key: "c",
      value: "3",
    });
    return answer.status !== 200 && answer;
  });
  expect(third).toMatchObject(refusal);
  const { tokens } = await operator.read("/tokens/quarantined", quarantinedTokens);
  expect(tokens).toEqual([{ tokenId: token, reason: seen.reason, slot: expect.any(Number) }]);

  // if the requests do not explain the state it stays, and the operator gets the reason
  await store.sql`update token_request_end set status = 'retracted' where token = ${token}`;
  expect(await release(token)).toMatchObject({
    status: 409,
    body: { code: "not_explained", error: expect.stringMatching(/is not explained/) },
  });
  expect((await get(`/token/${token}`)).body).toMatchObject({ status: "quarantined", reason: seen.reason });
  expect((await get("/tokens")).body.tokens).toContainEqual(
    expect.objectContaining({ tokenId: token, status: "quarantined" }),
  );
  await store.sql`update token_request_end set status = 'applied' where token = ${token}`;

  expect(await release(token)).toMatchObject({
    status: 200,
    body: { tokenId: token, status: "live", root: update.body.mpfRoot, facts: 2 },
  });
  expect((await get(`/token/${token}`)).body.status).toBe("live");
  expect((await get(`/token/${token}/facts`)).body).toEqual({ a: "1", b: "2" });
  expect((await get(`/token/${token}/facts/b`)).status).toBe(200);
  expect((await operator.read("/tokens/quarantined", quarantinedTokens)).tokens).toEqual([]);

  // its actor is notified by the log
  const ref = await until("a build", async () => {
    const { status, body } = await http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, {
      key: "c",
      value: "3",
    });
    return status === 200 && `${await land(arbor.tokens, user.sign(body.unsignedTransaction))}-0`;
  });
  const last = await signed("GET", `update-token/${token}?request=${ref}`);
  await land(arbor.tokens, last.transaction);
  expect((await get(`/token/${token}`)).body).toMatchObject({ status: "live", root: last.body.mpfRoot });
  expect((await get(`/token/${token}/facts`)).body).toEqual({ a: "1", b: "2", c: "3" });

  const command = ["run", "-A", "src/cli/main.ts", "release", token, "--operator", arbor.operator];
  const { stdout } = await promisify(execFile)(process.execPath, command);
  expect(stdout.trim()).toBe(last.body.mpfRoot);

  await land(arbor.tokens, (await signed("GET", `end-token/${token}`)).transaction);
  expect(await release(token)).toMatchObject({ status: 404, body: { code: "token_ended" } });
  expect(await release("ee".repeat(32))).toMatchObject({ status: 404, body: { code: "token_unknown" } });
  expect(await release("x")).toMatchObject({ status: 400 });
  expect(await operator.call("POST", `/tokens/${token}/release`, undefined, { "arbor-operator": undefined }))
    .toMatchObject({ status: 403, body: { code: "header_missing" } });
});

it("is refused as soon as its rows say so, before its actor has read of it; it can be ended", async () => {
  const booted = await signed("GET", "boot-token");
  const token = booted.body.value as string;
  await land(arbor.tokens, booted.transaction);
  const open = await request(token, "a", "1");
  await store.sql`insert into token_quarantine (token, reason, from_slot)
    select token, 'not explained', from_slot from token_state where token = ${token}`;

  const refusal = { status: 409, body: { code: "token_quarantined", details: { reason: "not explained" } } };
  const path = (name: string) => `/transaction/${user.address}/${name}/${token}`;
  expect(await http(arbor.tokens, "POST", path("request-insert"), { key: "b", value: "2" })).toMatchObject(refusal);
  expect(await get(`${path("update-token")}?request=${open}`)).toMatchObject(refusal);
  expect(await get(`${path("transfer-token")}?to=${user.address}`)).toMatchObject(refusal);
  expect((await operator.read(`/actors/token/${token}`, actor)).state).toBe("live");
  expect((await get(path("end-token"))).status).toBe(200);
});

it("whose actor a later version of the program changed is refused until that version runs, and nothing is lost", async () => {
  const booted = await signed("GET", "boot-token");
  const token = booted.body.value as string;
  await land(arbor.tokens, booted.transaction);
  await request(token, "a", "1");
  const versionOf = async () =>
    (await store.sql<{ machine_version: number }[]>`
      select machine_version from actor where kind = 'token' and id = ${token}`)[0]!.machine_version;
  const version = await versionOf();
  // a turn of the actor, which may still be reading the request, writes its own version over this one
  const setVersion = (to: number) =>
    until("the version is stored and the token has left memory", async () => {
      await store.sql`update actor set machine_version = ${to} where kind = 'token' and id = ${token}`;
      expect((await operator.post(`/actors/token/${token}/passivate`)).status).toBe(200);
      const { body } = await http(arbor.operator, "GET", `/actors/token/${token}`);
      return body.mailbox?.resident === false && await versionOf() === to;
    });
  const build = () =>
    http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, { key: "b", value: "2" });
  await setVersion(version + 98);
  const refused = await build();
  expect([refused.status, refused.body.code]).toEqual([503, "newer_version"]);
  expect(refused.body.error).toContain("later version of Arbor");
  await setVersion(version);
  expect((await build()).status).toBe(200);
});
