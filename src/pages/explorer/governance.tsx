/** Governance: actions, representatives, and votes of the constitutional committee. */
import { Ada, count } from "../kit/amounts.tsx";
import { useData, usePages } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Facts, Heading, Panel } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Pager, Table } from "../kit/Table.tsx";
import { Ago } from "../kit/time.tsx";
import { get, type GovernanceAction, type GovernanceActions, type GovernanceState } from "./api.ts";
import { Ref, VoteBadge } from "./links.tsx";
import { transactionColumn } from "./indexTables.tsx";
import { IndexTable, Parts, Thing, useIndexPages } from "./lists.tsx";
import { moment } from "./live.ts";
import { ACTION_NAMES, pageOf } from "./names.ts";

const TABS = [
  ["", "Actions"],
  ["representatives", "Representatives (DReps)"],
  ["committee", "Committee"],
  ["force", "In force"],
] as const;

const useGovernance = () =>
  useData((signal) => get<GovernanceState>("/governance", signal), [moment.value], { keep: true });

/** What the next boundary does to an action, in words. */
export const NEXT_STEPS: Readonly<Record<GovernanceState["next"][number]["step"], string>> = {
  enacted: "takes force",
  dropped: "ends",
  ratified: "is ratified",
  expired: "expires",
  open: "stays open",
};

export function GovernanceView({ query }: ViewProps) {
  const tab = query.get("tab") ?? "";
  return (
    <>
      <Heading title="Governance">Governance</Heading>
      <Parts label="Parts of governance" at="/governance" tab={tab} tabs={TABS}>
        {tab === "representatives"
          ? <Representatives />
          : tab === "committee"
          ? <CommitteeTab />
          : tab === "force"
          ? <InForce />
          : <ActionsTab />}
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

function ActionsTab() {
  return (
    <>
      <NextBoundary />
      <Actions />
    </>
  );
}

/** What the next boundary does to open actions. */
function NextBoundary() {
  const data = useGovernance();
  const steps = data.value?.next.filter(({ step }) => step !== "open") ?? [];
  if (!data.value || data.value.next.length === 0) return null;
  const epoch = data.value.epoch + 1;
  return (
    <Panel title={`When epoch ${epoch} begins`}>
      {steps.length === 0
        ? <p class="note">Nothing changes by the votes of now. What is ratified there takes force one epoch later.</p>
        : (
          <ul class="steps">
            {steps.map(({ id, kind, step }) => (
              <li key={id}>
                <a href={hrefOf(pageOf("action", id))}>{ACTION_NAMES[kind as keyof typeof ACTION_NAMES] ?? kind}</a>
                {" "}
                {NEXT_STEPS[step]}
              </li>
            ))}
          </ul>
        )}
    </Panel>
  );
}

/** Constitution, protocol version and treasury. */
function InForce() {
  return (
    <Thing data={useGovernance()} what="state of governance" rows={5}>
      {({ constitution, protocolVersion, treasury, dormant, epoch }) => (
        <Facts
          pairs={[
            [
              "Constitution",
              constitution.url === "" ? <span class="note">none</span> : <bdi class="url">{constitution.url}</bdi>,
            ],
            ["Its hash", <Id value={constitution.hash} name="hash of the constitution" />],
            [
              "Guardrails script",
              constitution.script === undefined
                ? <span class="note">none</span>
                : <Ref kind="script" id={constitution.script} />,
            ],
            ["Protocol version", protocolVersion],
            ["Treasury", <Ada lovelace={treasury} />],
            ["Epoch", String(epoch)],
            ["Epochs without an action", String(dormant)],
          ]}
        />
      )}
    </Thing>
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

function CommitteeTab() {
  return (
    <>
      <Committee />
      <CommitteeVotes />
    </>
  );
}

function Committee() {
  return (
    <Thing data={useGovernance()} what="committee" rows={3}>
      {({ committee: { quorum, members } }) => (
        <>
          <p class="note about">
            {quorum === undefined
              ? "The committee was dismissed by a motion of no confidence."
              : members.length === 0
              ? "There is no constitutional committee: nothing waits for it."
              : `${quorum.numerator} of ${quorum.denominator} must agree, of those in office that do not abstain.`}
          </p>
          {members.length > 0 && (
            <Table
              caption="Members of the committee"
              rows={members}
              keyOf={({ cold }) => cold}
              empty=""
              columns={[
                { title: "Member", width: "34%", cell: ({ cold }) => <Id value={cold} name="member" /> },
                {
                  title: "Hot key",
                  width: "34%",
                  cell: ({ hot }) => hot === undefined ? "" : <Id value={hot} name="hot key" />,
                },
                {
                  title: "State",
                  cell: ({ state }) => <Badge tone={state === "in office" ? "good" : "warn"}>{state}</Badge>,
                },
                { title: "Until", cell: ({ until }) => `epoch ${until}` },
              ]}
            />
          )}
        </>
      )}
    </Thing>
  );
}

function CommitteeVotes() {
  return (
    <>
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
