/**
 * A change of a wallet and its key succeeds as a whole or changes nothing, whatever the actor answers and whichever
 * process dies in between.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import type { Builders } from "#src/threads/builders.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { appendInputs } from "#src/runtime/inputLog.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { createVault, type Vault } from "#src/wallets/vault/vault.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";

const LEASE = { ARBOR_LEASE_MS: "1500" };
const PASSPHRASE = "Secure Passphrase";
const NEXT = "Another Passphrase";
const soon = () => ({ deadline: Date.now() + 60_000 });

describe("a change of a wallet", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  let builders: Builders;
  let vault: Vault;
  let front: Arbor;
  let worker: Arbor;
  let client: WalletClient;

  const startWorker = () => Arbor.start({ infra, ownProcess: true, roles: "worker", env: LEASE });
  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    builders = startBuilders({ threads: 1, log: silentLog });
    vault = createVault({ store, builders });
    front = await Arbor.start({ infra, roles: "edge,devnet,follower", env: LEASE });
    worker = await startWorker();
    client = new WalletClient(front.wallets);
  });
  afterAll(async () => {
    for (const one of [worker, front]) await one?.end();
    await builders?.stop();
    await store?.close();
    await infra?.stop();
  });

  const words = () => newMnemonic(15);
  const create = async (mnemonic = words()) => {
    const { id } = await client.create({ name: "W", mnemonic_sentence: mnemonic, passphrase: PASSPHRASE });
    await until("it is live", async () => (await actor(id))?.state === "live");
    return id;
  };
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${front.wallets}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, code: text === "" ? undefined : (JSON.parse(text) as { code?: string }).code };
  };
  const operate = async (id: string, what: "pause" | "resume") => {
    const said = await fetch(`${front.operator}/actors/wallet/${id}/${what}`, {
      method: "POST",
      headers: { "arbor-operator": "1" },
    });
    expect(said.status, await said.text()).toBe(200);
  };
  const actor = async (id: string) => {
    const [row] = await store.sql<{ state: string }[]>`select state from actor where kind = 'wallet' and id = ${id}`;
    return row;
  };
  const changes = async (id: string) => {
    const rows = await store.sql`
      select 1 from outbox where kind = 'wallet' and id = ${id} and type = 'PASSPHRASE_CHANGED'`;
    return rows.length;
  };
  const row = async (id: string) => {
    const [row] = await store.sql<{ name: string; selection: string; policy: string | null; at: Date }[]>`
      select name, selection, policy_key as policy, passphrase_at as at from wallet where id = ${id}`;
    return row;
  };
  const opens = async (id: string, passphrase: string) => (await vault.verify(id, passphrase, soon())).ok;
  const keys = async () => (await store.sql`select 1 from vault_key`).length;
  const changePassphrase = (id: string) =>
    send("PUT", `/wallets/${id}/passphrase`, { old_passphrase: PASSPHRASE, new_passphrase: NEXT });

  it("of its passphrase is visible at once, and is one transition", async () => {
    const id = await create();
    const before = (await row(id))!.at;
    expect((await changePassphrase(id)).status).toBe(204);
    expect([await opens(id, PASSPHRASE), await opens(id, NEXT)]).toEqual([false, true]);
    const shown = (await client.wallet(id)).passphrase!.last_updated_at;
    expect(Date.parse(shown)).toBeGreaterThan(before.getTime());
    await until("the log is read", async () => {
      const unread = await store.sql`select 1 from input_log where id = ${id} and not read`;
      return unread.length === 0;
    });
    expect(await changes(id)).toBe(1);
  });

  it.each(["by the old one", "by the words"])(
    "of its passphrase %s is a success for a paused actor",
    async (how) => {
      const mnemonic = words();
      const id = await create(mnemonic);
      const before = (await row(id))!.at;
      await operate(id, "pause");
      const said = how === "by the words"
        ? await send("PUT", `/wallets/${id}/passphrase`, { mnemonic_sentence: mnemonic, new_passphrase: NEXT })
        : await changePassphrase(id);
      expect(said).toEqual({ status: 204, code: undefined });
      expect([await opens(id, PASSPHRASE), await opens(id, NEXT)]).toEqual([false, true]);
      expect((await row(id))!.at).toEqual(before);
      await operate(id, "resume");
      await until("the actor knows", async () => (await row(id))!.at > before);
      expect(await changes(id)).toBe(1);
    },
  );

  it("of its passphrase refused by the vault changes nothing", async () => {
    const id = await create();
    const before = (await row(id))!.at;
    const wrong = { old_passphrase: "none of them", new_passphrase: NEXT };
    expect(await send("PUT", `/wallets/${id}/passphrase`, wrong)).toEqual({
      status: 403,
      code: "wrong_encryption_passphrase",
    });
    expect(await opens(id, PASSPHRASE)).toBe(true);
    expect((await row(id))!.at).toEqual(before);
    expect(await changes(id)).toBe(0);
  });

  it("of its passphrase reaches the actor if the edge dies after the commit", async () => {
    const id = await create();
    const before = (await row(id))!.at;
    // everything that the edge does up to there, and nothing after it: no notification and no command
    const changed = await vault.changePassphrase(id, {
      old: PASSPHRASE,
      next: NEXT,
      record: (sql, { attempt, updatedAt, method }) =>
        appendInputs(sql, [{
          entity: { kind: "wallet", id },
          event: { type: "PASSPHRASE_CHANGED", attempt, passphrase: { at: updatedAt, method } },
        }]),
    }, soon());
    expect(changed.ok).toBe(true);
    await until("the actor knows", async () => (await row(id))!.at > before);
    expect(await changes(id)).toBe(1);
  });

  it("of its passphrase is a success while no worker runs", async () => {
    const id = await create();
    const before = (await row(id))!.at;
    await worker.end("SIGKILL");
    expect((await changePassphrase(id)).status).toBe(204);
    expect([await opens(id, PASSPHRASE), await opens(id, NEXT)]).toEqual([false, true]);
    worker = await startWorker();
    await until("the actor knows", async () => (await row(id))!.at > before);
    expect(await changes(id)).toBe(1);
  });

  it("is refused completely by a paused actor: name and settings, policy key, deletion", async () => {
    const id = await create();
    const before = await row(id);
    await operate(id, "pause");
    const paused = { status: 409, code: "paused" };
    expect(await send("PUT", `/wallets/${id}`, { name: "X", selection: "round-robin" })).toEqual(paused);
    expect(await send("POST", `/wallets/${id}/policy-key`, { passphrase: PASSPHRASE })).toEqual(paused);
    expect(await send("DELETE", `/wallets/${id}`)).toEqual(paused);
    expect(await row(id)).toEqual(before);
    await operate(id, "resume");
    expect(await row(id)).toEqual(before);
    expect(await opens(id, PASSPHRASE)).toBe(true);
    expect((await send("PUT", `/wallets/${id}`, { name: "X", selection: "round-robin" })).status).toBe(200);
    expect(await row(id)).toMatchObject({ name: "X", selection: "round-robin" });
    expect((await send("POST", `/wallets/${id}/policy-key`, { passphrase: PASSPHRASE })).status).toBe(202);
    expect((await row(id))!.policy).not.toBeNull();
  });

  it("made by an older release, without a policy key, sets the key by a request for it", async () => {
    const id = await create();
    const key = await client.policyKey(id);
    await store.sql`update wallet set policy_key = null where id = ${id}`;
    expect(await send("GET", `/wallets/${id}/policy-key`)).toEqual({ status: 403, code: "missing_policy_public_key" });
    expect(await client.makePolicyKey(id, PASSPHRASE)).toBe(key);
    expect(await client.policyKey(id)).toBe(key);
  });

  it("that creates it leaves no key if the actor refuses, and everything when it succeeds later", async () => {
    const mnemonic = words();
    const id = await create(mnemonic);
    expect((await send("DELETE", `/wallets/${id}`)).status).toBe(204);
    const before = await keys();
    await operate(id, "pause");
    const body = { name: "W", mnemonic_sentence: mnemonic, passphrase: NEXT };
    expect(await send("POST", "/wallets", body)).toEqual({ status: 409, code: "paused" });
    expect(await keys()).toBe(before);
    expect(await row(id)).toBeUndefined();
    await operate(id, "resume");
    expect((await send("POST", "/wallets", body)).status).toBe(201);
    expect(await keys()).toBe(before + 1);
    expect(await opens(id, NEXT)).toBe(true);
  });

  it("that deletes it also removes its key, and is done once the turn is written", async () => {
    const id = await create();
    const before = await keys();
    expect((await send("DELETE", `/wallets/${id}`)).status).toBe(204);
    expect(await keys()).toBe(before - 1);
    expect(await send("DELETE", `/wallets/${id}`)).toEqual({ status: 404, code: "no_such_wallet" });
  });

  it("that creates it again distinguishes the two in the index's events", async () => {
    const mnemonic = words();
    const id = await create(mnemonic);
    expect((await send("DELETE", `/wallets/${id}`)).status).toBe(204);
    // an unread row of the first one: it must not restore the second one
    await store.sql.begin((sql) =>
      appendInputs(sql, [{ entity: { kind: "wallet", id }, event: { type: "RESTORED", slot: 0, life: 1 } }])
    );
    await create(mnemonic);
    const rows = await until("all is read", async () => {
      const unread = await store.sql`select 1 from input_log where kind = 'wallet' and id = ${id}`;
      const rows = await store.sql<{ life: number }[]>`
        select (body->>'life')::int as life from outbox
        where kind = 'wallet' and id = ${id} and type = 'RESTORED' order by version`;
      return unread.length === 0 && rows.length >= 2 && [...rows];
    });
    expect(rows).toEqual([{ life: 1 }, { life: 2 }]);
  });
});
