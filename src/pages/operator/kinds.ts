/** Kinds in the order of their colours, which are the same whichever of them have transitions. */
const KINDS: readonly string[] = ["token", "wallet", "transaction", "delegation", "shared-wallet"];

/** The place of a kind in a chart, and its colour; a kind that this page does not know is behind the others. */
export const placeOf = (kind: string): number => KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length;
