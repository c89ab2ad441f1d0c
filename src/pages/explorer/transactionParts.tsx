/** Certificates, withdrawals, votes, proposals, collateral and reference inputs of a transaction. */
import { Ada } from "../kit/amounts.tsx";
import { Facts, Panel } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { Table } from "../kit/Table.tsx";
import type { Transaction } from "./api.ts";
import { Linked, Ref, VoteBadge } from "./links.tsx";
import { ACTION_NAMES, pageOf } from "./names.ts";
import { Inputs, More, MOST, OutputCard } from "./outputCards.tsx";

/** Lovelace among the members of a certificate or a proposal. */
const LOVELACE = new Set([
  ...["deposit", "refund", "pledge", "cost", "key_deposit", "pool_deposit", "drep_deposit", "gov_action_deposit"],
  "min_pool_cost",
]);

/** Members of a certificate or a proposal. */
export function Members({ of }: { readonly of: Readonly<Record<string, string | number>> }) {
  return (
    <Facts
      pairs={Object.entries(of).map(([name, value]) => [
        name.length > 40 ? `${name.slice(0, 16)}…${name.slice(-6)}` : name,
        LOVELACE.has(name) || (name.startsWith("stake") && typeof value === "number")
          ? <Ada lovelace={value} />
          : typeof value === "string"
          ? <Linked text={value} />
          : String(value),
      ])}
    />
  );
}

export function Parts({ transaction }: { readonly transaction: Transaction }) {
  const { certificates, withdrawals, votes, proposals, references, collateral } = transaction;
  return (
    <>
      {certificates.length > 0 && <Certificates certificates={certificates} />}
      {withdrawals.length > 0 && <Withdrawals withdrawals={withdrawals} />}
      {votes.length > 0 && <Votes votes={votes} />}
      {proposals.length > 0 && <Proposals transaction={transaction} />}
      {(references.length > 0 || collateral.length > 0) && (
        <div class="columns flow">
          {collateral.length > 0 && <Collateral transaction={transaction} />}
          {references.length > 0 && <ReferenceInputs references={references} />}
        </div>
      )}
    </>
  );
}

function Certificates({ certificates }: Pick<Transaction, "certificates">) {
  return (
    <Panel title="Certificates">
      <ol class="runs">
        {certificates.slice(0, MOST).map(({ kind, members }, i) => (
          <li key={i} class="run">
            <b>{sentenceCase(kind)}</b>
            <Members of={members} />
          </li>
        ))}
      </ol>
      <More count={certificates.length} />
    </Panel>
  );
}

function Withdrawals({ withdrawals }: Pick<Transaction, "withdrawals">) {
  return (
    <Panel title="Withdrawals of rewards">
      <Table
        caption="Withdrawals"
        rows={withdrawals}
        keyOf={({ address }) => address}
        columns={[
          { title: "Stake address", cell: ({ address }) => <Ref kind="account" id={address} /> },
          { title: "Amount", align: "right", cell: ({ lovelace }) => <Ada lovelace={lovelace} /> },
        ]}
      />
    </Panel>
  );
}

function Votes({ votes }: Pick<Transaction, "votes">) {
  return (
    <Panel title="Votes">
      <Table
        caption="Votes"
        rows={votes}
        keyOf={({ voter, action }) => `${voter} ${action.txHash}#${action.index}`}
        columns={[
          {
            title: "Voter",
            cell: ({ voter, role }) => (
              <span>
                {`${role} `}
                <Linked text={voter} />
              </span>
            ),
          },
          {
            title: "Action",
            cell: ({ action }) => <Ref kind="action" id={`${action.txHash}#${action.index}`} ends={6} />,
          },
          {
            title: "Vote",
            cell: ({ vote }) => <VoteBadge vote={vote} />,
          },
        ]}
      />
    </Panel>
  );
}

function Proposals({ transaction: { proposals, block, valid, hash } }: { readonly transaction: Transaction }) {
  return (
    <Panel title="Proposals">
      <ol class="runs">
        {proposals.map(({ kind, deposit, account, members }, i) => (
          <li key={i} class="run">
            <div class="output-head">
              <b>{ACTION_NAMES[kind] ?? sentenceCase(kind)}</b>
              {block && valid && <a href={hrefOf(pageOf("action", `${hash}#${i}`))}>Votes on it</a>}
            </div>
            <Facts
              pairs={[["Deposit", <Ada lovelace={deposit} />], ["Returns to", <Ref kind="account" id={account} />]]}
            />
            <Members of={members} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function Collateral({ transaction }: { readonly transaction: Transaction }) {
  const { collateral, collateralReturn, totalCollateral, valid } = transaction;
  return (
    <div>
      <Panel
        title={`Collateral (${collateral.length})`}
        aside={<span class="note">{valid ? "not taken: all scripts agree" : "taken"}</span>}
      >
        <Inputs of={collateral} label="Collateral" />
        {totalCollateral !== undefined && (
          <p class="note">
            At most <Ada lovelace={totalCollateral} /> can be taken.
          </p>
        )}
        {collateralReturn !== undefined && (
          <>
            <p class="note">What would return:</p>
            <OutputCard output={collateralReturn} head={null} departed />
          </>
        )}
      </Panel>
    </div>
  );
}

function ReferenceInputs({ references }: Pick<Transaction, "references">) {
  return (
    <div>
      <Panel
        title={`Reference inputs (${references.length})`}
        aside={<span class="note">read, not spent</span>}
      >
        <Inputs of={references} label="Reference inputs" departed />
      </Panel>
    </div>
  );
}

const sentenceCase = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
