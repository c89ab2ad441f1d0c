// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/// <reference lib="dom" />
/**
 * From a built transaction to the ledger: it is read from its bytes here, shown, signed with the passphrase, and sent;
 * or passed on, where other owners or other programs have to sign.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import type { Constructed, Decoded, NetworkInformation } from "#src/client/wallets.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { type Data, Loaded, useData } from "../kit/data.tsx";
import { Form } from "../kit/forms.tsx";
import { copyText, Id } from "../kit/Id.tsx";
import { Badge, Facts, Panel } from "../kit/parts.tsx";
import { hrefOf, useBackStep } from "../kit/router.ts";
import { Table } from "../kit/Table.tsx";
import { DateTime } from "../kit/time.tsx";
import { AssetAmount, type AssetBook, useAssets } from "./assets.tsx";
import { Change, TransactionStatus } from "./historyTable.tsx";
import { pendingText, slotTime } from "./network.tsx";
import type { OwnKeys } from "./ownKeys.ts";
import { walletPath } from "./paths.ts";
import type { Requested, Review, ReviewedAsset } from "./review.ts";
import { isSatisfied, ownerName, ownersIn } from "./scripts.ts";
import { PassphraseForm } from "./secrets.tsx";
import { read, readPage, send, type Transaction, type WalletSummary } from "./service.ts";
import { purposeOf } from "./transactions.ts";
import type { WalletTab } from "./tab.ts";

/** A transaction that may be signed, with what was requested where it was built here. */
export interface Draft {
  /** CBOR in base64. */
  readonly transaction: string;
  readonly requested?: Requested | undefined;
  readonly warnings?: Constructed["warnings"];
}

/** Has the service build a transaction. @throws {ApiError} with advice */
export async function construct(wallet: WalletSummary, body: unknown, requested: Requested): Promise<Draft> {
  const built = await send<Constructed>("POST", `/${wallet.prefix}/${wallet.id}/transactions-construct`, body);
  return { transaction: built.transaction, requested, warnings: built.warnings };
}

type Signed = Pick<WalletTab, "wallet" | "reload">;

/**
 * `sign` opens the review of a draft; `signing` is the review, in place of the view, as long as there is one. `finished`
 * is called when the result was read.
 */
export function useDraft({ wallet, reload }: Signed, finished?: () => void) {
  const [begun, setBegun] = useState<{ readonly draft: Draft; readonly verb: string }>();
  const signing = begun && (
    <Signing
      wallet={wallet}
      draft={begun.draft}
      verb={begun.verb}
      back={() => setBegun(undefined)}
      finish={() => {
        setBegun(undefined);
        finished?.();
      }}
      done={() => void reload()}
    />
  );
  return { sign: (verb: string, draft: Draft) => setBegun({ verb, draft }), signing };
}

/** Builds transactions of a view, one at a time: as `useDraft`; `error` says why the last one was not built. */
export function useSigning({ wallet, reload }: Signed) {
  const { sign, signing } = useDraft({ wallet, reload });
  const [error, setError] = useState<unknown>();
  const begin = async (verb: string, body: unknown, requested: Requested) => {
    setError(undefined);
    try {
      sign(verb, await construct(wallet, body, requested));
    } catch (failure) {
      setError(failure);
      document.querySelector("#main")?.scrollIntoView();
    }
  };
  return { begin, error, signing };
}

/** A transaction as it was read here. */
export interface Reviewed {
  readonly review: Review;
  readonly own: OwnKeys;
  /** Owners of a shared wallet who have signed. */
  readonly signers: ReadonlySet<string>;
}

/** Reads a transaction in the browser; the service only names the paths of addresses, which are derived again here. */
export async function reviewOf(wallet: WalletSummary, { transaction, requested }: Draft): Promise<Reviewed> {
  const { reviewTransaction, transactionBytes, CborError } = await import("./review.ts");
  const bytes = transactionBytes(transaction);
  if (bytes === undefined) {
    throw new ApiError(400, "bad_request", "This is no transaction: it is neither base64 nor hexadecimal.");
  }
  const [{ signersAmong }, own, decoded] = await Promise.all([
    import("./ownKeys.ts"),
    ownKeysOf(wallet),
    send<Decoded>("POST", `/${wallet.prefix}/${wallet.id}/transactions-decode`, { transaction }),
  ]);
  const paths = new Map(
    [...decoded.outputs, ...decoded.inputs].flatMap(({ address, derivation_path: path }) =>
      address && path ? [[address, path] as const] : []
    ),
  );
  try {
    const review = reviewTransaction(bytes, { own, paths, requested });
    const inputPaths = decoded.inputs.flatMap(({ derivation_path: path }) => path ? [path] : []);
    const signers = wallet.payment
      ? signersAmong(wallet.payment as never, review.signed, inputPaths)
      : new Set<string>();
    return { review, own, signers };
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw new ApiError(400, "bad_request", `This is no transaction: ${error.message}.`);
  }
}

