/** Governance: actions, representatives, and votes of the constitutional committee. */
import { Ada, count } from "../kit/amounts.tsx";
import { usePages } from "../kit/data.tsx";
import { Badge, Heading } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Pager, Table } from "../kit/Table.tsx";
import { Ago } from "../kit/time.tsx";
import { get, type GovernanceAction, type GovernanceActions } from "./api.ts";
import { Ref, VoteBadge } from "./links.tsx";
import { transactionColumn } from "./indexTables.tsx";
import { IndexTable, Parts, Thing, useIndexPages } from "./lists.tsx";
import { moment } from "./live.ts";
import { ACTION_NAMES, pageOf } from "./names.ts";

const TABS = [["", "Actions"], ["representatives", "Representatives (DReps)"], ["committee", "Committee"]] as const;

export function GovernanceView({ query }: ViewProps) {
  const tab = query.get("tab") ?? "";
  return (
    <>
      <Heading title="Governance">Governance</Heading>
      <p class="note subject">
        This devnet records proposals and votes. It enacts nothing, and no action ends: votes have no effect here.
      </p>
      <Parts label="Parts of governance" at="/governance" tab={tab} tabs={TABS}>
        {tab === "representatives" ? <Representatives /> : tab === "committee" ? <CommitteeVotes /> : <Actions />}
      </Parts>
    </>
  );
}

/** Whether the time for votes on an action is over by the parameters. */
export function ActionState({ action }: { readonly action: GovernanceAction }) {
  const { ratified, enacted, expired, dropped } = action;
  if (enacted !== undefined) return <Badge tone="good">in force since epoch {enacted}</Badge>;
  if (dropped !== undefined) return <Badge>{expired === undefined ? "dropped" : "expired"} in epoch {dropped}</Badge>;
  if (ratified !== undefined) return <Badge tone="good">ratified, in force in epoch {ratified + 1}</Badge>;
  return expired === undefined ? <Badge tone="good">open</Badge> : <Badge>expired</Badge>;
}

/** Votes as numbers of yes, no and abstain. */
export function Tally({ of: { yes, no, abstain } }: { readonly of: GovernanceAction["votes"]["drep"] }) {
  if (yes + no + abstain === 0) return <span class="note">none</span>;
  return (
    <span class="tally">
      {yes > 0 && <Badge tone="good">{`${count(yes)} yes`}</Badge>}
      {no > 0 && <Badge tone="bad">{`${count(no)} no`}</Badge>}
      {abstain > 0 && <Badge>{`${count(abstain)} abstain`}</Badge>}
    </span>
  );
}

function Actions() {
  const { data, page, previous, next } = usePages<GovernanceActions>(
    (cursor, signal) => get(`/governance/actions?count=20&page=${cursor ?? 1}`, signal),
    ({ next }) => next === undefined ? undefined : String(next),
    [moment.value],
  );
  return (
    <Thing data={data} what="list">
      {({ actions }) => (
        <>
          <Table
            caption="Governance actions, newest first"
            rows={actions}
            keyOf={({ id }) => id}
            empty="Nothing was proposed. A transaction with a proposal, such as one of cardano-cli, appears here."
            columns={[
              {
                title: "Action",
                width: "24%",
                cell: ({ id, kind }) => <a href={hrefOf(pageOf("action", id))}>{ACTION_NAMES[kind]}</a>,
              },
              { title: "State", cell: (action) => <ActionState action={action} /> },
              { title: "Votes until", cell: ({ lastEpoch }) => `epoch ${lastEpoch}` },
              { title: "DReps", cell: ({ votes }) => <Tally of={votes.drep} /> },
              { title: "Pools", cell: ({ votes }) => <Tally of={votes.pool} /> },
              { title: "Committee", cell: ({ votes }) => <Tally of={votes.committee} /> },
              { title: "Deposit", width: "17%", align: "right", cell: ({ deposit }) => <Ada lovelace={deposit} /> },
            ]}
          />
          {(previous !== undefined || next !== undefined) && (
            <Pager label="Governance actions, newest first" text={`Page ${page + 1}`} previous={previous} next={next} />
          )}
        </>
      )}
    </Thing>
  );
}

interface Representative {
  readonly drep_id: string;
  readonly amount: string;
  readonly retired: boolean;
  readonly last_active_epoch: number | null;
  readonly metadata: { readonly url: string } | null;
}

/** Names of the two votes that need no representative. */
export const ALWAYS: Readonly<Record<string, string>> = {
  drep_always_abstain: "Always abstain",
  drep_always_no_confidence: "Always no confidence",
};

function Representatives() {
  return (
    <IndexTable
      pages={useIndexPages<Representative>("/governance/dreps", [moment.value], { order: "desc", order_by: "amount" })}
      caption="Representatives, those with the most stake first"
      keyOf={({ drep_id }) => drep_id}
      empty="Nobody has registered as a representative (DRep), and no account delegates its vote."
      columns={[
        {
          title: "Representative",
          width: "30%",
          cell: ({ drep_id: id, retired }) => (
            <span>
              {id in ALWAYS
                ? <a href={hrefOf(pageOf("drep", id))}>{ALWAYS[id]}</a>
                : <Ref kind="drep" id={id} ends={6} />}
              {retired && (
                <>
                  {" "}
                  <Badge tone="warn">left</Badge>
                </>
              )}
            </span>
          ),
        },
        {
          title: "Last active",
          cell: ({ last_active_epoch: epoch }) => epoch === null ? "" : `epoch ${epoch}`,
        },
        { title: "Document", cell: ({ metadata }) => metadata === null ? "" : <bdi class="url">{metadata.url}</bdi> },
        { title: "Delegated to it", align: "right", cell: ({ amount }) => <Ada lovelace={amount} /> },
      ]}
    />
  );
}

interface CommitteeVote {
  readonly tx_hash: string;
  readonly voter_hot_id: string;
  readonly proposal_id: string;
  readonly vote: string;
  readonly block_time: number;
}

function CommitteeVotes() {
  return (
    <>
      <p class="note about">
        This devnet has no constitutional committee. Votes of proposed members with an authorized hot key are listed.
      </p>
      <IndexTable
        pages={useIndexPages<CommitteeVote>("/governance/committee/votes", [moment.value], { order: "desc" })}
        caption="Votes of committee members, newest first"
        keyOf={({ tx_hash, voter_hot_id, proposal_id }) => `${tx_hash} ${voter_hot_id} ${proposal_id}`}
        empty="No committee member has voted."
        columns={[
          { title: "Action", width: "30%", cell: ({ proposal_id: id }) => <Ref kind="action" id={id} ends={6} /> },
          { title: "Vote", cell: ({ vote }) => <VoteBadge vote={vote} /> },
          transactionColumn(6),
          { title: "Age", cell: ({ block_time: time }) => <Ago at={time * 1_000} /> },
        ]}
      />
    </>
  );
}
