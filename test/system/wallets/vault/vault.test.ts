/** The vault on a database and real threads: what opens a key, which wallet has it, and when it is erased. */
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { concat, fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import type { Builders } from "#src/threads/builders.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { verify } from "#src/cardano/keys/signingKey.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { startVaultSweep } from "#src/wallets/vault/sweep.ts";
import { createVault, type Vault } from "#src/wallets/vault/vault.ts";
import { walletId } from "#src/cardano/keys/account.ts";
import { byronPathKey, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { accountPath, policyPath } from "#src/cardano/keys/paths.ts";
import type { Mnemonic } from "#src/cardano/keys/types.ts";
import { runScript } from "../../../support/base/processes.ts";
import { type Infra, sharedInfra } from "../../../support/infra/infra.ts";
import { until } from "../../../support/base/until.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";

const PASSPHRASE = "Secure Passphrase";
const soon = () => ({ deadline: Date.now() + 30_000 });

let infra: Infra;
let store: Store;
let builders: Builders;
let vault: Vault;

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 4 });
  await migrate(store, migrationsOf("wallets/vault"));
  builders = startBuilders({ threads: 1, log: silentLog });
  vault = createVault({ store, builders });
});
afterAll(async () => {
  await builders?.stop();
  await store?.close();
  await infra?.stop();
});

/** A key that a wallet has adopted, as by the turn that creates it. */
async function wallet(mnemonic: Mnemonic = { style: "shelley", words: newMnemonic(15) }, passphrase = PASSPHRASE) {
  const paths = mnemonic.style === "random" ? [] : [accountPath(mnemonic.style)];
  const put = await vault.put({ mnemonic, passphrase, paths }, soon());
  if (!put.ok) throw new Error(put.error.message);
  const id = walletId(fromHex(put.value.root));
  await store.sql`insert into vault_adoption (wallet, attempt) values (${id}, ${put.value.attempt})`;
  return { id, mnemonic, ...put.value };
}

/** Nothing else may be written with a new seal. */
const record = () => Promise.resolve();

const keys = async () =>
  (await store.sql<{ attempt: string }[]>`select attempt from vault_key`).map((row) => row.attempt);
const message = utf8("a hash of some body");

