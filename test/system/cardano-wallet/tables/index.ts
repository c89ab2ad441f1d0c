/** All tables, in the order in which they run. */
import type { Table } from "../table.ts";
import { wallets } from "./wallets.ts";

export const tables: readonly Table[] = [wallets];
