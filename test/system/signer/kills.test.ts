/**
 * A signing service that is killed in the middle of its requests. `test/long/signerProcesses.test.ts` has what else
 * belongs to services in processes of their own.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { SignerClient, signerEnv, SignerProcesses } from "../../support/service/signerClient.ts";

let services: SignerProcesses;
beforeAll(async () => {
  services = await SignerProcesses.start(signerEnv("owner"));
});
afterAll(() => services?.end());

it("loses no acknowledged request when it is killed, and repeats none under its key", async () => {
  const owner = new SignerClient(services.main.signer);
  await owner.good("PUT", "/wallet/topup", { amount: 1_000 });
  const token = await owner.boot();
  let victim = await services.signer("victim");
  await victim.client.good("PUT", "/wallet/topup", { amount: 5_000 });
  await victim.client.sync();
  const keys = Array.from({ length: 10 }, (_, i) => `key-${i}`);
  const send = (key: string) => victim.client.request(token, { type: "insert", key, value: "x" }, key);
  const acknowledged = new Map<string, string>();
  // killed while requests are under way: at once, after some answers
  for (const answers of [0, 3]) {
    const before = acknowledged.size;
    const killed = victim.arbor;
    const sending = keys.map(async (key) => {
      const id = await send(key).catch(() => undefined);
      if (id === undefined) return;
      expect([key, acknowledged.get(key) ?? id]).toEqual([key, id]);
      acknowledged.set(key, id);
      if (acknowledged.size - before >= answers) killed.signal("SIGKILL");
    });
    if (answers === 0) killed.signal("SIGKILL");
    await Promise.all(sending);
    await killed.end("SIGKILL");
    victim = await services.signer("victim");
  }
  const ids = await Promise.all(keys.map(send));
  for (const [key, id] of acknowledged) expect([key, ids[keys.indexOf(key)]]).toEqual([key, id]);
  expect(acknowledged.size).toBeGreaterThan(0);
  const { requests } = await owner.token(token) as { requests: { outputRefId: string }[] };
  expect(requests.map(({ outputRefId }) => outputRefId).sort()).toEqual([...ids].sort());
});
