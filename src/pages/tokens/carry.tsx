/// <reference lib="dom" />
/**
 * A transaction from the intent to the ledger. The service builds it; this page computes its summary from the bytes,
 * and passes only a transaction that does exactly what is intended to the wallet.
 */
import { present } from "#src/base/present.ts";
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import type { Resolve } from "#src/client/summary.ts";
import type {
  Checked as CheckedBuild,
  CheckedTransaction,
  PayingOptions,
  TokenClient,
  Unsigned,
} from "#src/client/tokens.ts";
import { Dialog } from "../kit/Dialog.tsx";
import { copyText, Id } from "../kit/Id.tsx";
import { lazy } from "../kit/parts.tsx";
import { hrefOf, pathOf, useElsewhere } from "../kit/router.ts";
import { Alert } from "../kit/states.tsx";
import { toast } from "../kit/toast.tsx";
import { outputsOf, signed, type Wallet } from "./cip30.ts";
import { client, config, explorerTx, faucetPage, get, LOCAL, withReasons } from "./service.ts";
import { walletNow } from "./wallet.tsx";

const SummaryView = lazy(() => import("./summary.tsx").then(({ SummaryView }) => SummaryView));

/** What may be signed. */
export interface Checked {
  readonly transaction: CheckedTransaction;
  readonly resolve: Resolve;
  readonly warnings?: readonly { readonly message: string }[] | undefined;
}

export interface TitledBuild {
  readonly title: string;
  /** Builds what the reader wants; the client checks it. */
  readonly build: (service: TokenClient, wallet: Wallet, options: PayingOptions) => Promise<CheckedBuild<Unsigned>>;
}

/** A transaction in the dialog. */
interface Job {
  readonly title: string;
  readonly wallet: Wallet;
  /** Says what is known before the signature. */
  readonly verified: string;
  /** Throws where the transaction is not to be signed. */
  readonly check: (say: (text: string) => void) => Promise<Checked>;
  readonly done: (submitted: boolean) => void;
}

const job = signal<Job | undefined>(undefined);

/** A transaction that is refused here, with the reason. */
export const refusal = (error: { readonly message: string }): ApiError =>
  new ApiError(LOCAL, "refused", `Refused: ${error.message} No signature was requested from your wallet.`);

/** How long one answer about a transaction is waited for, in milliseconds. */
const WAIT_MS = 20_000;

/** Text for the state of a transaction that no block has. */
const OUTSIDE: ReadonlyMap<unknown, string> = new Map([
  ["mempool", "The transaction is in the mempool."],
  ["pending", "The transaction was submitted and is resubmitted to the network periodically."],
  ["rolled_back", "The block of the transaction was rolled back; the transaction is resubmitted."],
  ["expired", "The transaction has expired without being in a block; it had no effect."],
]);

/** Asks for the wallet, and opens the dialog; resolves true when the transaction was submitted. */
async function start(
  title: string,
  verified: string,
  check: (wallet: Wallet, say: (text: string) => void) => Promise<Checked>,
) {
  let wallet: Wallet | undefined;
  try {
    wallet = await walletNow();
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), "bad");
    return false;
  }
  if (wallet === undefined) return false;
  const found = wallet;
  return await new Promise<boolean>((done) => {
    job.value = { title, verified, wallet: found, check: (say) => check(found, say), done };
  });
}

/** Builds, checks, shows, has signed and submits; resolves true when the transaction was submitted. */
export const carry = ({ title, build }: TitledBuild): Promise<boolean> =>
  start(
    title,
    "Verified in this browser: the transaction does what you requested and nothing else.",
    async (wallet, say) => {
      const { TokenClient, firstOf, fromSummary, fromUtxos } = await client();
      say("The service builds the transaction.");
      const own = fromUtxos(await outputsOf(wallet));
      const slots = config.peek()?.slots;
      try {
        const options = { resolve: own, ...(slots ? { slots } : {}) };
        const { checked, summary, warnings } = await build(new TokenClient(location.origin), wallet, options);
        return { transaction: checked, resolve: firstOf(own, fromSummary(summary)), warnings };
      } catch (error) {
        // what the service says has a status
        if (error instanceof ApiError && error.status === 0 && error.code !== "unreachable") throw refusal(error);
        throw error;
      }
    },
  );

