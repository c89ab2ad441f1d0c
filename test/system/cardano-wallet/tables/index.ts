/** All tables, in the order in which they run. */
import type { Table } from "../table.ts";
import { addresses } from "./addresses.ts";
import { coinSelections } from "./coinSelections.ts";
import { hwWallets } from "./hwWallets.ts";
import { migrations } from "./migrations.ts";
import { network, settings } from "./network.ts";
import { restoration } from "./restoration.ts";
import { transactions } from "./transactions.ts";
import { transactionsNew } from "./transactionsNew.ts";
import { wallets } from "./wallets.ts";
import { withdrawals } from "./withdrawals.ts";

export const tables: readonly Table[] = [
  wallets,
  addresses,
  hwWallets,
  network,
  restoration,
  settings,
  coinSelections,
  transactions,
  transactionsNew,
  migrations,
  withdrawals,
];
