// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** Settings of a wallet; the destructive ones last. */
import { useState } from "preact/hooks";
import type { z } from "zod";
import type * as walletsApi from "#src/wallets/api/wallets.ts";
import type * as spendingApi from "#src/wallets/api/spending.ts";
import type { Messaged } from "#src/base/json.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { Bars } from "../kit/charts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { confirm } from "../kit/Dialog.tsx";
import { CheckField, Form, SelectField, TextField } from "../kit/forms.tsx";
import { Id } from "../kit/Id.tsx";
import { Facts, lazy, Panel } from "../kit/parts.tsx";
import { go } from "../kit/router.ts";
import { Empty } from "../kit/states.tsx";
import { Ago } from "../kit/time.tsx";
import { toast } from "../kit/toast.tsx";
import { adaText, readAda } from "./amounts.ts";
import { SecretField, useNewPassphrase } from "./secrets.tsx";
import { read, send, type WalletSummary } from "./service.ts";
import type { WalletTab } from "./tab.ts";

const ByPhrase = lazy(() => import("./resetPassphrase.tsx").then(({ ByPhrase }) => ByPhrase));

export function Settings({ wallet, reload }: WalletTab) {
  const { prefix, status, signs, discovery } = wallet;
  const complete = status !== "incomplete";
  return (
    <>
      <div class="columns">
        <div>
          <Name wallet={wallet} reload={reload} />
          {prefix !== "shared-wallets" && (signs || discovery === "random") && (
            <Passphrase wallet={wallet} reload={reload} />
          )}
          {complete && prefix !== "byron-wallets" && <PublicKey wallet={wallet} />}
        </div>
        <div>
          {complete && <Coins wallet={wallet} />}
          {complete && prefix !== "byron-wallets" && <Building wallet={wallet} reload={reload} />}
          {complete && signs && <SpendingLimit wallet={wallet} />}
        </div>
      </div>
      <Delete wallet={wallet} />
    </>
  );
}

type Part = Pick<WalletTab, "wallet" | "reload">;

function Name({ wallet, reload }: Part) {
  const [name, setName] = useState(wallet.name);
  return (
    <Panel title="Name">
      <Form
        verb="Rename"
        disabled={name.trim() === "" || name === wallet.name}
        run={async () => {
          await send("PUT", `/${wallet.prefix}/${wallet.id}`, { name: name.trim() });
          await reload();
          toast("The wallet is renamed");
        }}
      >
        <TextField label="Name of the wallet" value={name} onInput={setName} maxLength={255} />
      </Form>
    </Panel>
  );
}

function Passphrase({ wallet, reload }: Part) {
  const [old, setOld] = useState("");
  const next = useNewPassphrase("New passphrase");
  return (
    <Panel
      title="Passphrase"
      aside={wallet.passphraseAt && (
        <span class="note">
          Set <Ago at={wallet.passphraseAt} />
        </span>
      )}
    >
      <Form
        verb="Change the passphrase"
        disabled={next.value === undefined || (old === "" && wallet.prefix === "wallets")}
        run={async () => {
          try {
            await send("PUT", `/${wallet.prefix}/${wallet.id}/passphrase`, {
              ...(old === "" ? {} : { old_passphrase: old }),
              new_passphrase: next.value,
            });
            next.clear();
            await reload();
            toast("The passphrase is changed");
          } finally {
            setOld("");
          }
        }}
      >
        <SecretField label="Old passphrase" value={old} onInput={setOld} />
        {next.fields}
      </Form>
      {wallet.prefix === "wallets" && (
        <Fold title="The old passphrase is lost">
          <ByPhrase wallet={wallet} reload={reload} />
        </Fold>
      )}
    </Panel>
  );
}

/** A part that is made when it is opened. */
function Fold({ title, children }: { readonly title: string; readonly children: preact.ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {open && children}
    </details>
  );
}

function Building({ wallet, reload }: Part) {
  const set = async (body: unknown) => {
    try {
      await send("PUT", `/${wallet.prefix}/${wallet.id}`, body);
      await reload();
      toast("The setting is saved");
    } catch (error) {
      toast(error instanceof Error ? error.message : "The setting was not saved", "bad");
    }
  };
  return (
    <Panel title="How transactions are built">
      <div class="form">
        <SelectField
          label="Coin selection"
          value={wallet.selection ?? "per-output"}
          onChange={(selection) => void set({ selection })}
          options={[["per-output", "Each payment has coins of its own"], [
            "round-robin",
            "One coin may fund several payments",
          ]]}
          hint="Round-robin helps a wallet with few coins to pay many at once."
        />
        <CheckField
          label="All change goes to one fixed address"
          checked={wallet.oneChange ?? false}
          onChange={(one) => void set({ one_change_address_mode: one })}
        />
      </div>
    </Panel>
  );
}

type Spending = Messaged<z.output<typeof spendingApi.spendingState>>;