/** The same for a transaction that another person prepared and signed. */
export const carryOn = (title: string, verified: string, check: (wallet: Wallet) => Promise<Checked>) =>
  start(title, verified, (wallet) => check(wallet));

/** Where the transaction is shown while there is one; the page has one of these. */
export function TransactionDialog() {
  const one = job.value;
  return one === undefined ? null : <Steps key={one.title} job={one} />;
}

/** What the dialog can do next. */
type Stage = "checking" | "review" | "signing" | "failed" | "submitted" | "landed" | "handed";

/** What came of a signature. */
type Outcome =
  | { readonly kind: "submitted"; readonly hash: string }
  /** Keys that have not signed, and the transaction for their owners. */
  | { readonly kind: "handed"; readonly missing: readonly string[]; readonly cbor: string }
  | { readonly kind: "closed" };

/** Has a transaction signed, and submits it where no other signature is missing. @throws {ApiError} */
async function signAndSubmit(
  wallet: Wallet,
  { transaction, resolve }: Checked,
  signal: AbortSignal,
): Promise<Outcome> {
  const { TokenClient, summarize } = await client();
  const { summary } = transaction;
  const all = await signed(wallet, transaction, summary.signers.some(({ key }) => key !== wallet.key));
  if (signal.aborted) return { kind: "closed" };
  const now = await summarize(all.cbor, { resolve });
  const missing = now.ok ? now.value.signers.flatMap((signer) => signer.signed ? [] : [signer.key]) : [wallet.key];
  if (missing.includes(wallet.key)) {
    throw new ApiError(
      LOCAL,
      "wallet",
      "The wallet has not signed with the key of the address. Nothing was submitted.",
    );
  }
  if (missing.length > 0) return { kind: "handed", missing, cbor: all.cbor };
  return { kind: "submitted", hash: await new TokenClient(location.origin).submit(all) };
}

/** Says how a transaction fares until a block has it, which is true, or it has expired or the dialog is closed. */
async function hasLanded(hash: string, say: (text: string) => void, signal: AbortSignal): Promise<boolean> {
  say("Submitted. Waiting for a block.");
  while (!signal.aborted) {
    try {
      const { blockHeight } = await get<{ blockHeight: number }>(
        `/transaction?txHash=${hash}&wait=${WAIT_MS}`,
        signal,
      );
      say(`On the ledger, in block ${blockHeight}.`);
      return true;
    } catch (failure) {
      if (signal.aborted) return false;
      const details = failure instanceof ApiError && failure.status === 404 ? failure.details : undefined;
      const status = (details as { status?: unknown } | undefined)?.status;
      if (status === undefined) {
        say("Submitted. The service is temporarily not reachable.");
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        continue;
      }
      say(OUTSIDE.get(status) ?? "Submitted. It is not in a block yet.");
      if (status === "expired") return false;
    }
  }
  return false;
}

function Steps({ job: one }: { readonly job: Job }) {
  const { title, wallet, verified } = one;
  const [stage, setStage] = useState<Stage>("checking");
  const [said, say] = useState("Your wallet is read.");
  const [error, setError] = useState<unknown>();
  const [checked, setChecked] = useState<Checked>();
  const [handed, setHanded] = useState<Extract<Outcome, { kind: "handed" }>>();
  const left = useRef(new AbortController());
  const sent = useRef(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    left.current.abort();
    if (job.peek() === one) job.value = undefined;
    one.done(sent.current);
  };
  useEffect(() => {
    one.check(say).then((found) => {
      if (left.current.signal.aborted) return;
      setChecked(found);
      say(verified);
      setStage("review");
    }, (failure) => {
      say("Nothing was signed.");
      setError(failure);
      setStage("failed");
    });
  }, []);
  // not `useEffect`: a key that is pressed before it runs would have no target
  useLayoutEffect(() => button.current?.focus(), [stage]);
  useElsewhere(() => ["checking", "review", "failed"].includes(stage) && close());

  const sign = async () => {
    setError(undefined);
    setStage("signing");
    try {
      await proceed(present(checked, "the checked transaction"));
    } catch (failure) {
      if (left.current.signal.aborted) return;
      const lost = failure instanceof ApiError && failure.code === "unreachable";
      say(lost ? "It is unknown whether it was submitted." : "It was not submitted.");
      setError(failure);
      setStage("review");
    }
  };
  const proceed = async (transaction: Checked) => {
    const { signal } = left.current;
    say(`${wallet.browser.name} asks you to sign.`);
    const outcome = await signAndSubmit(wallet, transaction, signal);
    if (outcome.kind === "closed") return;
    sent.current = true;
    if (outcome.kind === "handed") {
      setHanded(outcome);
      say("Signed; one more signature is required.");
      return setStage("handed");
    }
    setStage("submitted");
    if (await hasLanded(outcome.hash, say, signal)) setStage("landed");
  };
  return (
    <Dialog title={title} onClose={close} wide>
      <p role="status" class={stage === "landed" ? "said good" : "said"}>{said}</p>
      {checked && !handed && <Summary checked={checked} />}
      {handed && <Handed missing={handed.missing} cbor={handed.cbor} />}
      <Alert error={withReasons(error)} />
      {error instanceof ApiError && error.code === "not_enough_money" && <TestAda address={wallet.address} />}
      <Buttons {...{ stage, wallet, checked, handed, button, close, sign }} />
    </Dialog>
  );
}

