/** The event that carries the whole state of a stake credential to its actor. */
import { kept } from "#machines/delegation.ts";
import type { Point } from "#src/cardano/block.ts";
import type { Rows, Touched } from "#src/chain/index/projection.ts";
import { rowsOf } from "#src/wallets/index/indexRows.ts";

/** The event with the whole state of a credential at a block, from its rows. */
export function wholeStateEvent(
  type: "TOLD" | "ROLLED_BACK",
  credential: string,
  at: Point & { readonly epoch: number },
  rows: Rows,
): Touched {
  const { epoch, slot, hash } = at;
  const history = rowsOf(rows, "wallet_delegation_history").filter((row) => row.credential === credential)
    .sort((a, b) => Number(a.from_slot) - Number(b.from_slot));
  // several wallets with this credential have the same history
  const last = history.at(-1);
  const mine = last ? history.filter(({ wallet }) => wallet === last.wallet) : [];
  const account = rowsOf(rows, "wallet_reward").filter((row) => row.credential === credential).at(-1);
  return {
    entity: { kind: "delegation", id: credential },
    event: {
      type,
      slot: Math.max(-1, ...[...mine, ...(account ? [account] : [])].map((row) => Number(row.from_slot))),
      epoch,
      registered: last?.registered ?? false,
      deposit: last?.deposit == null ? null : String(last.deposit),
      history: kept(mine.map(({ epoch, pool, drep }) => ({ epoch: Number(epoch), pool, drep })), epoch)
        .map((one) => ({ ...one })),
      rewards: String(account?.rewards ?? 0),
      block: { slot, hash },
    },
  };
}
