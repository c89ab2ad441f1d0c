/** What a devnet lets its owner do: pay from the faucet, make blocks, roll back, save and restore states. */
import { useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { adaText, count, lovelaceOf } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { confirm } from "../kit/Dialog.tsx";
import { CheckField, Form, TextField } from "../kit/forms.tsx";
import { Action, Heading, Panel } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { sentenceOf } from "../kit/states.tsx";
import { Table } from "../kit/Table.tsx";
import { Ago } from "../kit/time.tsx";
import { toast } from "../kit/toast.tsx";
import { get, part, send, type Snapshot, type Tip } from "./api.ts";
import { Ref } from "./links.tsx";
import { live } from "./live.ts";
import { sentenceParts } from "./names.ts";

export function ToolsView({ query }: ViewProps) {
  return (
    <>
      <Heading title="Tools">Tools</Heading>
      <div class="columns">
        <div>
          <Faucet to={query.get("to") ?? ""} />
          <Snapshots />
        </div>
        <div>
          <Blocks />
          <Epochs />
          <Rollback />
          <Reset />
        </div>
      </div>
    </>
  );
}

/** An error with its amounts in ada, in which they were entered. */
function inAda(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const words = sentenceParts(error.message).map((one) => one.kind === "lovelace" ? adaText(one.amount) : one.text);
  return new ApiError(error.status, error.code, words.join(""));
}

/** `to`: the address that a link names. */
function Faucet({ to }: { readonly to: string }) {
  const [address, setAddress] = useState(to);
  const [ada, setAda] = useState("100");
  const [paid, setPaid] = useState<{ readonly txHash: string; readonly address: string }>();
  const lovelace = lovelaceOf(ada);
  const pay = async () => {
    setPaid(undefined);
    try {
      const { txHash } = await send<{ txHash: string }>("POST", "/faucet", { address: address.trim(), lovelace });
      setPaid({ txHash, address: address.trim() });
    } catch (error) {
      throw inAda(error);
    }
    toast("The payment is in the mempool");
  };
  return (
    <Panel title="Faucet">
      <Form verb="Send ada" run={pay} disabled={address.trim() === "" || lovelace === undefined}>
        <TextField label="To address" value={address} onInput={setAddress} mono placeholder="addr_test1…" />
        <TextField
          label="Ada"
          value={ada}
          onInput={setAda}
          inputMode="decimal"
          error={lovelace === undefined ? "An amount of ada, such as 100 or 2.5." : undefined}
          hint="The ada of a devnet has no value."
        />
      </Form>
      {paid && (
        <p class="done" role="status">
          Sent in <Ref kind="transaction" id={paid.txHash} /> to <Ref kind="address" id={paid.address} />
        </p>
      )}
    </Panel>
  );
}

/** A typed whole number from 1 on. */
const whole = (text: string, most: number): number | undefined => {
  const n = Number(text);
  return /^\d+$/.test(text.trim()) && n >= 1 && n <= most ? n : undefined;
};

function CountField({ label, value, onInput, most, hint }: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly most: number;
  readonly hint?: string;
}) {
  return (
    <TextField
      label={label}
      value={value}
      onInput={onInput}
      inputMode="numeric"
      error={whole(value, most) === undefined ? `A whole number from 1 to ${count(most)}.` : undefined}
      hint={hint}
    />
  );
}

/** A form that asks for a number of things and does something so often. */
function CountForm({ title, verb, label, hint, run }: {
  readonly title: string;
  readonly verb: string;
  readonly label: string;
  readonly hint: string;
  readonly run: (count: number) => Promise<void>;
}) {
  const [n, setN] = useState("1");
  const times = whole(n, MOST_TIMES);
  return (
    <Panel title={title}>
      <Form
        verb={verb}
        run={async () => times === undefined ? undefined : await run(times)}
        disabled={times === undefined}
      >
        <CountField label={label} value={n} onInput={setN} most={MOST_TIMES} hint={hint} />
      </Form>
    </Panel>
  );
}

/** Most blocks and epochs of one request. */
const MOST_TIMES = 1_000;

const Blocks = () => (
  <CountForm
    title="Make blocks"
    verb="Make blocks"
    label="How many"
    hint="Each takes a slot of its own, so many blocks take some time."
    run={async (blocks) => {
      const { made, tip } = await send<{ made: number; tip: Tip }>("POST", "/blocks", { count: blocks });
      toast(`${made === 1 ? "One block was" : `${made} blocks were`} made; the newest is ${count(tip.height)}`);
    }}
  />
);

const Epochs = () => (
  <CountForm
    title="Go to the next epoch"
    verb="Enter the next epoch"
    label="Epochs to enter"
    hint="Rewards are paid and delegations begin to count. The devnet's clock then runs ahead of yours."
    run={async (epochs) => {
      const { epoch } = await send<{ epoch: number }>("POST", "/epochs", { count: epochs });
      toast(`The devnet is in epoch ${epoch}`);
    }}
  />
);

