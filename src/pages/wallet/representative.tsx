// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** A wallet as a representative: its state in the ledger, its registration and metadata, and its votes. */
import { useState } from "preact/hooks";
import type { z } from "zod";
import type * as api from "#src/wallets/api/governance.ts";
import type { Exact } from "#src/client/exact.ts";
import { parseActionId } from "#src/cardano/governanceId.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Form, SelectField, TextField } from "../kit/forms.tsx";
import { Id } from "../kit/Id.tsx";
import { Action, Badge, Facts, Panel } from "../kit/parts.tsx";
import { read, type WalletSummary } from "./service.ts";
import type { useSigning } from "./signing.tsx";

type Begin = ReturnType<typeof useSigning>["begin"];
type State = Exact<typeof api.governanceState>["drep"];
type Vote = z.output<typeof api.votesBody>["votes"][number]["vote"];

const STATES = {
  active: ["Active", "good"],
  inactive: ["Inactive", "warn"],
  not_registered: ["Not registered", "quiet"],
  unknown: ["Not reported by the network's provider", "quiet"],
} as const;

export function Representative({ wallet, begin }: { readonly wallet: WalletSummary; readonly begin: Begin }) {
  const path = `/wallets/${wallet.id}/governance`;
  const data = useData((signal) => read<Exact<typeof api.governanceState>>(path, {}, signal), [path]);
  return (
    <Panel title="This wallet as a representative">
      <p class="note">
        A representative votes itself on what is proposed, with its own stake and that of everyone who delegates to it.
        The registration takes a deposit, which comes back when it ends.
      </p>
      <Loaded data={data} rows={4}>
        {({ drep }) => (
          <>
            <StateFacts drep={drep} />
            {drep.status !== "not_registered" && <VoteForm begin={begin} />}
            {drep.status !== "active" && drep.status !== "inactive" && (
              <RegistrationForm action="register" begin={begin} />
            )}
            {drep.status !== "not_registered" && (
              <>
                <RegistrationForm action="update" begin={begin} />
                <div class="buttons">
                  <Action tone="danger" run={() => change(begin, "deregister")}>End the registration</Action>
                </div>
              </>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function StateFacts({ drep }: { readonly drep: State }) {
  const { id, status, expiry_epoch: expiry, voting_power: power, deposit, anchor } = drep;
  const [name, tone] = STATES[status];
  const registered = status === "active" || status === "inactive";
  return (
    <Facts
      pairs={[
        ["State", <Badge tone={tone}>{name}</Badge>],
        ["Id", <Id value={id} name="representative's id" ends={8} />],
        ["Votes count until epoch", expiry === undefined ? undefined : count(expiry)],
        ["Voting stake", registered && power ? <Ada lovelace={power.quantity} /> : undefined],
        ["Deposit", deposit && <Ada lovelace={deposit.quantity} />],
        ["Metadata", anchor && <bdi>{anchor.url}</bdi>],
      ]}
    />
  );
}

const VERBS = {
  register: "Sign and register",
  update: "Sign and replace the metadata",
  deregister: "Sign and end the registration",
} as const;

function change(begin: Begin, action: keyof typeof VERBS, anchor?: { readonly url: string; readonly hash: string }) {
  const body = { action, ...(anchor ? { anchor: { url: anchor.url, data_hash: anchor.hash } } : {}) };
  return begin(VERBS[action], { governance: { drep: body } }, {
    governance: { drep: { action, ...(anchor ? { anchor } : {}) } },
  });
}

/** Registration, or other metadata: the address of a document and its hash, or neither. */
function RegistrationForm({ action, begin }: { readonly action: "register" | "update"; readonly begin: Begin }) {
  const [url, setUrl] = useState("");
  const [hash, setHash] = useState("");
  const given = { url: url.trim(), hash: hash.trim().toLowerCase() };
  const wrongHash = given.hash !== "" && !/^[0-9a-f]{64}$/.test(given.hash);
  const incomplete = (given.url === "") !== (given.hash === "");
  return (
    <Form
      verb={action === "register" ? "Register" : "Replace the metadata"}
      disabled={wrongHash || incomplete}
      run={() => change(begin, action, given.url === "" ? undefined : given)}
    >
      <TextField
        label="Address of its metadata (CIP-119), if it has any"
        value={url}
        onInput={setUrl}
        maxLength={128}
        placeholder="https://…"
      />
      <TextField
        label="Hash of that document"
        mono
        value={hash}
        onInput={setHash}
        error={wrongHash ? "This is no hash: it has 64 hexadecimal digits." : undefined}
      />
    </Form>
  );
}

function VoteForm({ begin }: { readonly begin: Begin }) {
  const [text, setText] = useState("");
  const [vote, setVote] = useState<Vote>("yes");
  const id = parseActionId(text.trim());
  const cast = () => {
    if (id === undefined) return;
    const action = `${id.txHash}#${id.index}`;
    return begin("Sign and vote", { governance: { votes: [{ action, vote }] } }, {
      governance: { votes: [{ action, vote }] },
    });
  };
  return (
    <Form verb="Vote" disabled={id === undefined} run={cast}>
      <TextField
        label="A governance action"
        mono
        value={text}
        onInput={setText}
        placeholder="gov_action1…"
        hint="Its id, or its transaction and index: hash#0."
        error={text.trim() !== "" && id === undefined ? "This is no id of a governance action." : undefined}
      />
      <SelectField
        label="Vote"
        value={vote}
        options={[["yes", "Yes"], ["no", "No"], ["abstain", "Abstain"]]}
        onChange={setVote}
      />
    </Form>
  );
}
