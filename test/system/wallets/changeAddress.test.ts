/** A random wallet's own change address: created once, with its root key, by a request with the passphrase. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { origin } from "#src/cardano/block.ts";
import { isByronKey } from "#src/cardano/byron.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { Builders } from "#src/threads/builders.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { enrol } from "#src/chain/index/groups.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { ensureChangeAddress } from "#src/wallets/vault/randomAddresses.ts";
import { createVault } from "#src/wallets/vault/vault.ts";
import { beginWallet, prepareWallet } from "#src/wallets/index/begin.ts";
import { readAddresses } from "#src/wallets/index/readAddresses.ts";
import { walletId } from "#src/cardano/keys/account.ts";
import { byronPathKey } from "#src/cardano/keys/byronAddress.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";

const PASSPHRASE = "Secure Passphrase";
const soon = () => ({ deadline: Date.now() + 30_000 });

let infra: Infra;
let store: Store;
let builders: Builders;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("runtime", "chain/index", "wallets/vault", "wallets/index", "wallets/seen"));
  builders = startBuilders({ threads: 1, log: silentLog });
});
afterAll(async () => {
  await builders?.stop();
  await store?.close();
  await infra?.stop();
});

it("is created if there is none, and has one of the wallet's keys", async () => {
  const vault = createVault({ store, builders });
  const put = await vault.put(
    { mnemonic: { style: "random", words: newMnemonic(12) }, passphrase: PASSPHRASE, paths: [] },
    soon(),
  );
  if (!put.ok) throw new Error(put.error.message);
  const { root, attempt } = put.value;
  const id = walletId(fromHex(root));
  await store.sql`insert into vault_adoption (wallet, attempt) values (${id}, ${attempt})`;
  const pathKey = Array.from(byronPathKey(root), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const prepared = await prepareWallet(
    { wallet: id, kind: "random", network: 0, pathKey },
    origin,
    () => Promise.resolve([]),
  );
  await store.sql.begin(async (sql) => void await beginWallet(sql, prepared, enrol));
  const ensure = (passphrase: string) =>
    ensureChangeAddress({ store, vault, magic: 42 }, { id, key: root }, passphrase, soon());
  expect(await ensure("another one")).toMatchObject({ ok: false, error: { code: "wrong_encryption_passphrase" } });
  expect((await readAddresses(store.sql, id, {})).addresses).toEqual([]);
  expect([await ensure(PASSPHRASE), await ensure(PASSPHRASE)]).toMatchObject([{ ok: true }, { ok: true }]);
  const { addresses } = await readAddresses(store.sql, id, {});
  expect(addresses).toHaveLength(1);
  const [{ address, path, used }] = addresses as [typeof addresses[number]];
  expect(used).toBe(false);
  expect(path[0]).toBe(HARD);
  expect(path[1]).toBeGreaterThanOrEqual(HARD);
  const signed = await vault.sign(id, { passphrase: PASSPHRASE, message: new Uint8Array(32), paths: [path] }, soon());
  if (!signed.ok) throw new Error(signed.error.message);
  const [{ key, chainCode }] = signed.value as [typeof signed.value[number]];
  expect(isByronKey(address, key, chainCode)).toBe(true);
});
