/** The event that carries the whole state of a stake credential to its actor. */
import { type Certified, kept } from "#machines/delegation.ts";
import type { Row, Rows, Touched } from "#src/cardano/projection.ts";

/** An entry of the certificate history from its row. */
export function certifiedOf(row: Row): Certified {
  return { epoch: Number(row.epoch), pool: row.pool as string | null, drep: row.drep as string | null };
}

/** The event with the whole state of a credential, from its rows. */
export function wholeStateEvent(type: "TOLD" | "ROLLED_BACK", credential: string, epoch: number, rows: Rows): Touched {
  const of = (table: string) => (rows.get(table) ?? []).filter((row) => row.credential === credential);
  const history = [...of("wallet_delegation_history")].sort((a, b) => Number(a.from_slot) - Number(b.from_slot));
  // several wallets with this credential have the same history
  const last = history.at(-1);
  const mine = last ? history.filter(({ wallet }) => wallet === last.wallet) : [];
  const account = of("wallet_reward").at(-1);
  const deposit = last?.deposit as bigint | null | undefined;
  return {
    entity: { kind: "delegation", id: credential },
    event: {
      type,
      slot: Math.max(-1, ...[...mine, ...(account ? [account] : [])].map((row) => Number(row.from_slot))),
      epoch,
      registered: (last?.registered as boolean | undefined) ?? false,
      deposit: deposit == null ? null : String(deposit),
      history: kept(mine.map(certifiedOf), epoch).map((one) => ({ ...one })),
      rewards: String(account?.rewards ?? 0),
    },
  };
}