const keys = new Map<string, Promise<OwnKeys>>();

/** What belongs to a wallet, from its public keys. They never change, so they are read once. */
function ownKeysOf(wallet: WalletSummary): Promise<OwnKeys> {
  const known = keys.get(wallet.id);
  if (known) return known;
  const made = derive(wallet);
  keys.set(wallet.id, made);
  made.catch(() => keys.delete(wallet.id));
  return made;
}

async function derive({ prefix, id, payment, staking }: WalletSummary): Promise<OwnKeys> {
  const [{ singleOwner, severalOwners }, { network_info: info }] = await Promise.all([
    import("./ownKeys.ts"),
    read<NetworkInformation>("/network/information"),
  ]);
  const network = info.network_id === "mainnet" ? 1 : 0;
  if (payment) return severalOwners(payment as never, staking as never, network);
  return singleOwner(await read<string>(`/${prefix}/${id}/keys`, { format: "extended" }), network);
}

/** A step behind a form, in its place: it has the focus, and the browser's Back returns to the form. */
export function Step({ back, children }: { readonly back: () => void; readonly children: ComponentChildren }) {
  const top = useRef<HTMLDivElement>(null);
  // the button that led here is gone, and with it the focus
  useLayoutEffect(() => top.current?.focus(), []);
  useBackStep(back);
  return <div ref={top} tabIndex={-1} class="focused">{children}</div>;
}

const UNKNOWN = "The service did not answer, so it is not known whether the transaction was sent. " +
  "Once the service runs, sign again: a transaction cannot be in the ledger twice.";

/** Shows a draft, and takes it to the ledger. `back` returns to the form. */
function Signing({ wallet, draft, verb, back, finish, done }: {
  readonly wallet: WalletSummary;
  readonly draft: Draft;
  /** What is done: `Send`. */
  readonly verb: string;
  readonly back: () => void;
  /** Called when the result was read. */
  readonly finish: () => void;
  /** Called when the transaction was sent, and when it is in the ledger. */
  readonly done?: (() => void) | undefined;
}) {
  const [text, setText] = useState(draft.transaction);
  const [sent, setSent] = useState<string>();
  const reviewed = useData(() => reviewOf(wallet, { ...draft, transaction: text }), [wallet.id, text], { keep: true });
  const book = useAssets(wallet);
  const top = useRef<HTMLDivElement>(null);
  // the button that led here is gone, and with it the focus
  useLayoutEffect(() => top.current?.focus(), []);
  useBackStep(sent === undefined ? back : finish);
  if (sent !== undefined) return <Sent wallet={wallet} hash={sent} back={finish} landed={done} />;
  const submit = async (signed: string, hash: string) => {
    try {
      await send("POST", `/${wallet.prefix}/${wallet.id}/transactions-submit`, { transaction: signed }, hash);
    } catch (error) {
      throw error instanceof ApiError && error.status === 0 ? new ApiError(503, "submit_unknown", UNKNOWN) : error;
    }
    done?.();
    setSent(hash);
  };
  return (
    <div ref={top} tabIndex={-1} class="focused">
      <Panel title="Check before you sign" aside={<button type="button" class="small" onClick={back}>Back</button>}>
        <Loaded data={reviewed as Data<Reviewed>} rows={8}>
          {({ review, signers }) => (
            <>
              <ReviewView review={review} book={book.value} />
              {(draft.warnings ?? []).map(({ code, message }) => <p key={code} class="alert warn">{message}</p>)}
              {review.problems.length > 0
                ? (
                  <div class="alert" role="alert">
                    <p>
                      <b>Do not sign this.</b> The transaction is not what you requested:
                    </p>
                    <ul>{review.problems.map((problem) => <li key={problem}>{problem}</li>)}</ul>
                    <p>Nothing was signed or sent.</p>
                  </div>
                )
                : wallet.payment
                ? (
                  <SharedSigning
                    wallet={wallet}
                    review={review}
                    signers={signers}
                    transaction={text}
                    replace={setText}
                    submit={submit}
                    sentByOther={() => {
                      done?.();
                      setSent(review.hash);
                    }}
                  />
                )
                : wallet.signs
                ? (
                  <OwnSigning
                    wallet={wallet}
                    review={review}
                    transaction={text}
                    verb={verb}
                    submit={submit}
                    back={back}
                  />
                )
                : <Outside transaction={text} review={review} submit={submit} />}
            </>
          )}
        </Loaded>
      </Panel>
    </div>
  );
}

