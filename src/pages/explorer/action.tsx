/** A governance action: what it proposes, and who voted on it. */
import { Ada, count } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Facts, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Table } from "../kit/Table.tsx";
import { DateTime } from "../kit/time.tsx";
import { get, type GovernanceAction, part } from "./api.ts";
import { ActionState, NEXT_STEPS, Tally } from "./governance.tsx";
import { Linked, Ref, VoteBadge } from "./links.tsx";
import { transactionColumn } from "./indexTables.tsx";
import { IndexTable, Thing, useIndexPages } from "./lists.tsx";
import { moment } from "./live.ts";
import { ACTION_NAMES, ROLE_NAMES } from "./names.ts";
import { Members } from "./transactionParts.tsx";

export function ActionView({ params: { id = "" } }: ViewProps) {
  const data = useData(
    (signal) => get<GovernanceAction>(`/governance/actions/${part(id)}`, signal),
    [id, moment.value],
    { keep: true },
  );
  const name = data.value && ACTION_NAMES[data.value.kind];
  return (
    <>
      <Heading title={name ?? "Governance action"} aside={data.value && <ActionState action={data.value} />}>
        {name ?? "Governance action"}
      </Heading>
      <p class="subject">
        <Id value={data.value?.id ?? id} full name="governance action" />
      </p>
      <Thing data={data} what="governance action" rows={8}>{(action) => <Whole action={action} />}</Thing>
    </>
  );
}

function Whole({ action }: { readonly action: GovernanceAction }) {
  const { anchor: _, ...members } = action.members;
  return (
    <>
      <Stats>
        {(["drep", "pool", "committee"] as const).map((role) => (
          <Stat key={role} name={ROLE_NAMES[role]} note="votes">
            <Tally of={action.votes[role]} />
          </Stat>
        ))}
        <Stat name="Deposit">
          <Ada lovelace={action.deposit} />
        </Stat>
      </Stats>
      <div class="column parts">
        {action.standing && <StandingPanel standing={action.standing} />}
        <Panel title="What it proposes">
          {Object.keys(members).length > 0
            ? <Members of={members} />
            : <p class="note">It changes nothing by itself: the document says what it is about.</p>}
        </Panel>
        <Panel title="Details">
          <Facts
            pairs={[
              [
                "Proposed in",
                <span>
                  <Ref kind="transaction" id={action.txHash} />
                  <span class="note">{`, proposal ${action.index} of it`}</span>
                </span>,
              ],
              [
                "Time",
                <span>
                  <DateTime at={action.time} />
                  <span class="note">
                    {`, `}
                    <a href={hrefOf(`/epoch/${action.epoch}`)}>{`epoch ${action.epoch}`}</a>
                  </span>
                </span>,
              ],
              ["Votes until", `epoch ${action.lastEpoch}, by the parameters`],
              ["Deposit of", <Ref kind="account" id={action.account} />],
              ["Document", <bdi class="url">{action.anchor.url}</bdi>],
              ["Its hash", <Id value={action.anchor.hash} name="hash of the document" />],
            ]}
          />
        </Panel>
        <Panel title="Votes">
          <Votes id={action.id} />
        </Panel>
      </div>
    </>
  );
}

type Standing = NonNullable<GovernanceAction["standing"]>;
type RoleStanding = Standing["drep"];

/** Votes by stake against their thresholds, and what the next boundary brings. */
function StandingPanel({ standing }: { readonly standing: Standing }) {
  return (
    <Panel title="How it stands" aside={<Badge>at the next boundary: {NEXT_STEPS[standing.next]}</Badge>}>
      <Table
        caption="Votes against what is needed, as if the epoch ended now"
        rows={["drep", "pool", "committee"] as const}
        keyOf={(role) => role}
        empty=""
        columns={[
          { title: "Voters", cell: (role) => ROLE_NAMES[role] },
          { title: "Agree", align: "right", cell: (role) => <Weight role={role} of={standing[role].yes} /> },
          { title: "Of", align: "right", cell: (role) => <Weight role={role} of={standing[role].all} /> },
          { title: "Share", align: "right", cell: (role) => shareText(standing[role]) },
          { title: "Needed", align: "right", cell: (role) => neededText(standing[role]) },
          {
            title: "State",
            cell: (role) => {
              const { threshold, reached } = standing[role];
              if (threshold === "none") return <span class="note">no say</span>;
              return <Badge tone={reached ? "good" : "quiet"}>{reached ? "reached" : "not reached"}</Badge>;
            },
          },
        ]}
      />
    </Panel>
  );
}

function Weight({ role, of }: { readonly role: "drep" | "pool" | "committee"; readonly of: RoleStanding["yes"] }) {
  return role === "committee" ? <>{count(Number(of))}</> : <Ada lovelace={of} />;
}

const percent = (part: number) => `${Math.round(part * 1_000) / 10} %`;
const shareText = ({ yes, all }: RoleStanding) => Number(all) === 0 ? "" : percent(Number(yes) / Number(all));

function neededText({ threshold }: RoleStanding): string {
  if (threshold === "none") return "";
  return threshold === "never" ? "it cannot pass" : percent(threshold.numerator / threshold.denominator);
}

interface Vote {
  readonly tx_hash: string;
  readonly cert_index: number;
  readonly voter_role: string;
  readonly voter: string;
  readonly vote: string;
  readonly counted: boolean;
}

const ROLES: Readonly<Record<string, string>> = {
  constitutional_committee: "committee member",
  drep: "representative",
  spo: "stake pool",
};

function Votes({ id }: { readonly id: string }) {
  return (
    <IndexTable
      pages={useIndexPages<Vote>(`/governance/proposals/${part(id)}/votes`, [moment.value], { order: "desc" })}
      caption="Votes on the action, newest first"
      keyOf={({ tx_hash, cert_index }) => `${tx_hash} ${cert_index}`}
      empty="Nobody has voted on it."
      columns={[
        { title: "Voter", width: "34%", cell: ({ voter }) => <Linked text={voter} /> },
        { title: "As", cell: ({ voter_role: role }) => ROLES[role] },
        {
          title: "Vote",
          cell: ({ vote, counted }) => (
            <span class="tally">
              <VoteBadge vote={vote} />
              {!counted && <Badge title="The voter has voted again since.">replaced</Badge>}
            </span>
          ),
        },
        transactionColumn(6),
      ]}
    />
  );
}
