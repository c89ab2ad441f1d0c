/** A wallet's representative after its pending transactions. */
import { certified, type ScannedTransaction } from "#src/cardano/block.ts";
import type { OwnDrep } from "#src/wallets/builds/types.ts";

/**
 * The representative as pending transactions leave it. The ledger takes a registration only of one that is not
 * registered, and an end only of one that is: their order follows from that.
 */
export function drepAfter(drep: OwnDrep, transactions: readonly ScannedTransaction[]): OwnDrep {
  const changes = transactions.flatMap(certified).flatMap((one) =>
    (one.kind === "register drep" || one.kind === "unregister drep") && one.credential.kind === "key" &&
      one.credential.hash === drep.hash
      ? [one]
      : []
  );
  let after = drep;
  const left = new Set(changes);
  for (let applied = true; applied;) {
    applied = false;
    for (const change of left) {
      const registers = change.kind === "register drep";
      if (after.registered === registers) continue;
      after = { ...after, registered: registers, deposit: registers ? change.deposit : undefined };
      left.delete(change);
      applied = true;
    }
  }
  return after;
}
