/** The table of the vault that turns of wallets write. */
import type { OwnTable } from "#src/runtime/types.ts";

/** The row `{ wallet, attempt }` by which the creating turn adopts a key; the deleting turn removes it. */
export const vaultAdoption: OwnTable = { table: "vault_adoption", key: ["wallet"] };
