// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** What a transaction does, as it was read from its bytes. */
import { Ada, count } from "../kit/amounts.tsx";
import { Id } from "../kit/Id.tsx";
import { Facts } from "../kit/parts.tsx";
import { Table } from "../kit/Table.tsx";
import { DateTime } from "../kit/time.tsx";
import { AssetAmount, type AssetBook } from "./assets.tsx";
import { slotTime } from "./network.tsx";
import type { Review, ReviewedAsset } from "./review.ts";

/** What a transaction does, as it was read from its bytes. */
export function ReviewView({ review, book }: { readonly review: Review; readonly book: AssetBook | undefined }) {
  return (
    <>
      {review.actions.length > 0 && (
        <ul class="actions">{review.actions.map((action) => <li key={action}>{action}</li>)}</ul>
      )}
      {review.pays.length > 0 && <Recipients pays={review.pays} book={book} />}
      <ReviewFacts review={review} book={book} />
      <p class="note checked">Read from the transaction's bytes in this browser, not taken from the service.</p>
    </>
  );
}

function Assets({ list, book, signed = false }: {
  readonly list: readonly ReviewedAsset[];
  readonly book: AssetBook | undefined;
  readonly signed?: boolean;
}) {
  return (
    <>
      {list.map(({ policy, name, fingerprint, quantity }) => (
        <AssetAmount
          key={policy + name}
          book={book}
          policy={policy}
          name={name}
          fingerprint={fingerprint}
          quantity={quantity}
          signed={signed}
        />
      ))}
    </>
  );
}

function Recipients({ pays, book }: Pick<Review, "pays"> & { readonly book: AssetBook | undefined }) {
  return (
    <Table
      caption="Recipients"
      showCaption
      rows={pays.map((one, i) => ({ ...one, key: String(i) }))}
      keyOf={({ key }) => key}
      pageSize={20}
      columns={[
        {
          title: "Recipient",
          cell: ({ address, own }) => (
            <span class="wallet-name">
              <Id value={address} name="address" whole />
              {own && <span class="note">an address of this wallet</span>}
            </span>
          ),
        },
        {
          title: "Gets",
          align: "right",
          cell: ({ lovelace, assets }) => (
            <span class="changes">
              <Ada lovelace={lovelace} />
              <Assets list={assets} book={book} />
            </span>
          ),
        },
      ]}
    />
  );
}

function ReviewFacts({ review, book }: { readonly review: Review; readonly book: AssetBook | undefined }) {
  const change = review.returns.reduce((sum, { lovelace }) => sum + lovelace, 0n);
  const kept = [...totalsOf(review.returns.flatMap((one) => one.assets)).values()];
  const until = review.validTo === undefined ? undefined : slotTime(review.validTo);
  return (
    <Facts
      align="right"
      pairs={[
        [
          "Mints or burns",
          review.mints.length > 0
            ? (
              <span class="changes">
                <Assets list={review.mints} book={book} signed />
              </span>
            )
            : undefined,
        ],
        ["Fee", <Ada lovelace={review.fee} />],
        ["Deposit", review.deposit > 0n ? <Ada lovelace={review.deposit} /> : undefined],
        ["Deposit returned", review.refund > 0n ? <Ada lovelace={review.refund} /> : undefined],
        ["Rewards withdrawn", review.withdrawn > 0n ? <Ada lovelace={review.withdrawn} /> : undefined],
        [
          "Change, back to this wallet",
          review.returns.length === 0 ? "none" : (
            <span class="changes">
              <Ada lovelace={change} />
              {kept.length <= 5
                ? <Assets list={kept} book={book} />
                : <span class="note">{`and ${count(kept.length)} kinds of tokens`}</span>}
            </span>
          ),
        ],
        [
          review.cost < 0n ? "Becomes available" : "Leaves this wallet",
          <b>
            <Ada lovelace={review.cost < 0n ? -review.cost : review.cost} />
          </b>,
        ],
        [
          "Message",
          review.message && (
            <span class="wallet-name">
              <bdi class="message">{review.message.join("\n")}</bdi>
              <span class="note">It is public, for good.</span>
            </span>
          ),
        ],
        ["Metadata", review.metadata && !review.message ? "It carries data that is public, for good." : undefined],
        ["Valid until", until === undefined ? undefined : <DateTime at={until} />],
        ["Transaction id", <Id value={review.hash} name="transaction id" />],
      ]}
    />
  );
}

function totalsOf(assets: readonly ReviewedAsset[]): ReadonlyMap<string, ReviewedAsset> {
  const totals = new Map<string, ReviewedAsset>();
  for (const one of assets) {
    const key = one.policy + one.name;
    totals.set(key, { ...one, quantity: one.quantity + (totals.get(key)?.quantity ?? 0n) });
  }
  return totals;
}