describe("a wallet with its words", () => {
  test("signs with its passphrase only, and returns public keys that only a root key can derive", async () => {
    const { id } = await wallet();
    const paths = [[...accountPath("shelley"), 0, 7], policyPath()];
    const signed = await vault.sign(id, { passphrase: PASSPHRASE, message, paths }, soon());
    const result = await vault.publicKeys(id, { passphrase: PASSPHRASE, paths }, soon());
    if (!signed.ok || !result.ok) throw new Error("not opened");
    expect(signed.value.map(({ key, chainCode }) => toHex(concat(key, chainCode)))).toEqual(result.value);
    for (const { key, signature } of signed.value) expect(verify(key, message, signature)).toBe(true);
    const refused = { ok: false, error: { code: "wrong_encryption_passphrase", details: { wallet_id: id } } };
    expect(await vault.sign(id, { passphrase: "another one", message, paths }, soon())).toMatchObject(refused);
    expect(await vault.publicKeys(id, { passphrase: "", paths }, soon())).toMatchObject(refused);
    expect(await vault.verify(id, "another one", soon())).toMatchObject(refused);
    expect(await vault.verify(id, PASSPHRASE, soon())).toEqual({ ok: true, value: null });
  });

  test("signs many messages in their order, and opens its key for some hundred signatures together", async () => {
    const { id } = await wallet();
    const opened: number[] = [];
    const counting: Pick<Builders, "run"> = {
      run: (job, input, options) => {
        opened.push((input as unknown as { wanted: readonly unknown[] }).wanted.length);
        return builders.run(job, input, options);
      },
    };
    const counts = [1, 0, 2, 100, 30, 140, 3];
    const wanted = counts.map((count, i) => ({
      message: utf8(`body ${i}`),
      paths: Array.from({ length: count }, (_, index) => [...accountPath("shelley"), 0, index]),
    }));
    const many = createVault({ store, builders: counting });
    const signed = await many.signAll(id, { passphrase: PASSPHRASE, wanted }, soon());
    if (!signed.ok) throw new Error(signed.error.message);
    expect(opened).toEqual([4, 1, 1, 1]);
    expect(signed.value.map(({ length }) => length)).toEqual(counts);
    wanted.forEach(({ message }, i) => {
      const one = signed.value[i]!.at(-1);
      if (one) expect(verify(one.key, message, one.signature)).toBe(true);
    });
    opened.length = 0;
    expect(await many.signAll(id, { passphrase: "another one", wanted }, soon())).toMatchObject({
      error: { code: "wrong_encryption_passphrase" },
    });
    expect(opened).toEqual([4]);
  });

  test("accepts a new passphrase for the old one, and for its words", async () => {
    const { id, mnemonic, state } = await wallet();
    const before = (await vault.states([id])).get(id)!;
    expect(before.method).toBe("argon2id-v2");
    expect(state).toEqual(before);
    const wrong = await vault.changePassphrase(id, { old: "another one", next: "the third one", record }, soon());
    expect(wrong).toMatchObject({ error: { code: "wrong_encryption_passphrase" } });
    expect((await vault.states([id])).get(id)).toEqual(before);
    const changed = await vault.changePassphrase(id, { old: PASSPHRASE, next: "the second one", record }, soon());
    if (!changed.ok) throw new Error(changed.error.message);
    const { attempt: _, ...changedState } = changed.value;
    expect((await vault.states([id])).get(id)).toEqual(changedState);
    expect(changed.value.updatedAt).toBeGreaterThan(before.updatedAt);
    expect((await vault.verify(id, PASSPHRASE, soon())).ok).toBe(false);
    expect((await vault.verify(id, "the second one", soon())).ok).toBe(true);
    const others = { mnemonic: { words: newMnemonic(15) }, next: "the third one", record };
    expect(await vault.resetPassphrase(id, others, soon())).toMatchObject({ error: { code: "wrong_mnemonic" } });
    const second = { words: mnemonic.words, secondFactor: newMnemonic(9) };
    expect(await vault.resetPassphrase(id, { mnemonic: second, next: "x", record }, soon())).toMatchObject({
      error: { code: "wrong_mnemonic" },
    });
    expect((await vault.verify(id, "the second one", soon())).ok).toBe(true);
    const reset = await vault.resetPassphrase(
      id,
      { mnemonic: { words: mnemonic.words }, next: "the third one", record },
      soon(),
    );
    expect(reset.ok).toBe(true);
    expect((await vault.verify(id, "the third one", soon())).ok).toBe(true);
  });

  test("of two concurrent changes one is made, and its passphrase opens the key", async () => {
    const { id } = await wallet();
    const next = ["the second one", "the third one"];
    const both = await Promise.all(
      next.map((to) => vault.changePassphrase(id, { old: PASSPHRASE, next: to, record }, soon())),
    );
    expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    const open = await Promise.all(next.map((to) => vault.verify(id, to, soon())));
    expect(open.map(({ ok }) => ok)).toEqual(both.map(({ ok }) => ok));
  });

  test("keeps its passphrase if the writes of a change fail", async () => {
    const { id, mnemonic } = await wallet();
    const before = (await vault.states([id])).get(id)!;
    const record = () => Promise.reject(new Error("the log is full"));
    const change = { old: PASSPHRASE, next: "the second one", record };
    await expect(vault.changePassphrase(id, change, soon())).rejects.toThrow("the log is full");
    const reset = { mnemonic: { words: mnemonic.words }, next: "the second one", record };
    await expect(vault.resetPassphrase(id, reset, soon())).rejects.toThrow("the log is full");
    expect((await vault.states([id])).get(id)).toEqual(before);
    expect((await vault.verify(id, PASSPHRASE, soon())).ok).toBe(true);
  });

  test("that was deleted in the meantime changes nothing, and records nothing", async () => {
    const { id, attempt } = await wallet();
    let recorded = 0;
    const record = () => Promise.resolve(void recorded++);
    const gone = createVault({
      store,
      builders: {
        // the turn of the delete is written while the key is being sealed
        run: async (name, input, options) => {
          const done = await builders.run(name, input, options);
          await store.sql`delete from vault_adoption where wallet = ${id}`;
          return done;
        },
      },
    });
    const changed = await gone.changePassphrase(id, { old: PASSPHRASE, next: "the second one", record }, soon());
    expect(changed).toMatchObject({ ok: false, error: { code: "no_root_key" } });
    expect(recorded).toBe(0);
    await vault.erase(attempt);
  });

  describe("with wrong passphrases", () => {
    /** Ends the wait of a closed key. */
    const pass = (attempt: string) =>
      store.sql`update vault_key set closed_until = closed_until - interval '1 day' where attempt = ${attempt}`;
    const code = async (tried: Promise<{ ok: true } | { ok: false; error: { code: string; details?: unknown } }>) => {
      const result = await tried;
      return result.ok ? "right" : result.error.code;
    };
    const wrong = "wrong_encryption_passphrase";
    const tooMany = "too_many_wrong_passphrases";

    /** Makes the next wrong one close the key for longer than any test takes. */
    const strict = (attempt: string) => store.sql`update vault_key set wrong = 20 where attempt = ${attempt}`;

    test("is closed from the fifth on for increasing times, also to the right one, and opens to it after the wait", async () => {
      const { id, attempt } = await wallet();
      // another process on the same database
      const elsewhere = createVault({ store, builders });
      const guess = (of: Vault = vault, passphrase = "another one") => of.verify(id, passphrase, soon());
      const clock = async () => {
        const [row] = await store.sql<{ now: number; until: number }[]>`
          select extract(epoch from now())::float8 as now, extract(epoch from closed_until)::float8 as until
          from vault_key where attempt = ${attempt}`;
        return row!;
      };
      for (let i = 0; i < 4; i++) expect(await code(guess(i % 2 ? vault : elsewhere))).toBe(wrong);
      expect((await clock()).until).toBe(-Infinity);
      for (const wait of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
        const before = await clock();
        expect(await code(guess())).toBe(wrong);
        const { now, until } = await clock();
        expect(until).toBeGreaterThanOrEqual(before.now + wait);
        expect(until).toBeLessThanOrEqual(now + wait);
        await store.sql`update vault_key set closed_until = now() + interval '30 minutes' where attempt = ${attempt}`;
        const refused = await guess(elsewhere, PASSPHRASE);
        if (refused.ok) throw new Error("it is open");
        expect(refused.error.code).toBe(tooMany);
        const { retry_after: seconds } = refused.error.details as { retry_after: number };
        expect(seconds).toBeGreaterThan(0);
        expect(seconds).toBeLessThanOrEqual(1_800);
        await pass(attempt);
      }
      expect(await code(guess(vault, PASSPHRASE))).toBe("right");
      // and the count starts again
      for (let i = 0; i < 4; i++) expect(await code(guess())).toBe(wrong);
      expect(await code(guess(vault, PASSPHRASE))).toBe("right");
    });

    test("reveals no more for many at once than for one, and not which of them is right", async () => {
      const { id, attempt } = await wallet();
      await strict(attempt);
      const guesses = [...Array<string>(20).fill("another one"), PASSPHRASE];
      const said = await Promise.all(guesses.map((guess) => code(vault.verify(id, guess, soon()))));
      expect(said.filter((one) => one === wrong)).toHaveLength(1);
      expect(said.filter((one) => one === tooMany)).toHaveLength(20);
    });

    test("counts them for every operation, and opens to the words of the wallet", async () => {
      const { id, attempt, mnemonic } = await wallet();
      const passphrase = "another one";
      const path = accountPath("shelley");
      expect(await code(vault.sign(id, { passphrase, message, paths: [path] }, soon()))).toBe(wrong);
      expect(await code(vault.signAll(id, { passphrase, wanted: [{ message, paths: [path] }] }, soon()))).toBe(wrong);
      expect(await code(vault.publicKeys(id, { passphrase, paths: [path] }, soon()))).toBe(wrong);
      expect(await code(vault.changePassphrase(id, { old: passphrase, next: "x", record }, soon()))).toBe(wrong);
      const [{ counted }] = await store.sql<[{ counted: number }]>`
        select wrong as counted from vault_key where attempt = ${attempt}`;
      expect(counted).toBe(4);
      await strict(attempt);
      expect(await code(vault.verify(id, passphrase, soon()))).toBe(wrong);
      expect(await code(vault.changePassphrase(id, { old: PASSPHRASE, next: "x", record }, soon()))).toBe(tooMany);
      const reset = { mnemonic: { words: mnemonic.words }, next: "the second one", record };
      expect(await code(vault.resetPassphrase(id, reset, soon()))).toBe("right");
      expect(await code(vault.verify(id, "the second one", soon()))).toBe("right");
    });
  });

  test("of Byron signs for its addresses", async () => {
    const { id, root } = await wallet({ style: "random", words: newMnemonic(12) });
    const path = [2 ** 31, 2 ** 31 + 5];
    const result = await vault.publicKeys(id, { passphrase: PASSPHRASE, paths: [path] }, soon());
    const signed = await vault.sign(id, { passphrase: PASSPHRASE, message, paths: [path] }, soon());
    if (!result.ok || !signed.ok) throw new Error("not opened");
    expect(randomAddress({ pathKey: byronPathKey(root), path, key: result.value[0]!, magic: 42 })).toMatch(/^82d818/);
    expect(verify(signed.value[0]!.key, message, signed.value[0]!.signature)).toBe(true);
  });
});