function Rollback() {
  const [n, setN] = useState("1");
  const [drop, setDrop] = useState(false);
  const height = live.value?.tip.height ?? 0;
  const blocks = whole(n, Math.max(1, height + 1));
  const roll = () =>
    confirm({
      title: `Roll back ${blocks === 1 ? "one block" : `${blocks} blocks`}?`,
      text: drop
        ? "The blocks and their transactions disappear. The transactions can be found under Mempool, as withdrawn."
        : "The blocks disappear. Their transactions return to the mempool and go into later blocks, as far as they are still valid.",
      verb: "Roll back",
      danger: true,
      run: async () => {
        const { tip } = await send<{ tip: Tip }>("POST", "/rollback", { blocks, drop });
        toast(tip.height < 0 ? "There is no block any more" : `The newest block is ${count(tip.height)}`);
      },
    });
  return (
    <Panel title="Roll back">
      <Form verb="Roll back …" run={roll} disabled={blocks === undefined}>
        <CountField
          label="Blocks to undo"
          value={n}
          onInput={setN}
          most={Math.max(1, height + 1)}
          hint="To test how your program handles a fork."
        />
        <CheckField label="Drop their transactions" checked={drop} onChange={setDrop} />
      </Form>
    </Panel>
  );
}

function Snapshots() {
  const [name, setName] = useState("");
  const data = useData((signal) => get<{ snapshots: Snapshot[] }>("/snapshots", signal), [], { everyMs: 5_000 });
  const known = data.value?.snapshots.some((one) => one.name === name.trim()) ?? false;
  const valid = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/.test(name.trim());
  const save = async () => {
    const saved = await send<Snapshot>("POST", "/snapshots", { name: name.trim(), replace: known });
    setName("");
    toast(`Saved ${saved.name} at block ${count(saved.height)}`);
    await data.reload();
  };
  return (
    <Panel title="Snapshots">
      <p class="note about">A snapshot is the chain and the mempool at one moment, to return to later.</p>
      <Form verb={known ? "Replace it" : "Save a snapshot"} run={save} disabled={!valid}>
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          placeholder="before-mint"
          maxLength={64}
          error={name.trim() !== "" && !valid
            ? "At most 64 letters, digits, dots, underscores or hyphens; . and .. are not allowed."
            : undefined}
          hint={known ? "There is a snapshot of this name." : undefined}
        />
      </Form>
      <div class="snapshots">
        <Loaded data={data}>
          {({ snapshots }) => <SnapshotTable snapshots={snapshots} reload={data.reload} />}
        </Loaded>
      </div>
    </Panel>
  );
}

function SnapshotTable({ snapshots, reload }: {
  readonly snapshots: readonly Snapshot[];
  readonly reload: () => Promise<void>;
}) {
  const restore = (snapshot: Snapshot) =>
    confirm({
      title: `Restore ${snapshot.name}?`,
      text: `The chain goes back to block ${
        count(snapshot.height)
      } and its mempool. Blocks since then disappear, unless another snapshot has them.`,
      verb: "Restore",
      danger: true,
      run: async () => {
        const { tip } = await send<{ tip: Tip }>("POST", `/snapshots/${part(snapshot.name)}/restore`);
        toast(`The newest block is ${count(tip.height)}`);
      },
    });
  const remove = (snapshot: Snapshot) =>
    confirm({
      title: `Delete the snapshot ${snapshot.name}?`,
      text: "The chain stays as it is. The saved state cannot be restored any more.",
      verb: "Delete",
      danger: true,
      run: async () => {
        await send("DELETE", `/snapshots/${part(snapshot.name)}`);
        await reload();
      },
    });
  return (
    <Table
      caption="Snapshots"
      rows={snapshots}
      keyOf={(one) => one.name}
      empty="No snapshot is saved."
      columns={[
        { title: "Name", width: "28%", cell: (one) => <bdi>{one.name}</bdi> },
        {
          title: "Block",
          cell: ({ height, hash }) => height < 0 ? "none" : <a href={hrefOf(`/block/${hash}`)}>{count(height)}</a>,
        },
        { title: "Saved", width: "20%", cell: ({ saved }) => <Ago at={saved} /> },
        {
          title: "Actions",
          width: "34%",
          cell: (one) => (
            <span class="buttons">
              <Action small run={() => restore(one)} label={`Restore ${one.name}`}>Restore</Action>
              <Action small run={() => remove(one)} label={`Delete ${one.name}`}>Delete</Action>
            </span>
          ),
        },
      ]}
    />
  );
}

function Reset() {
  const reset = () =>
    confirm({
      title: "Reset the devnet?",
      text:
        "All blocks and transactions are lost, and the chain begins again at its genesis. Programs that follow it see a rollback to the start. Snapshots stay.",
      verb: "Reset the devnet",
      danger: true,
      typed: "reset",
      run: async () => {
        await send("POST", "/reset");
        toast("The chain begins again");
      },
    }).catch((error) => toast(sentenceOf(error), "bad"));
  return (
    <Panel title="Begin again" class="danger-zone">
      <p class="note about">Goes back to the genesis. Every block and every transaction is lost.</p>
      <Action tone="danger" run={reset}>Reset the devnet …</Action>
    </Panel>
  );
}
