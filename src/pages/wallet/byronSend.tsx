// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/**
 * Payments of a Byron wallet. The service builds, signs and sends them in one request, so that there are no bytes to
 * read before. The coins are selected first instead, and the request names them: what is left to the service is the
 * same transaction, with the same fee and change.
 */
import { useState } from "preact/hooks";
import type { z } from "zod";
import type * as transactionsApi from "#src/wallets/api/transactions.ts";
import type { Messaged } from "#src/base/json.ts";
import { ApiError } from "#src/client/http.ts";
import type { FeeEstimate } from "#src/client/wallets.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { Id } from "../kit/Id.tsx";
import { Facts, Panel } from "../kit/parts.tsx";
import { Table } from "../kit/Table.tsx";
import { AssetAmount, type AssetBook, useAssets } from "./assets.tsx";
import { paymentBodies } from "./payments.ts";
import type { RequestedPayment } from "./review.ts";
import { PassphraseForm } from "./secrets.tsx";
import { newKey, send, type Transaction, type WalletSummary } from "./service.ts";
import { Sent } from "./Sent.tsx";
import { Step } from "./signing.tsx";

type CoinSelection = Messaged<z.output<typeof transactionsApi.coinSelection>>;

/** What a payment will do, before the passphrase is entered. */
export interface ByronPlan {
  readonly payments: readonly RequestedPayment[];
  /** Members of the request that make the service use these coins and this change address. */
  readonly chosen: object;
  /** Undefined where the coins cannot be selected without the passphrase. */
  readonly coins: { readonly number: number; readonly change: bigint } | undefined;
  /** Bounds of the fee; they are equal where the coins are selected. */
  readonly fee: { readonly least: bigint; readonly most: bigint };
}

const sumOf = (entries: readonly { readonly amount: { readonly quantity: number | bigint } }[]): bigint =>
  entries.reduce((sum, { amount }) => sum + BigInt(amount.quantity), 0n);

/** What the inputs of a selection hold beyond its outputs and change. */
export const feeOf = ({ inputs, outputs, change }: Pick<CoinSelection, "inputs" | "outputs" | "change">): bigint =>
  sumOf(inputs) - sumOf(outputs) - sumOf(change);

/** Selects the coins of payments, or estimates their fee where that needs the passphrase. @throws {ApiError} with advice */
export async function planByron(id: string, payments: readonly RequestedPayment[]): Promise<ByronPlan> {
  const path = `/byron-wallets/${id}`;
  const body = { payments: paymentBodies(payments) };
  // a random wallet's coins are selected for clients that send `coin_control`
  const select = (chosen: object) =>
    send<CoinSelection>("POST", `${path}/coin-selections/random`, { ...body, ...chosen });
  try {
    const { inputs, change: [first] } = await select({ coin_control: {} });
    const chosen = {
      coin_control: { inputs: inputs.map(({ id, index }) => ({ id, index })), only: true },
      ...(first ? { change_address: { address: first.address } } : {}),
    };
    // with named coins, change may be divided otherwise
    const selection = await select(chosen);
    const fee = feeOf(selection);
    return {
      payments,
      chosen,
      coins: { number: selection.inputs.length, change: sumOf(selection.change) },
      fee: { least: fee, most: fee },
    };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "no_unused_address") throw error;
    const { estimated_min: least, estimated_max: most } = await send<FeeEstimate>("POST", `${path}/payment-fees`, body);
    return {
      payments,
      chosen: {},
      coins: undefined,
      fee: { least: BigInt(least.quantity), most: BigInt(most.quantity) },
    };
  }
}

/** Shows a plan, and carries it out with the passphrase. */
export function ByronSend({ wallet, plan: { payments, chosen, coins, fee }, back, done, reload }: {
  readonly wallet: WalletSummary;
  readonly plan: ByronPlan;
  readonly back: () => void;
  /** Called when the result was read. */
  readonly done: () => void;
  readonly reload: () => Promise<void>;
}) {
  const [sent, setSent] = useState<{ readonly hash: string; readonly fee: bigint }>();
  // one key for one review: a repeated press pays once
  const [key] = useState(newKey);
  const book = useAssets(wallet);
  if (sent !== undefined) {
    const isOther = coins !== undefined && sent.fee !== fee.most;
    return (
      <>
        {isOther && (
          <p class="alert warn" role="alert">
            The service built it with another fee than the one that was shown: look at the transaction.
          </p>
        )}
        <Sent wallet={wallet} hash={sent.hash} back={done} landed={() => void reload()} />
      </>
    );
  }
  return (
    <Step back={back}>
      <Panel title="Check before you sign" aside={<button type="button" class="small" onClick={back}>Back</button>}>
        <Recipients payments={payments} book={book.value} />
        <PlanFacts payments={payments} coins={coins} fee={fee} />
        <p class="note">
          {coins
            ? "The service builds, signs and sends a payment of a Byron wallet in one step, so this page cannot read the " +
              "transaction before. It may spend these coins alone; the numbers are the service's."
            : "This wallet has made no address yet. The payment makes one for the change, which needs the passphrase: the " +
              "exact fee is known only then, and shown in the result."}
        </p>
        <PassphraseForm
          verb="Sign and send"
          optional
          cancel={back}
          run={async (passphrase) => {
            const body = { passphrase, payments: paymentBodies(payments), ...chosen };
            const made = await send<Transaction>("POST", `/byron-wallets/${wallet.id}/transactions`, body, key);
            setSent({ hash: made.id, fee: BigInt(made.fee.quantity) });
          }}
        />
      </Panel>
    </Step>
  );
}

function Recipients({ payments, book }: {
  readonly payments: readonly RequestedPayment[];
  readonly book: AssetBook | undefined;
}) {
  return (
    <Table
      caption="Recipients"
      showCaption
      rows={payments.map((one, i) => ({ ...one, key: String(i) }))}
      keyOf={({ key }) => key}
      pageSize={20}
      columns={[
        { title: "Recipient", cell: ({ address }) => <Id value={address} name="address" whole /> },
        {
          title: "Gets",
          align: "right",
          cell: ({ lovelace, assets }) => (
            <span class="changes">
              <Ada lovelace={lovelace} />
              {[...assets].map(([asset, quantity]) => (
                <AssetAmount
                  key={asset}
                  book={book}
                  policy={asset.slice(0, 56)}
                  name={asset.slice(56)}
                  quantity={quantity}
                />
              ))}
            </span>
          ),
        },
      ]}
    />
  );
}

function PlanFacts({ payments, coins, fee }: Pick<ByronPlan, "payments" | "coins" | "fee">) {
  const total = payments.reduce((sum, { lovelace }) => sum + lovelace, 0n);
  return (
    <Facts
      align="right"
      pairs={[
        ["Spends", coins && `${count(coins.number)} ${coins.number === 1 ? "coin" : "coins"} of this wallet`],
        [coins ? "Fee" : "Fee, estimated", <FeeRange {...fee} />],
        ["Change, back to this wallet", coins && <Ada lovelace={coins.change} />],
        [
          coins ? "Leaves this wallet" : "Leaves this wallet, about",
          <b>
            <FeeRange least={total + fee.least} most={total + fee.most} />
          </b>,
        ],
      ]}
    />
  );
}

/** A fee or a sum, between two bounds that may be equal. */
function FeeRange({ least, most }: ByronPlan["fee"]) {
  return least === most ? <Ada lovelace={most} /> : (
    <span>
      <Ada lovelace={least} /> to <Ada lovelace={most} />
    </span>
  );
}