test("a wallet without words has no root key", async () => {
  const id = "ab".repeat(20);
  const refused = { ok: false, error: { code: "no_root_key", details: { wallet_id: id } } };
  expect(await vault.sign(id, { passphrase: PASSPHRASE, message, paths: [] }, soon())).toMatchObject(refused);
  expect(await vault.verify(id, PASSPHRASE, soon())).toMatchObject(refused);
  expect(await vault.changePassphrase(id, { old: PASSPHRASE, next: PASSPHRASE, record }, soon())).toMatchObject(
    refused,
  );
  expect(await vault.resetPassphrase(id, { mnemonic: { words: newMnemonic(15) }, next: "x", record }, soon()))
    .toMatchObject(
      refused,
    );
  expect((await vault.states([id])).size).toBe(0);
});

describe("keys without a wallet", () => {
  test("are removed once they are old, and those of wallets never", async () => {
    const { attempt: kept } = await wallet();
    const put = await vault.put({
      mnemonic: { style: "shelley", words: newMnemonic(15) },
      passphrase: PASSPHRASE,
      paths: [],
    }, soon());
    if (!put.ok) throw new Error(put.error.message);
    expect(await vault.sweep()).toBe(0);
    expect(await keys()).toContain(put.value.attempt);
    expect(await createVault({ store, builders, strayMs: 0 }).sweep()).toBe(1);
    expect(await keys()).not.toContain(put.value.attempt);
    expect(await keys()).toContain(kept);
    const late = store.sql`insert into vault_adoption (wallet, attempt) values (${
      "00".repeat(20)
    }, ${put.value.attempt})`;
    await expect(late).rejects.toMatchObject({ code: "23503" });
  });

  test("are removed if their process is killed before the wallet's command", async () => {
    await createVault({ store, builders, strayMs: 0 }).sweep();
    const before = await keys();
    const settings = { databaseUrl: infra.databaseUrl, words: newMnemonic(15) };
    const child = runScript("wallets/vaultProcess.ts", "VAULT_PROCESS", settings);
    await once(child, "exit");
    expect(child.signalCode).toBe("SIGKILL");
    expect(await keys()).toHaveLength(before.length + 1);
    const swept = startVaultSweep({ vault: createVault({ store, builders, strayMs: 0 }), log: silentLog });
    await until("the key is gone", async () => (await keys()).length === before.length);
    await swept.stop();
    expect(await keys()).toEqual(before);
  });

  test("are erased after the delete and not before; the wallet created again has another", async () => {
    const { id, attempt, mnemonic } = await wallet();
    await vault.erase(attempt);
    expect(await keys()).toContain(attempt);
    await store.sql`delete from vault_adoption where wallet = ${id}`;
    expect(await vault.verify(id, PASSPHRASE, soon())).toMatchObject({ error: { code: "no_root_key" } });
    const again = await wallet(mnemonic, "the second one");
    expect(again.id).toBe(id);
    await vault.erase(attempt);
    await vault.erase(attempt);
    expect(await keys()).not.toContain(attempt);
    expect((await vault.verify(id, "the second one", soon())).ok).toBe(true);
  });
});

test("the tables contain neither words nor passphrase", async () => {
  const mnemonic = { style: "shelley" as const, words: newMnemonic(15) };
  await wallet(mnemonic);
  const [row] = await store.sql<{ all: string }[]>`select string_agg(k::text, ' ') as all from vault_key k`;
  for (const text of [PASSPHRASE, toHex(utf8(PASSPHRASE)), mnemonic.words.slice(0, 3).join(" ")]) {
    expect(row!.all).not.toContain(text);
  }
});
