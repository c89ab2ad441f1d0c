/** A token over a devnet's hard fork from protocol version 10 to 11: what was built before it is refused after it, and life goes on. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Arbor } from "../../support/arbor.ts";
import { sharedInfra } from "../../support/infra.ts";
import { until } from "../../support/until.ts";
import { fund, http, land, User } from "../../support/user.ts";

/** Slots of an epoch; a slot has 50 ms, and blocks are made when they are asked for. */
const EPOCH = 1_000;

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let arbor: Arbor;
const owner = new User("base");
const other = new User();
const get = (path: string) => http(arbor.tokens, "GET", path);
const build = (name: string, token = "") => get(`/transaction/${owner.address}/${name}${token && `/${token}`}`);
const send = (signedTransaction: string) => http(arbor.tokens, "POST", "/transaction", { signedTransaction });
const insert = (user: User, token: string, key: string) =>
  http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, { key, value: "v" });
const major = async () =>
  ((await http(arbor.devnet, "GET", "/parameters")).body as { protocolVersion: { major: number } }).protocolVersion
    .major;

beforeAll(async () => {
  infra = await sharedInfra();
  arbor = await Arbor.start({
    infra,
    env: {
      ARBOR_PROTOCOL_VERSION: "10",
      ARBOR_HARD_FORK_EPOCH: "1",
      ARBOR_EPOCH_SLOTS: String(EPOCH),
      ARBOR_BUILDERS: "1",
    },
  });
  for (const user of [owner, other]) await fund(arbor.devnet, arbor.tokens, user);
}, 60_000);
afterAll(async () => {
  await arbor?.end();
  await infra?.stop();
});

test("a token lives on over a hard fork, but not a transaction whose scripts were costed before it", async () => {
  const boot = await build("boot-token");
  const token = boot.body.value;
  await land(arbor.tokens, owner.sign(boot.body.unsignedTransaction));
  await land(arbor.tokens, owner.sign((await insert(owner, token, "a")).body.unsignedTransaction));
  const early = await insert(other, token, "b");
  const stale = await build("update-token", token);
  expect([early.status, stale.status, await major()]).toEqual([200, 200, 10]);
  const signedStale = owner.sign(stale.body.unsignedTransaction);

  await until("the hard fork", async () => await major() === 11, 90_000);

  // a request runs no scripts: what was built before is good after
  await land(arbor.tokens, other.sign(early.body.unsignedTransaction));
  const refused = await send(signedStale);
  expect(refused).toMatchObject({
    status: 422,
    body: { code: "refused_by_ledger", details: [{ name: "ScriptIntegrityHashMismatch" }] },
  });
  expect(JSON.stringify(refused.body)).toMatch(/built before these changed must be built again/);

  const again = await build("update-token", token);
  expect(again).toMatchObject({ status: 200, body: { applied: [expect.any(String), expect.any(String)] } });
  // version 11's models make other units, hence another fee
  expect(again.body.unsignedTransaction).not.toBe(stale.body.unsignedTransaction);
  await land(arbor.tokens, owner.sign(again.body.unsignedTransaction));
  expect((await get(`/token/${token}/facts`)).body).toEqual({ a: "v", b: "v" });

  // back over the boundary and forth: the index follows, and the token is what it was
  const { body: tip } = await http(arbor.devnet, "GET", "/tip");
  const undone = await http(arbor.devnet, "POST", "/rollback", { slot: EPOCH - 1 });
  expect(undone.status).toBe(200);
  expect((tip as { slot: number }).slot).toBeGreaterThanOrEqual(EPOCH);
  await until("the hard fork again", async () => await major() === 11, 30_000);
  const { applied } = again.body as { applied: string[] };
  await until(
    "the update is back in a block",
    async () => Object.keys((await get(`/token/${token}/facts`)).body).length === applied.length,
    30_000,
  );
  await land(arbor.tokens, owner.sign((await build("end-token", token)).body.unsignedTransaction));
}, 200_000);
