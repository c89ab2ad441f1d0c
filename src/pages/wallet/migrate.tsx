// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** Everything that a wallet has, moved to other addresses: planned first, then carried out. */
import { useState } from "preact/hooks";
import type { z } from "zod";
import type * as selections from "#src/wallets/api/selections.ts";
import type { Messaged } from "#src/base/json.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { Form, TextField } from "../kit/forms.tsx";
import { shortId } from "../kit/Id.tsx";
import { Facts, Panel } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { networkId } from "./network.tsx";
import { walletPath } from "./paths.ts";
import { PassphraseForm } from "./secrets.tsx";
import { newKey, send, type Transaction, type WalletSummary } from "./service.ts";
import { Sent } from "./Sent.tsx";
import { Step } from "./signing.tsx";
import type { WalletTab } from "./tab.ts";

type Plan = Messaged<z.output<typeof selections.migrationPlan>>;

/** A plan that is shown. One key for one plan: a repeated press moves once. */
export interface Planned {
  readonly plan: Plan;
  readonly addresses: readonly string[];
  readonly key: string;
}

/** A plan of moving everything to some addresses. @throws {ApiError} with advice */
export const planMove = async (wallet: WalletSummary, addresses: readonly string[]): Promise<Planned> => ({
  plan: await send<Plan>("POST", `${pathOf(wallet)}/plan`, { addresses }),
  addresses,
  key: newKey(),
});

const pathOf = ({ prefix, id }: WalletSummary) => `/${prefix}/${id}/migrations`;

/** The addresses in a text, and the lines that are none. */
export function addressesIn(text: string, network: 0 | 1 | undefined) {
  const lines = text.split(/[\s,;]+/).filter((line) => line !== "");
  const wrong = lines.filter((line) => {
    const read = parseAddress(line, network);
    return !read.ok || read.value.kind === "reward";
  });
  return { addresses: lines, wrong };
}

export function Migrate({ wallet, reload }: WalletTab) {
  const [text, setText] = useState("");
  const [plan, setPlan] = useState<Planned>();
  if (plan) {
    const back = () => setPlan(undefined);
    return <Moving wallet={wallet} planned={plan} back={back} done={back} reload={reload} />;
  }
  const { addresses, wrong } = addressesIn(text, networkId());
  return (
    <Panel title="Move everything">
      <p class="note">
        Sends all ada and all tokens of this wallet to other addresses, in as many transactions as it takes. Use it to
        change to a new wallet, or to leave the Byron era. You see the plan and its fees before anything is signed.
      </p>
      <Form
        verb="Make a plan"
        disabled={addresses.length === 0 || wrong.length > 0}
        run={async () => {
          setPlan(await planMove(wallet, addresses));
        }}
      >
        <TextField
          label="Addresses to move to"
          mono
          lines={3}
          value={text}
          onInput={setText}
          hint="One is enough. Several, one a line, are used in turn."
          error={wrong[0] !== undefined ? `${shortId(wrong[0], 12)} is no payment address of this network.` : undefined}
        />
      </Form>
    </Panel>
  );
}

/** Shows a plan, carries it out with the passphrase, and shows what became of it. */
export function Moving({ wallet, planned, back, done, reload }: {
  readonly wallet: WalletSummary;
  readonly planned: Planned;
  readonly back: () => void;
  /** Called when the result was read. */
  readonly done: () => void;
  readonly reload: () => Promise<void>;
}) {
  const [moved, setMoved] = useState<readonly Transaction[]>();
  const [first, ...more] = moved ?? [];
  if (first && more.length === 0) {
    return <Sent wallet={wallet} hash={first.id} back={done} landed={() => void reload()} />;
  }
  if (moved) {
    return (
      <Panel title="On its way">
        <p class="alert info" role="status">{`${count(moved.length)} transactions were sent.`}</p>
        <p>
          <a href={hrefOf(walletPath(wallet, "history"))}>Follow them in the history</a>
        </p>
      </Panel>
    );
  }
  return (
    <PlanStep
      wallet={wallet}
      planned={planned}
      back={back}
      moved={async (all) => {
        setMoved(all);
        await reload();
      }}
    />
  );
}

function PlanStep({ wallet, planned, back, moved }: {
  readonly wallet: WalletSummary;
  readonly planned: Planned;
  readonly back: () => void;
  /** Called with the transactions that were sent. */
  readonly moved: (all: readonly Transaction[]) => Promise<void>;
}) {
  return (
    <Step back={back}>
      <Panel
        title="The plan"
        aside={
          <button
            type="button"
            class="small"
            onClick={back}
          >
            Back
          </button>
        }
      >
        <PlanFacts plan={planned.plan} addresses={planned.addresses} />
        {wallet.reward > 0n && (
          <p class="note">
            Rewards of <Ada lovelace={wallet.reward} /> stay with the wallet. Withdraw them first, under{" "}
            <a href={hrefOf(walletPath(wallet, "staking"))}>Staking</a>.
          </p>
        )}
        <p class="alert warn">All of it leaves this wallet. Make sure that the addresses are yours.</p>
        {wallet.signs || wallet.prefix === "byron-wallets"
          ? (
            <PassphraseForm
              verb="Sign and move everything"
              danger
              optional={wallet.prefix !== "wallets"}
              cancel={back}
              run={async (passphrase) => {
                const body = { addresses: planned.addresses, passphrase };
                await moved(await send<Transaction[]>("POST", pathOf(wallet), body, planned.key));
              }}
            />
          )
          : <p class="note">This wallet only watches: it cannot sign.</p>}
      </Panel>
    </Step>
  );
}

function PlanFacts({ plan, addresses }: Pick<Planned, "plan" | "addresses">) {
  const { selections: all, total_fee: fee, balance_leftover: left, balance_selected: taken } = plan;
  return (
    <Facts
      align="right"
      pairs={[
        ["Transactions", count(all.length)],
        [
          "Moves",
          <span class="changes">
            <Ada lovelace={taken.ada.quantity} />
            {taken.assets.length > 0 && (
              <span class="note">
                {`and ${count(taken.assets.length)} ${taken.assets.length === 1 ? "kind" : "kinds"} of tokens`}
              </span>
            )}
          </span>,
        ],
        ["Fees together", <Ada lovelace={fee.quantity} />],
        [
          "Arrives",
          <b>
            <Ada lovelace={BigInt(taken.ada.quantity) - BigInt(fee.quantity)} />
          </b>,
        ],
        [
          "Stays behind",
          BigInt(left.ada.quantity) > 0n
            ? (
              <span class="changes">
                <Ada lovelace={left.ada.quantity} />
                <span class="note">moving it costs more than it is worth</span>
              </span>
            )
            : undefined,
        ],
        [
          "To",
          <span class="wallet-name">{addresses.map((one) => <bdi key={one} class="mono">{one}</bdi>)}</span>,
        ],
      ]}
    />
  );
}
