/** Where `wallet-key-export` finds the record of a wallet: a SQLite file of cardano-wallet, or the database of this server. */
import { existsSync, readFileSync } from "node:fs";
import type initSqlJs from "sql.js";
import { reason } from "#src/base/log.ts";
import { CliError } from "#src/cli/error.ts";
import { type KeyRecord, readRecord } from "#src/cli/keyExport/record.ts";
import { openStore } from "#src/store/store.ts";
import { keyOf } from "#src/vault/rows.ts";
import { unseal } from "#src/wallet/keys/seal.ts";

const none = (wallet: string) => new CliError(`Error: no private key found for wallet ${wallet}`);

/** The record in a SQLite file. The file is read whole and not changed. */
export async function fromFile(file: string, wallet: string): Promise<KeyRecord> {
  if (!existsSync(file)) throw new CliError(`Error: there is no file ${file}`);
  // with WebAssembly within it: a bundle of this program has no other file
  const module: { readonly default: typeof initSqlJs } = await import("sql.js/dist/sql-wasm-inline.js");
  const { Database } = await module.default();
  let rows: readonly (readonly unknown[])[];
  try {
    const database = new Database(readFileSync(file));
    rows = database.exec("SELECT root, hash FROM private_key WHERE wallet_id = ?", [wallet])[0]?.values ?? [];
    database.close();
  } catch (error) {
    throw new CliError(`Error: ${file} is no database of cardano-wallet: ${reason(error)}`);
  }
  if (rows.length > 1) throw new CliError("Error: unexpected number of rows in private_key table");
  const [row] = rows;
  if (!row) throw none(wallet);
  const [root, hash] = row;
  return readRecord(String(root), String(hash ?? ""));
}

/** The record in a PostgreSQL database of this server. */
export async function fromServer(url: string, wallet: string): Promise<KeyRecord> {
  const store = openStore(url, { max: 1, application: "wallet-key-export" });
  try {
    const row = await keyOf(store.sql, wallet);
    if (!row) throw none(wallet);
    return {
      type: row.style === "random" ? "Byron" : "Shelley",
      open: (passphrase) => unseal(row.sealed, passphrase),
    };
  } catch (error) {
    if (error instanceof CliError) throw error;
    // the URL may have a password
    throw new CliError(`Error: the database cannot be read: ${reason(error)}`);
  } finally {
    await store.close();
  }
}
