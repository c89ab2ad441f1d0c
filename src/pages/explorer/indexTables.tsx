/** Parts of tables that several views of the index share. */
import { Ada } from "../kit/amounts.tsx";
import type { Column } from "../kit/Table.tsx";
import { Ref } from "./links.tsx";
import { IndexTable, useIndexPages } from "./lists.tsx";
import { moment } from "./live.ts";

/** The column with the transaction of a row; `ends`: how many characters of its hash are shown at both ends. */
export const transactionColumn = (ends: number, width?: string): Column<{ readonly tx_hash: string }> => ({
  title: "Transaction",
  ...(width === undefined ? {} : { width }),
  cell: ({ tx_hash }) => <Ref kind="transaction" id={tx_hash} ends={ends} />,
});

/** The accounts that delegate to a pool or a representative, with their stake. */
export function Delegators<T extends { readonly address: string }>({ path, empty, stakeOf }: {
  /** Path of what they delegate to. */
  readonly path: string;
  readonly empty: string;
  /** Stake of a row, in lovelace. */
  readonly stakeOf: (row: T) => string;
}) {
  return (
    <IndexTable
      pages={useIndexPages<T>(`${path}/delegators`, [moment.value])}
      caption="Delegators"
      keyOf={({ address }) => address}
      empty={empty}
      columns={[
        { title: "Stake account", width: "65%", cell: ({ address }) => <Ref kind="account" id={address} ends={12} /> },
        { title: "Stake", align: "right", cell: (row) => <Ada lovelace={stakeOf(row)} /> },
      ]}
    />
  );
}
