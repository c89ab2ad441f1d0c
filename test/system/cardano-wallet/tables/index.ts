/** All tables, in the order in which they run. */
import type { Table } from "../table.ts";
import { addresses } from "./addresses.ts";
import { byronAddresses, byronHwWallets, byronSelections, byronWallets } from "./byronWallets.ts";
import { sharedAddresses, sharedWallets } from "./sharedWallets.ts";
import { wallets } from "./wallets.ts";

export const tables: readonly Table[] = [
  wallets,
  addresses,
  sharedWallets,
  sharedAddresses,
  byronWallets,
  byronAddresses,
  byronSelections,
  byronHwWallets,
];