/** Signs, and makes sure that what comes back is what was shown. @throws {ApiError} */
async function signed(wallet: WalletSummary, transaction: string, passphrase: string, hash: string): Promise<string> {
  const { reviewTransaction, transactionBytes } = await import("./review.ts");
  const answer = await send<{ transaction: string }>("POST", `/${wallet.prefix}/${wallet.id}/transactions-sign`, {
    transaction,
    passphrase,
  });
  const bytes = transactionBytes(answer.transaction);
  const own = await ownKeysOf(wallet);
  if (bytes === undefined || reviewTransaction(bytes, { own, paths: new Map() }).hash !== hash) {
    throw new ApiError(
      409,
      "other_transaction",
      "The service signed another transaction than the one shown here. It was not sent.",
    );
  }
  return answer.transaction;
}

function OwnSigning({ wallet, review, transaction, verb, submit, back }: {
  readonly wallet: WalletSummary;
  readonly review: Review;
  readonly transaction: string;
  readonly verb: string;
  readonly submit: (signed: string, hash: string) => Promise<void>;
  readonly back: () => void;
}) {
  return (
    <PassphraseForm
      verb={verb}
      cancel={back}
      run={async (passphrase) => await submit(await signed(wallet, transaction, passphrase, review.hash), review.hash)}
    />
  );
}

/** What each owner has done, and what is next. */
function SharedSigning({ wallet, review, signers, transaction, replace, submit, sentByOther }: {
  readonly wallet: WalletSummary;
  readonly review: Review;
  readonly signers: ReadonlySet<string>;
  readonly transaction: string;
  readonly replace: (transaction: string) => void;
  readonly submit: (signed: string, hash: string) => Promise<void>;
  /** Called when the history has the transaction, because another owner has sent it. */
  readonly sentByOther: () => void;
}) {
  const template = wallet.payment!.template as never;
  const owners = ownersIn(template);
  const enough = isSatisfied(template, signers, review);
  const path = `/${wallet.prefix}/${wallet.id}`;
  const key = useData((signal) => read<string>(`${path}/keys`, { format: "extended" }, signal), [path]);
  const self = owners.find((owner) => wallet.payment!.cosigners[owner] === key.value);
  const hasSigned = self !== undefined && signers.has(self);
  const passedOn = signers.size > 0;
  const latest = useData(
    async (signal) =>
      passedOn ? (await readPage<Transaction>(`${path}/transactions`, { limit: 10 }, signal)).entries : [],
    [path, passedOn],
    { everyMs: 3_000 },
  );
  const isSent = latest.value?.some(({ id }) => id === review.hash) ?? false;
  useEffect(() => {
    if (isSent) sentByOther();
  }, [isSent]);
  const done = useRef<HTMLParagraphElement>(null);
  // the form with the focus is gone
  useLayoutEffect(() => done.current?.focus(), [hasSigned]);
  return (
    <>
      <h3>Signatures</h3>
      <ul class="plain-list signers">
        {owners.map((owner) => (
          <li key={owner} class="spread">
            <span>{ownerName(owner)}</span>
            {signers.has(owner) ? <Badge tone="good">Signed</Badge> : <Badge>Not yet</Badge>}
          </li>
        ))}
      </ul>
      {enough
        ? (
          <>
            <p>Enough owners have signed. Any of them can send it now.</p>
            <Form verb="Send to the network" run={() => submit(transaction, review.hash)}>{null}</Form>
          </>
        )
        : hasSigned
        ? (
          <p ref={done} tabIndex={-1} class="alert info focused" role="status">
            You have signed. The other owners have to sign as well.
          </p>
        )
        : (
          <PassphraseForm
            verb="Sign"
            run={async (passphrase) => replace(await signed(wallet, transaction, passphrase, review.hash))}
          />
        )}
      {!enough && signers.size > 0 && (
        <PassOn
          transaction={transaction}
          hash={review.hash}
          text="Pass it on to an owner who has not signed yet: they open this wallet on their page, and paste it under Sign. This page says when it is sent."
        />
      )}
    </>
  );
}

/** For a wallet whose keys are elsewhere: the transaction to sign there, and a place for the signed one. */
function Outside({ transaction, review, submit }: {
  readonly transaction: string;
  readonly review: Review;
  readonly submit: (signed: string, hash: string) => Promise<void>;
}) {
  const [text, setText] = useState("");
  return (
    <>
      <PassOn
        transaction={transaction}
        hash={review.hash}
        text="This wallet only watches. Sign the transaction where its keys are, and paste the signed one below."
      />
      <Form
        verb="Send to the network"
        disabled={text.trim() === ""}
        run={() => submit(text.replaceAll(/\s/g, ""), review.hash)}
      >
        <TransactionField label="Signed transaction" value={text} onInput={setText} />
      </Form>
    </>
  );
}

