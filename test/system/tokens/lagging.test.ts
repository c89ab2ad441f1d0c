/** A token's actor lags behind the rows: builds use the rows. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { openStore, type Store } from "#src/store/store.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

describe("a token", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  let bus: Bus;
  let ask: Ask;
  let arbor: Arbor;
  const owner = new User();

  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    bus = await connectBus({
      url: infra.natsUrl,
      ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }),
    });
    ask = createAsk({ bus, store });
    arbor = await startService({ infra, mining: "submit" });
    await fund(arbor.devnet, arbor.tokens, owner);
  });
  afterAll(async () => {
    ask?.close();
    await bus?.close();
    await arbor?.end();
    await store?.close();
    await infra?.stop();
  });

  const path = (name: string, token: string) => `/transaction/${owner.address}/${name}/${token}`;
  const builds = (token: string) =>
    Promise.all([
      http(arbor.tokens, "POST", path("request-insert", token), { key: "k", newValue: "v" }),
      http(arbor.tokens, "GET", path("end-token", token)),
      http(arbor.tokens, "GET", path("update-token", token)),
    ]);

  it("that is live in the rows can be built for, although its actor still has it ended", async () => {
    const boot = await http(arbor.tokens, "GET", `/transaction/${owner.address}/boot-token`);
    const token = boot.body.value;
    await land(arbor.tokens, owner.sign(boot.body.unsignedTransaction));
    const before = (await builds(token)).map(({ status }) => status);
    expect(before).toEqual([200, 200, 409]);
    // like an actor that has not read that the block of its end was rolled back
    const passivate = async () => {
      const url = `${arbor.operator}/actors/token/${token}/passivate`;
      const said = await fetch(url, { method: "POST", headers: { "arbor-operator": "1" } });
      expect(await said.json()).toMatchObject({ passivated: true });
    };
    await passivate();
    await store.sql`update actor set state = 'ended', snapshot = jsonb_set(snapshot, '{value}', '"ended"')
      where kind = 'token' and id = ${token}`;
    expect((await builds(token)).map(({ status }) => status)).toEqual(before);
  });

  it("that is not in the rows is unknown, and not ended", async () => {
    const token = "ab".repeat(32);
    const bytes = (await store.sql<{ address: string }[]>`select address from chain_utxo limit 1`)[0]!.address;
    const inputs = { request: { type: "insert", address: bytes, key: "k", newValue: "v" }, end: { address: bytes } };
    for (const [name, input] of Object.entries(inputs)) {
      expect(await ask.build({ kind: "token", id: token }, name, input)).toMatchObject({
        ok: false,
        error: { code: "token_unknown" },
      });
    }
  });
});