function Summary({ checked: { transaction, warnings } }: { readonly checked: Checked }) {
  return (
    <>
      {warnings?.map(({ message }, i) => <p key={i} class="alert warn">Warning: {message}</p>)}
      <SummaryView summary={transaction.summary} />
    </>
  );
}

/** A transaction that its reader passes on to the owners of the keys that have not signed. */
function Handed({ missing, cbor }: { readonly missing: readonly string[]; readonly cbor: string }) {
  return (
    <>
      <p>
        Signed by you. The signature of the key {missing.map((key) => <Id key={key} value={key} name="key hash" />)}
        {" "}
        is missing: give this text to its owner, who pastes it under “Accept a token”.
      </p>
      <div>
        <label for="handed">The transaction with your signature</label>
        <textarea id="handed" class="mono" rows={6} readOnly spellcheck={false} value={cbor} />
      </div>
    </>
  );
}

/** Where a devnet gives test ada away. */
function TestAda({ address }: { readonly address: string }) {
  const faucet = faucetPage(address);
  if (faucet === undefined) return null;
  return (
    <p class="note">
      Test ada is free on this devnet: <a href={faucet} target="_blank" rel="noopener">open its faucet</a> for{" "}
      <Id value={address} name="address" />, and try again.
    </p>
  );
}

function Buttons({ stage, wallet, checked, handed, button, close, sign }: {
  readonly stage: Stage;
  readonly wallet: Wallet;
  readonly checked: Checked | undefined;
  readonly handed: { readonly cbor: string } | undefined;
  /** The button that gets the focus. */
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly close: () => void;
  readonly sign: () => Promise<void>;
}) {
  // what the reader has now, and is not looking at
  const received = checked?.transaction.summary.tokens.find(({ booted, ended, owner }) =>
    booted || (!ended && owner.before !== owner.after)
  )?.tokenId;
  const explorer = checked && explorerTx(checked.transaction.summary.hash);
  return (
    <div class="buttons end">
      {handed && (
        <button type="button" ref={button} class="primary" onClick={() => void copyText(handed.cbor)}>Copy</button>
      )}
      {received !== undefined && stage === "landed" && (
        <a class="button" href={hrefOf(pathOf("token", received))} onClick={close}>Open the token</a>
      )}
      {explorer !== undefined && stage === "landed" && (
        <a class="button" href={explorer} target="_blank" rel="noopener">Show in the explorer</a>
      )}
      {stage === "checking" || stage === "review" || stage === "signing"
        ? <button type="button" onClick={close}>Cancel</button>
        : (
          <button type="button" {...(stage === "handed" ? {} : { ref: button, class: "primary" })} onClick={close}>
            Done
          </button>
        )}
      {(stage === "review" || stage === "signing") && (
        <button type="button" ref={button} class="primary" disabled={stage === "signing"} onClick={sign}>
          {`Sign with ${wallet.browser.name}`}
        </button>
      )}
    </div>
  );
}