/** A transaction as text and as a file. */
export function PassOn({ transaction, hash, text }: {
  readonly transaction: string;
  readonly hash: string;
  readonly text: ComponentChildren;
}) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([transaction], { type: "text/plain" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `transaction-${hash.slice(0, 8)}.txt`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return (
    <div class="pass-on">
      <p>{text}</p>
      <textarea class="mono" rows={4} readOnly aria-label="The transaction as text" value={transaction} />
      <div class="buttons">
        <button type="button" onClick={() => void copyText(transaction, "Copied the transaction")}>
          Copy the text
        </button>
        <button type="button" onClick={save}>Save as a file</button>
      </div>
    </div>
  );
}

/** A field for a transaction, as text or from a file. */
export function TransactionField({ label, value, onInput }: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
}) {
  return (
    <div class="field">
      <label>
        <span class="label">{label}</span>
        <textarea
          class="mono"
          rows={5}
          spellcheck={false}
          autocomplete="off"
          placeholder="Base64 or hexadecimal"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      <label>
        <span class="label">or open a file</span>
        <input
          type="file"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            void file?.text().then((text) => onInput(text.trim()));
          }}
        />
      </label>
    </div>
  );
}

/** What a transaction does, as it was read from its bytes. */
export function ReviewView({ review, book }: { readonly review: Review; readonly book: AssetBook | undefined }) {
  const assets = (list: readonly ReviewedAsset[], signed = false) =>
    list.map(({ policy, name, fingerprint, quantity }) => (
      <AssetAmount
        key={policy + name}
        book={book}
        policy={policy}
        name={name}
        fingerprint={fingerprint}
        quantity={quantity}
        signed={signed}
      />
    ));
  const change = review.returns.reduce((sum, { lovelace }) => sum + lovelace, 0n);
  const kept = [...totalsOf(review.returns.flatMap((one) => one.assets)).values()];
  const until = review.validTo === undefined ? undefined : slotTime(review.validTo);
  return (
    <>
      {review.actions.length > 0 && (
        <ul class="actions">{review.actions.map((action) => <li key={action}>{action}</li>)}</ul>
      )}
      {review.pays.length > 0 && (
        <Table
          caption="Recipients"
          showCaption
          rows={review.pays.map((one, i) => ({ ...one, key: String(i) }))}
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
              cell: ({ lovelace, assets: some }) => (
                <span class="changes">
                  <Ada lovelace={lovelace} />
                  {assets(some)}
                </span>
              ),
            },
          ]}
        />
      )}
      <Facts
        align="right"
        pairs={[
          [
            "Mints or burns",
            review.mints.length > 0 ? <span class="changes">{assets(review.mints, true)}</span> : undefined,
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
                  ? assets(kept)
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
      <p class="note checked">Read from the transaction's bytes in this browser, not taken from the service.</p>
    </>
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

/** A transaction that was sent, on its way to the ledger. */
export function Sent({ wallet, hash, back, landed }: {
  readonly wallet: WalletSummary;
  readonly hash: string;
  readonly back: () => void;
  /** Called once it is in the ledger. */
  readonly landed?: (() => void) | undefined;
}) {
  const data = useData(
    (signal) => read<Transaction>(`/${wallet.prefix}/${wallet.id}/transactions/${hash}`, {}, signal),
    [hash],
    { everyMs: 1_500 },
  );
  useLayoutEffect(() => document.querySelector<HTMLElement>("#sent")?.focus(), []);
  const book = useAssets(wallet);
  const status = data.value?.status ?? "pending";
  useEffect(() => {
    if (status === "in_ledger") landed?.();
  }, [status]);
  return (
    <Panel title="Sent">
      <div id="sent" tabIndex={-1} role="status">
        {status === "in_ledger"
          ? <p class="alert info">It is in the ledger.</p>
          : status === "expired"
          ? <p class="alert">It expired before a block had it. Nothing was spent.</p>
          : <p class="alert info">{pendingText()}</p>}
      </div>
      {data.value && (
        <p class="result">
          <b>{purposeOf(data.value)}</b> <Change transaction={data.value} book={book.value} />
        </p>
      )}
      <Facts
        pairs={[
          ["Status", data.value ? <TransactionStatus transaction={data.value} /> : <Badge tone="warn">Pending</Badge>],
          ["Fee", data.value && <Ada lovelace={data.value.fee.quantity} />],
          ["Transaction", <Id value={hash} name="transaction id" full />],
        ]}
      />
      <div class="buttons">
        <a class="button primary" href={hrefOf(walletPath(wallet, "history", hash))}>Show the transaction</a>
        <button type="button" onClick={back}>Done</button>
      </div>
    </Panel>
  );
}
