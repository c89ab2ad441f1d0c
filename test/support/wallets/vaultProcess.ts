/** A process that puts a key into the vault and dies, as by kill -9, before a wallet adopts the key. */
import process from "node:process";
import { silentLog } from "#src/base/log.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { openStore } from "#src/store/store.ts";
import { createVault } from "#src/wallets/vault/vault.ts";

const { databaseUrl, words } = JSON.parse(process.env.VAULT_PROCESS!) as { databaseUrl: string; words: string[] };
const builders = startBuilders({ threads: 1, log: silentLog });
const vault = createVault({ store: openStore(databaseUrl, { max: 1 }), builders });
const put = await vault.put({ mnemonic: { style: "shelley", words }, passphrase: "Secure Passphrase", paths: [] }, {
  deadline: Date.now() + 30_000,
});
if (!put.ok) throw new Error(put.error.message);
process.kill(process.pid, "SIGKILL");
