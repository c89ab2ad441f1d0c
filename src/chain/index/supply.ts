/** What folds want made before they can go on (`Want`), and who makes it. */
import type { Want } from "#src/cardano/projection.ts";
import type { Queries } from "#src/store/store.ts";

/**
 * Makes what the folds of a projection want, outside of any transaction, and gives how that is written: in a transaction that the follower
 * opens under its lease. Only this writes the tables concerned, beside whoever begins a thing.
 */
export type Supply = (wants: readonly Want[]) => Promise<(sql: Queries) => Promise<void>>;

/** Suppliers by the name of their projection. */
export type Supplies = ReadonlyMap<string, Supply>;
