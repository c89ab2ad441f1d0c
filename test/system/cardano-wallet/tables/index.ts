/** All tables, in the order in which they run. */
import type { Table } from "../table.ts";
import { addresses } from "./addresses.ts";
import { byronMigrations, byronTransactions } from "./byronTransactions.ts";
import { byronAddresses, byronHwWallets, byronSelections, byronWallets } from "./byronWallets.ts";
import { commonNetwork } from "./commonNetwork.ts";
import { sharedTransactions } from "./sharedTransactions.ts";
import { sharedAddresses, sharedWallets } from "./sharedWallets.ts";
import { coinSelections } from "./coinSelections.ts";
import { hwWallets } from "./hwWallets.ts";
import { migrations } from "./migrations.ts";
import { network, settings } from "./network.ts";
import { restoration } from "./restoration.ts";
import { transactions } from "./transactions.ts";
import { blocks, conway, joinPool, stakePools, votes } from "./stakePools.ts";
import { transactionsNew } from "./transactionsNew.ts";
import { wallets } from "./wallets.ts";
import { withdrawals } from "./withdrawals.ts";

export const tables: readonly Table[] = [
  wallets,
  addresses,
  sharedWallets,
  sharedAddresses,
  byronWallets,
  byronAddresses,
  byronSelections,
  byronHwWallets,
  byronTransactions,
  byronMigrations,
  sharedTransactions,
  commonNetwork,
  blocks,
  conway,
  votes,
  stakePools,
  joinPool,
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
