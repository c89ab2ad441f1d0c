// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/// <reference lib="dom" />
/**
 * From a built transaction to the ledger: it is read from its bytes here, shown, signed with the passphrase, and sent;
 * or passed on, where other owners or other programs have to sign.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { Loaded, useData } from "../kit/data.tsx";
import { Form } from "../kit/forms.tsx";
import { Badge, Panel } from "../kit/parts.tsx";
import { useBackStep } from "../kit/router.ts";
import { useAssets } from "./assets.tsx";
import type { KeyedTemplate } from "./ownKeys.ts";
import type { Requested, Review } from "./review.ts";
import { isSatisfied, ownerName, ownersIn } from "./scripts.ts";
import { PassphraseForm } from "./secrets.tsx";
import { read, readPage, send, type Transaction, type WalletSummary } from "./service.ts";
import type { WalletTab } from "./tab.ts";
import { construct, type Draft, ownKeysOf, reviewOf } from "./draft.ts";
import { PassOn, TransactionField } from "./passOn.tsx";
import { ReviewView } from "./ReviewView.tsx";
import { Sent } from "./Sent.tsx";

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
        <Loaded data={reviewed} rows={8}>
          {({ review, signers }) => (
            <>
              <ReviewView review={review} book={book.value} />
              {(draft.warnings ?? []).map(({ code, message }) => <p key={code} class="alert warn">{message}</p>)}
              {review.problems.length > 0 ? <DoNotSign problems={review.problems} /> : wallet.payment
                ? (
                  <SharedSigning
                    wallet={wallet}
                    payment={wallet.payment}
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

function DoNotSign({ problems }: Pick<Review, "problems">) {
  return (
    <div class="alert" role="alert">
      <p>
        <b>Do not sign this.</b> The transaction is not what you requested:
      </p>
      <ul>{problems.map((problem) => <li key={problem}>{problem}</li>)}</ul>
      <p>Nothing was signed or sent.</p>
    </div>
  );
}

/** Signs, and makes sure that what comes back is what was shown. @throws {ApiError} */
async function signed(
  wallet: WalletSummary,
  transaction: string,
  passphrase: string,
  hash: string,
): Promise<string> {
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
function SharedSigning({ wallet, payment, review, signers, transaction, replace, submit, sentByOther }: {
  readonly wallet: WalletSummary;
  readonly payment: KeyedTemplate;
  readonly review: Review;
  readonly signers: ReadonlySet<string>;
  readonly transaction: string;
  readonly replace: (transaction: string) => void;
  readonly submit: (signed: string, hash: string) => Promise<void>;
  /** Called when the history has the transaction, because another owner has sent it. */
  readonly sentByOther: () => void;
}) {
  const owners = ownersIn(payment.template);
  const enough = isSatisfied(payment.template, signers, review);
  const path = `/${wallet.prefix}/${wallet.id}`;
  const key = useData((signal) => read<string>(`${path}/keys`, { format: "extended" }, signal), [path]);
  const self = owners.find((owner) => payment.cosigners[owner] === key.value);
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
