/** Production of what folds request (`Want`) before they can go on, for example further addresses of a wallet. */
import type { Want } from "#src/chain/index/projection.ts";
import type { Queries } from "#src/store/store.ts";

/**
 * Produces what the folds of a projection request, outside of any transaction. Gives the function that writes it,
 * within a transaction that the follower opens under its lease. Apart from the command that creates a member, only this
 * writes the tables concerned.
 */
export type Supply = (wants: readonly Want[]) => Promise<(sql: Queries) => Promise<void>>;

/** Suppliers by name of the projection. */
export type Supplies = ReadonlyMap<string, Supply>;
