/** A representative (DRep): what is delegated to it, its votes, its delegators and its certificates. */
import { Ada } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Facts, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import type { ViewProps } from "../kit/router.ts";
import { index, part } from "./api.ts";
import { ALWAYS } from "./governance.tsx";
import { Ref, VoteBadge } from "./links.tsx";
import { Delegators, transactionColumn } from "./indexTables.tsx";
import { IndexTable, Parts, Thing, useIndexPages } from "./lists.tsx";
import { moment } from "./live.ts";
import { pageOf } from "./names.ts";

interface Representative {
  readonly drep_id: string;
  readonly hex: string;
  readonly amount: string;
  readonly has_script: boolean;
  readonly retired: boolean;
  readonly active_epoch: number | null;
  readonly last_active_epoch: number | null;
}

const TABS = [["", "Votes"], ["delegators", "Delegators"], ["updates", "Registrations"]] as const;

export function RepresentativeView({ params: { id = "" }, query }: ViewProps) {
  const path = `/governance/dreps/${part(id)}`;
  const tab = query.get("tab") ?? "";
  const data = useData((signal) => index<Representative>(path, signal), [id, moment.value], { keep: true });
  const name = ALWAYS[id] ?? "Representative";
  const registered = data.value !== undefined && data.value.active_epoch !== null;
  return (
    <>
      <Heading
        title={`${name} ${id.slice(0, 12)}`}
        aside={data.value &&
          (data.value.retired ? <Badge tone="warn">left</Badge> : registered && <Badge tone="good">registered</Badge>)}
      >
        {name}
      </Heading>
      <p class="subject">
        <Id value={data.value?.drep_id ?? id} full name="representative" />
      </p>
      <Thing data={data} what="representative" rows={6}>
        {(drep) => (
          <>
            <Stats>
              <Stat name="Delegated to it">
                <Ada lovelace={drep.amount} />
              </Stat>
              {drep.active_epoch !== null && <Stat name="Registered in epoch">{drep.active_epoch}</Stat>}
              {drep.last_active_epoch !== null && (
                <Stat name="Last active in epoch" note="its last certificate or vote">{drep.last_active_epoch}</Stat>
              )}
            </Stats>
            <div class="column">
              {drep.hex !== "" && <About path={path} drep={drep} />}
              <div>
                <Parts label="Parts of the representative" at={pageOf("drep", id)} tab={tab} tabs={TABS}>
                  {tab === "delegators"
                    ? (
                      <Delegators<{ readonly address: string; readonly amount: string }>
                        path={path}
                        empty="No account delegates its vote to it."
                        stakeOf={({ amount }) => amount}
                      />
                    )
                    : tab === "updates"
                    ? <Updates path={path} />
                    : <Votes path={path} />}
                </Parts>
              </div>
            </div>
          </>
        )}
      </Thing>
    </>
  );
}

interface Update {
  readonly tx_hash: string;
  readonly cert_index: number;
  readonly action: string;
  readonly deposit: string | null;
}

function About({ path, drep }: { readonly path: string; readonly drep: Representative }) {
  const document = useData(
    (signal) => index<{ readonly url: string; readonly hash: string }>(`${path}/metadata`, signal),
    [path, moment.value],
    { keep: true },
  );
  const registrations = useData(
    (signal) => index<Update[]>(`${path}/updates`, signal, { order: "desc", count: 100 }),
    [path, moment.value],
    { keep: true },
  );
  const deposit = drep.retired
    ? undefined
    : registrations.value?.find(({ action }) => action === "registered")?.deposit ?? undefined;
  return (
    <Panel title="About it">
      <Facts
        pairs={[
          ["Credential", drep.has_script ? "a script" : "a key"],
          ["Deposit", deposit === undefined ? undefined : <Ada lovelace={deposit} />],
          ["Document", document.value === undefined ? "none" : <bdi class="url">{document.value.url}</bdi>],
          ["Its hash", document.value && <Id value={document.value.hash} name="hash of the document" />],
          ["Id in bytes", <Id value={drep.hex} name="representative" />],
        ]}
      />
    </Panel>
  );
}

function Votes({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<{
        readonly tx_hash: string;
        readonly cert_index: number;
        readonly proposal_id: string;
        readonly vote: string;
      }>(`${path}/votes`, [moment.value], { order: "desc" })}
      caption="Votes, newest first"
      keyOf={({ tx_hash, cert_index }) => `${tx_hash} ${cert_index}`}
      empty="It has not voted."
      columns={[
        { title: "Action", width: "40%", cell: ({ proposal_id: id }) => <Ref kind="action" id={id} ends={8} /> },
        { title: "Vote", cell: ({ vote }) => <VoteBadge vote={vote} /> },
        transactionColumn(6),
      ]}
    />
  );
}

function Updates({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<Update>(`${path}/updates`, [moment.value], { order: "desc" })}
      caption="Certificates, newest first"
      keyOf={({ tx_hash, cert_index }) => `${tx_hash} ${cert_index}`}
      empty="It needs no certificate."
      columns={[
        transactionColumn(10, "50%"),
        { title: "Action", cell: ({ action }) => action },
        {
          title: "Deposit",
          align: "right",
          cell: ({ deposit }) => deposit === null ? "" : <Ada lovelace={deposit} />,
        },
      ]}
    />
  );
}
