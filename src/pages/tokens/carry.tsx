/// <reference lib="dom" />
/**
 * A transaction from the intent to the ledger. The service builds it; this page computes its summary from the bytes,
 * and passes only a transaction that does exactly what is intended to the wallet.
 */
import { present } from "#src/base/present.ts";
import { signal } from "@preact/signals";
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
import { hrefOf, pathOf } from "../kit/router.ts";
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

function Steps({ job: one }: { readonly job: Job }) {
  const { title, wallet, verified } = one;
  const [stage, setStage] = useState<Stage>("checking");
  const [said, say] = useState("Your wallet is read.");
  const [error, setError] = useState<unknown>();
  const [checked, setChecked] = useState<Checked>();
  const [handed, setHanded] = useState("");
  const [missing, setMissing] = useState<readonly string[]>([]);
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

  const sign = async () => {
    setError(undefined);
    setStage("signing");
    try {
      await signAndSubmit(present(checked, "the checked transaction"));
    } catch (failure) {
      if (left.current.signal.aborted) return;
      const lost = failure instanceof ApiError && failure.code === "unreachable";
      say(lost ? "It is unknown whether it was submitted." : "It was not submitted.");
      setError(failure);
      setStage("review");
    }
  };
  const signAndSubmit = async ({ transaction, resolve }: Checked) => {
    const { TokenClient, summarize } = await client();
    say(`${wallet.browser.name} asks you to sign.`);
    const { summary } = transaction;
    const all = await signed(wallet, transaction, summary.signers.some(({ key }) => key !== wallet.key));
    if (left.current.signal.aborted) return;
    const now = await summarize(all.cbor, { resolve });
    const others = now.ok ? now.value.signers.flatMap((signer) => signer.signed ? [] : [signer.key]) : [wallet.key];
    if (others.includes(wallet.key)) {
      throw new ApiError(
        LOCAL,
        "wallet",
        "The wallet has not signed with the key of the address. Nothing was submitted.",
      );
    }
    if (others.length > 0) {
      setMissing(others);
      setHanded(all.cbor);
      say("Signed; one more signature is required.");
      sent.current = true;
      return setStage("handed");
    }
    const hash = await new TokenClient(location.origin).submit(all);
    sent.current = true;
    setStage("submitted");
    await watch(hash);
  };
  /** Says how the transaction fares until a block has it, or the dialog is closed. */
  const watch = async (hash: string) => {
    const { signal } = left.current;
    say("Submitted. Waiting for a block.");
    while (!signal.aborted) {
      try {
        const { blockHeight } = await get<{ blockHeight: number }>(
          `/transaction?txHash=${hash}&wait=${WAIT_MS}`,
          signal,
        );
        say(`On the ledger, in block ${blockHeight}.`);
        return setStage("landed");
      } catch (failure) {
        if (signal.aborted) return;
        const details = failure instanceof ApiError && failure.status === 404 ? failure.details : undefined;
        const status = (details as { status?: unknown } | undefined)?.status;
        if (status === undefined) {
          say("Submitted. The service is temporarily not reachable.");
          await new Promise((resolve) => setTimeout(resolve, 2_000));
          continue;
        }
        say(OUTSIDE.get(status) ?? "Submitted. It is not in a block yet.");
        if (status === "expired") return;
      }
    }
  };

  // what the reader has now, and is not looking at
  const received = checked?.transaction.summary.tokens.find(({ booted, ended, owner }) =>
    booted || (!ended && owner.before !== owner.after)
  )?.tokenId;
  const explorer = checked && explorerTx(checked.transaction.summary.hash);
  const faucet = error instanceof ApiError && error.code === "not_enough_money"
    ? faucetPage(wallet.address)
    : undefined;
  return (
    <Dialog title={title} onClose={close} wide>
      <p role="status" class={stage === "landed" ? "said good" : "said"}>{said}</p>
      {checked && stage !== "handed" && (
        <>
          {checked.warnings?.map(({ message }, i) => <p key={i} class="alert warn">Warning: {message}</p>)}
          <SummaryView summary={checked.transaction.summary} />
        </>
      )}
      {stage === "handed" && (
        <>
          <p>
            Signed by you. The signature of the key {missing.map((key) => <Id key={key} value={key} name="key hash" />)}
            {" "}
            is missing: give this text to its owner, who pastes it under “Accept a token”.
          </p>
          <div>
            <label for="handed">The transaction with your signature</label>
            <textarea id="handed" class="mono" rows={6} readOnly spellcheck={false} value={handed} />
          </div>
        </>
      )}
      <Alert error={withReasons(error)} />
      {faucet !== undefined && (
        <p class="note">
          Test ada is free on this devnet: <a href={faucet} target="_blank" rel="noopener">open its faucet</a> for{" "}
          <Id value={wallet.address} name="address" />, and try again.
        </p>
      )}
      <div class="buttons end">
        {stage === "handed" && (
          <button type="button" ref={button} class="primary" onClick={() => void copyText(handed)}>Copy</button>
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
    </Dialog>
  );
}