function SpendingLimit({ wallet: { prefix, id } }: { readonly wallet: WalletSummary }) {
  const path = `/${prefix}/${id}/spending-limit`;
  const data = useData((signal) => read<Spending>(path, {}, signal), [path]);
  const [text, setText] = useState("");
  const [passphrase, setPassphrase] = useState("");
  const limit = readAda(text);
  const save = async (method: "PUT" | "DELETE", body: object) => {
    try {
      await send(method, path, { ...body, passphrase });
      setText("");
      await data.reload();
      toast(method === "PUT" ? "The limit is set" : "The limit is removed");
    } finally {
      setPassphrase("");
    }
  };
  return (
    <Panel title="Spending limit">
      <Loaded data={data} rows={2}>
        {({ per_day: perDay, spent, remaining }) => (
          <>
            {perDay === undefined
              ? <p class="note">No limit. One protects from mistakes: more than it cannot be signed in 24 hours.</p>
              : (
                <Facts
                  align="right"
                  pairs={[
                    ["In 24 hours", <Ada lovelace={perDay.quantity} />],
                    ["Spent", spent && <Ada lovelace={spent.quantity} />],
                    ["Left", remaining && <Ada lovelace={remaining.quantity} />],
                  ]}
                />
              )}
            <Form
              verb={text.trim() === "" && perDay !== undefined ? "Remove the limit" : "Set the limit"}
              disabled={passphrase === "" || (text.trim() === "" ? perDay === undefined : !limit.ok)}
              run={() =>
                text.trim() === "" || !limit.ok
                  ? save("DELETE", {})
                  : save("PUT", { per_day: { quantity: limit.value, unit: "lovelace" } })}
            >
              <TextField
                label="Ada that may leave the wallet in 24 hours"
                value={text}
                onInput={setText}
                inputMode="decimal"
                error={text.trim() !== "" && !limit.ok ? limit.problem : undefined}
                {...(perDay === undefined ? {} : { hint: "Leave it empty to remove the limit." })}
              />
              <SecretField label="Passphrase" value={passphrase} onInput={setPassphrase} />
            </Form>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function PublicKey({ wallet: { prefix, id } }: { readonly wallet: WalletSummary }) {
  const path = `/${prefix}/${id}/keys`;
  const data = useData((signal) => read<string>(path, { format: "extended" }, signal), [path]);
  return (
    <Panel title="Account public key">
      <p class="note">
        With this key, others can see all addresses and payments of the wallet. They cannot spend anything.
      </p>
      <Loaded data={data} rows={1}>{(key) => <Id value={key} name="account public key" ends={18} />}</Loaded>
    </Panel>
  );
}

type Distribution = Messaged<z.output<typeof walletsApi.distribution>>;

function Coins({ wallet: { prefix, id } }: { readonly wallet: WalletSummary }) {
  const path = `/${prefix}/${id}/statistics/utxos`;
  const data = useData((signal) => read<Distribution>(path, {}, signal), [path]);
  return (
    <Panel title="Coins">
      <p class="note">
        A wallet's money is in coins (unspent outputs), each worth its own amount. Many small ones make transactions
        expensive.
      </p>
      <Loaded data={data} rows={4}>
        {({ distribution }) => {
          const buckets = Object.entries(distribution).map(([bound, coins]) => ({
            bound: BigInt(bound),
            coins: Number(coins),
          }))
            .sort((a, b) => a.bound < b.bound ? -1 : 1);
          const total = buckets.reduce((sum, { coins }) => sum + coins, 0);
          if (total === 0) return <Empty title="No coins yet" />;
          const first = buckets.findIndex(({ coins }) => coins > 0);
          const last = buckets.findLastIndex(({ coins }) => coins > 0);
          const shown = buckets.slice(Math.max(0, first - 1), last + 2);
          return (
            <>
              <p>{`${count(total)} ${total === 1 ? "coin" : "coins"}`}</p>
              <Bars
                label="Number of coins by their worth"
                unit="coins"
                labels={shown.map(({ bound }) => `≤ ${adaText(bound)}`)}
                series={[{ name: "Coins, by ada", values: shown.map(({ coins }) => coins) }]}
              />
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function Delete({ wallet }: { readonly wallet: WalletSummary }) {
  const ask = () =>
    confirm({
      title: "Delete this wallet?",
      text: (
        <>
          <p>The service forgets the wallet and its keys. What it holds stays on the chain.</p>
          <p>
            {wallet.signs
              ? "It can be restored with its recovery phrase only. Is the phrase at hand?"
              : "It can be added again at any time."}
          </p>
        </>
      ),
      verb: "Delete the wallet",
      danger: true,
      typed: wallet.name,
      run: async () => {
        await send("DELETE", `/${wallet.prefix}/${wallet.id}`);
        go("/", true);
        toast("The wallet is deleted");
      },
    });
  return (
    <Panel title="Delete the wallet" class="danger-zone">
      <div class="spread">
        <p class="note">Its keys are erased from this service. Only the recovery phrase brings it back.</p>
        <button type="button" class="danger" onClick={() => void ask()}>Delete…</button>
      </div>
    </Panel>
  );
}
