/** Rows of a devnet with many accounts, representatives, actions and votes. */
import { insertUtxos } from "#src/devnet/blocks/writes.ts";
import { readGenesis } from "#src/devnet/genesis/genesis.ts";
import { genesisState } from "#src/devnet/index/rebuild.ts";
import type { EntryChange } from "#src/devnet/ledger/changes.ts";
import { storeEntries } from "#src/devnet/ledger/entries.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import type { Store } from "#src/store/store.ts";
import { type Greatness, makeGreat } from "../ledger/greatState.ts";

const TABLES = ["accounts", "pools", "dreps", "committee", "proposals", "votes", "governance", "snapshots", "blocks"];
/** Outputs that one statement inserts. */
const OUTPUTS = 5_000;

/** Adds to the rows of a devnet that is stopped and has no block; gives its state. */
export async function greatRows({ sql }: Store, greatness: Greatness): Promise<LedgerState> {
  const genesis = await readGenesis(sql);
  if (!genesis) throw new Error("there is no devnet");
  const state = genesisState(genesis);
  const utxos = makeGreat(state, greatness);
  const entries = TABLES.flatMap((kind) =>
    [...state[kind as "accounts"].entries()].map(([key, after]) => ({ kind, key, after }) as EntryChange)
  );
  await sql.begin(async (sql) => {
    await storeEntries(sql, entries, "after");
    for (let from = 0; from < utxos.length; from += OUTPUTS) {
      await insertUtxos(sql, utxos.slice(from, from + OUTPUTS), -1);
    }
  });
  return state;
}
