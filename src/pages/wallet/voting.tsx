// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** The delegation of a wallet's vote: to a representative, or to one of the two predefined votes. */
import { useMemo, useState } from "preact/hooks";
import type { Drep } from "#src/client/wallets.ts";
import { parseDrepId } from "#src/cardano/drepId.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Form, TextField } from "../kit/forms.tsx";
import { Id } from "../kit/Id.tsx";
import { Action, Badge, Facts, Panel } from "../kit/parts.tsx";
import { Search } from "../kit/Search.tsx";
import { Alert, Empty } from "../kit/states.tsx";
import { Table } from "../kit/Table.tsx";
import { DateTime } from "../kit/time.tsx";
import { Representative } from "./representative.tsx";
import { read } from "./service.ts";
import { useSigning } from "./signing.tsx";
import type { WalletTab } from "./tab.ts";

export function Voting({ wallet, reload }: WalletTab) {
  const { begin, error, signing } = useSigning({ wallet, reload });
  const [typed, setTyped] = useState("");
  const dreps = useData((signal) => read<Drep[]>("/dreps", {}, signal), []);
  const choose = (vote: string) => begin("Sign and delegate the vote", { vote }, { vote });
  if (signing) return signing;
  const { active, next = [] } = wallet.delegation ?? {};
  const voting = [active, ...next].at(-1)?.voting;
  const nameOf = (vote: string | undefined) => {
    if (vote === undefined) return "no one";
    if (vote === "abstain") return "Abstain";
    if (vote === "no_confidence") return "No confidence";
    const name = dreps.value?.find(({ id }) => id === vote)?.name;
    return (
      <span class="badges">
        {name && <bdi>{name}</bdi>}
        <Id value={vote} name="representative's id" ends={8} />
      </span>
    );
  };
  const drep = parseDrepId(typed.trim());
  return (
    <>
      <Alert error={error} />
      <Panel title="Your vote">
        <p class="note">
          Holders of ada vote on changes of the network, or delegate their vote. A wallet can withdraw rewards only
          after it has delegated its vote; Abstain is enough.
        </p>
        <Facts
          pairs={[
            ["Delegated to", nameOf(active?.voting)],
            ...next.filter((one) => one.voting !== active?.voting).map((one) =>
              [
                `From epoch ${one.changes_at.epoch_number}`,
                <span class="badges">
                  {nameOf(one.voting)}{" "}
                  <span class="note">
                    <DateTime at={one.changes_at.epoch_start_time} />
                  </span>
                </span>,
              ] as const
            ),
          ]}
        />
      </Panel>
      <Panel title="Delegate the vote">
        <ul class="plain-list">
          <PredefinedVote
            name="Abstain"
            note="The stake counts for neither side."
            chosen={voting === "abstain"}
            choose={() => choose("abstain")}
          />
          <PredefinedVote
            name="No confidence"
            note="Votes for every motion of no confidence in the committee, and against all else."
            chosen={voting === "no_confidence"}
            choose={() => choose("no_confidence")}
          />
        </ul>
        <Form verb="Delegate to this representative" disabled={drep === undefined} run={() => choose(typed.trim())}>
          <TextField
            label="A representative (DRep) whose id you know"
            mono
            value={typed}
            onInput={setTyped}
            placeholder="drep1…"
            error={typed.trim() !== "" && drep === undefined ? "This is no id of a representative." : undefined}
          />
        </Form>
      </Panel>
      {wallet.prefix === "wallets" && <Representative wallet={wallet} begin={begin} />}
      <Panel title="Representatives">
        <Loaded data={dreps} rows={6}>
          {(list) => <Representatives dreps={list} voting={voting} choose={choose} />}
        </Loaded>
      </Panel>
    </>
  );
}

function PredefinedVote({ name, note, chosen, choose }: {
  readonly name: string;
  readonly note: string;
  readonly chosen: boolean;
  readonly choose: () => Promise<void>;
}) {
  return (
    <li class="spread">
      <span class="wallet-name">
        <b>{name}</b>
        <span class="note">{note}</span>
      </span>
      {chosen ? <Badge tone="good">Chosen</Badge> : <Action run={choose} label={`Choose ${name}`}>Choose</Action>}
    </li>
  );
}

function Representatives({ dreps, voting, choose }: {
  readonly dreps: readonly Drep[];
  readonly voting: string | undefined;
  readonly choose: (vote: string) => Promise<void>;
}) {
  const [text, setText] = useState("");
  const wanted = text.toLowerCase();
  const shown = useMemo(
    () =>
      wanted === ""
        ? dreps
        : dreps.filter(({ id, name }) => id.includes(wanted) || name?.toLowerCase().includes(wanted)),
    [dreps, wanted],
  );
  if (dreps.length === 0) {
    return (
      <Empty title="No representative is registered on this network">
        <p>Abstain and No confidence are always there.</p>
      </Empty>
    );
  }
  return (
    <>
      <Search label="Search representatives" placeholder="Name or id" value={text} onSearch={setText} />
      <Table
        caption="Representatives by voting stake"
        rows={shown}
        keyOf={({ id }) => id}
        pageSize={20}
        empty="No representative matches."
        columns={[
          {
            title: "Representative",
            cell: ({ id, name }) => (
              <span class="wallet-name">
                {name !== null && <bdi>{name}</bdi>}
                <Id value={id} name="representative's id" ends={8} />
              </span>
            ),
          },
          {
            title: "Voting stake",
            align: "right",
            compare: (a, b) => Number(BigInt(a.voting_power.quantity) - BigInt(b.voting_power.quantity)),
            cell: ({ voting_power: power }) => <Ada lovelace={power.quantity} />,
          },
          {
            title: "State",
            cell: ({ status, expiry_epoch: epoch }) => (
              <Badge
                tone={status === "active" ? "good" : "warn"}
                {...(epoch === undefined ? {} : { title: `Until epoch ${count(epoch)}` })}
              >
                {status}
              </Badge>
            ),
          },
          {
            title: "Action",
            align: "right",
            cell: ({ id, name }) =>
              id === voting
                ? <Badge tone="good">Chosen</Badge>
                : (
                  <Action small run={() => choose(id)} label={`Choose ${name ?? id.slice(0, 14)}`}>
                    Choose
                  </Action>
                ),
          },
        ]}
      />
    </>
  );
}
