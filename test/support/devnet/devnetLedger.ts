/** The complete ledger state of a devnet, for comparison with answers of the ports. */
import type { Point } from "#src/cardano/block.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import type { At } from "#src/chain/provider/port.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { eachUtxo } from "#src/devnet/blocks/writes.ts";
import { type Genesis, readGenesis } from "#src/devnet/genesis/genesis.ts";
import { writeEntries } from "#src/devnet/ledger/changes.ts";
import { readEntries } from "#src/devnet/ledger/entries.ts";
import { type LedgerState, newState } from "#src/ledger/state.ts";
import type { Store } from "#src/store/store.ts";

/**
 * The complete ledger state, for queries that need all of it (current stake, the ranking of pools). Reads every output.
 * Undefined before a devnet exists.
 */
export function readLedger({ sql }: Store): Promise<(At<LedgerState> & { readonly genesis: Genesis }) | undefined> {
  return sql.begin("isolation level repeatable read read only", async (sql) => {
    const genesis = await readGenesis(sql);
    if (!genesis) return undefined;
    const { parameters, network } = genesis;
    const outputs = new Map<string, Output>();
    await eachUtxo(sql, ({ ref, output }) => outputs.set(refKey(ref), output));
    const state = newState({ parameters, network: network.id, outputs });
    writeEntries(state, await readEntries(sql), "after");
    const { slot, hash } = await readTip(sql);
    const point: Point = { slot, hash };
    return { point, value: state as LedgerState, genesis };
  });
}
