// @ts-check
/// <reference lib="dom" />
/**
 * A transaction from the intent to the ledger. The service builds it; this page computes its summary from the bytes,
 * and passes only a transaction that does exactly what is intended to the wallet.
 */
import { ApiError } from "../operator/api.js";
import { h, setText } from "../operator/dom.js";
import { alertBox, said } from "../operator/parts.js";
import { ask, client, readable, Refused } from "./ask.js";
import { summaryView } from "./summary.js";
import { again, outputsOf, signed } from "./wallet.js";

/** @typedef {import("../../client/summary.ts").Intent} Intent */
/** @typedef {import("../../client/summary.ts").Summary} Summary */
/** @typedef {import("../../client/summary.ts").Resolve} Resolve */
/** @typedef {import("./wallet.js").Wallet} Wallet */
/** @typedef {InstanceType<import("./ask.js").Client["TokenClient"]>} Service */
/** @typedef {{ wallet: Wallet, transaction: string, summary: Summary, resolve: Resolve }} Checked what may be signed */
/** @typedef {{ unsignedTransaction: string, summary: Summary, warnings?: { message: string }[] | undefined }} Built */
/**
 * @template {Built} B
 * @typedef {object} PaymentIntent
 * @property {string} title of the intended action
 * @property {(service: Service, wallet: Wallet) => Promise<B>} build
 * @property {(built: B, wallet: Wallet) => Intent} intent what the transaction must do
 */

/** How long one answer about a transaction is waited for, in milliseconds. */
const WAIT_MS = 20_000;

/** Text for the state of a transaction that no block has. @type {ReadonlyMap<unknown, string>} */
const OUTSIDE = new Map([
  ["mempool", "The transaction is in the mempool."],
  ["pending", "The transaction was submitted and is resubmitted to the network periodically."],
  ["rolled_back", "The block of the transaction was rolled back; the transaction is resubmitted."],
  ["expired", "The transaction has expired without being in a block; it had no effect."],
]);

/** A dialog of several steps; it gives the focus back when it is closed. @param {string} title */
function openSteps(title) {
  const status = h("p", { role: "status" });
  const alert = alertBox();
  const body = h("div");
  const left = new AbortController();
  const cancel = h("button", { type: "button", click: () => dialog.close() }, "Cancel");
  const buttons = h("div", { class: "buttons" }, cancel);
  const before = document.activeElement;
  const key = before?.getAttribute("data-key");
  const dialog = h(
    "dialog",
    {
      class: "wide",
      "aria-labelledby": "steps",
      close: () => {
        left.abort();
        dialog.remove();
        const found = before?.isConnected ? before : key && document.querySelector(`[data-key="${CSS.escape(key)}"]`);
        if (found instanceof HTMLElement) found.focus();
      },
    },
    h("h2", { id: "steps" }, title),
    status,
    body,
    alert.element,
    buttons,
  );
  document.body.append(dialog);
  dialog.showModal();
  return {
    body,
    buttons,
    cancel,
    signal: left.signal,
    /** @param {string} text */
    say: (text) => setText(status, text),
    /** @param {unknown} error */
    fail: (error) => alert.show(error === undefined ? undefined : readable(error)),
    /** Nothing more can be done here but to close it. */
    end: () => {
      buttons.replaceChildren(cancel);
      setText(cancel, "Close");
      cancel.focus();
    },
  };
}
/** @typedef {ReturnType<typeof openSteps>} Steps */

/** A refusal with every reason. @param {{ message: string, details?: unknown }} error */
export function refusal(error) {
  return new ApiError(0, "refused", `Refused: ${error.message} No signature was requested from your wallet.`);
}

/**
 * Builds, checks, shows, has signed and submits; resolves once the dialog has nothing more to do but to wait for the
 * reader.
 * @template {Built} B
 * @param {Wallet | undefined} connected @param {PaymentIntent<B>} wish
 */
export async function carry(connected, { title, build, intent }) {
  const steps = openSteps(title);
  try {
    if (!connected) throw new ApiError(0, "wallet", "Connect a wallet first: it signs, and its address pays.");
    const wallet = await again(connected);
    const { TokenClient, checkSummary, exactSummary, firstOf, fromSummary, fromUtxos } = await client();
    steps.say("The service builds the transaction.");
    const built = await build(new TokenClient(location.origin), wallet);
    steps.say("The transaction is decoded.");
    const summary = exactSummary(built.summary);
    const resolve = firstOf(fromUtxos(await outputsOf(wallet)), fromSummary(summary));
    const checked = await checkSummary({ ...built, summary }, intent(built, wallet), { resolve });
    if (steps.signal.aborted) return;
    if (!checked.ok) throw refusal(checked.error);
    steps.say("Verified in this browser: the transaction does what you requested and nothing else.");
    steps.body.replaceChildren(
      ...(built.warnings ?? []).map(({ message }) => h("p", { class: "error" }, `Warning: ${message}`)),
      summaryView(checked.value),
    );
    offer(steps, { wallet, transaction: built.unsignedTransaction, summary: checked.value, resolve });
  } catch (error) {
    steps.say("Nothing was signed.");
    steps.fail(error);
    steps.end();
  }
}

/**
 * The same for a transaction that another person prepared and signed.
 * @param {Wallet | undefined} connected @param {string} title
 * @param {(wallet: Wallet) => Promise<Checked>} check throws where it is not to be signed
 */
export async function carryOn(connected, title, check) {
  const steps = openSteps(title);
  try {
    if (!connected) throw new ApiError(0, "wallet", "Connect a wallet first: it signs.");
    const wallet = await again(connected);
    steps.say("The transaction is decoded.");
    const checked = await check(wallet);
    if (steps.signal.aborted) return;
    steps.say("Verified in this browser: the transaction transfers the token to you and takes nothing from you.");
    steps.body.replaceChildren(summaryView(checked.summary));
    offer(steps, checked);
  } catch (error) {
    steps.say("Nothing was signed.");
    steps.fail(error);
    steps.end();
  }
}

/** @param {Steps} steps @param {Checked} checked */
function offer(steps, checked) {
  const sign = h("button", {
    type: "button",
    class: "primary",
    click: async () => {
      sign.disabled = true;
      steps.fail(undefined);
      try {
        await signAndSubmit(steps, checked);
      } catch (error) {
        if (steps.signal.aborted) return;
        const lost = /** @type {{ code?: unknown }} */ (error).code === "unreachable";
        steps.say(lost ? "It is unknown whether it was submitted." : "It was not submitted.");
        steps.fail(error);
        sign.disabled = false;
        sign.focus();
      }
    },
  }, `Sign with ${checked.wallet.name}`);
  steps.buttons.append(sign);
  sign.focus();
}

/** @param {Steps} steps @param {Checked} checked */
async function signAndSubmit(steps, { wallet, transaction, summary, resolve }) {
  const { TokenClient, summarize } = await client();
  steps.say(`${wallet.name} asks you to sign.`);
  const all = await signed(wallet, transaction, summary.signers.some(({ key }) => key !== wallet.key));
  if (steps.signal.aborted) return;
  const now = await summarize(all, { resolve });
  const missing = now.ok ? now.value.signers.flatMap((one) => one.signed ? [] : [one.key]) : [wallet.key];
  if (missing.includes(wallet.key)) {
    throw new ApiError(0, "wallet", "The wallet has not signed with the key of the address. Nothing was submitted.");
  }
  if (missing.length > 0) return handOver(steps, all, missing);
  const hash = await new TokenClient(location.origin).submit(all);
  steps.end();
  if (hash !== summary.hash) {
    throw new ApiError(0, "", "The service returned another hash than that of the transaction.");
  }
  await watch(steps, hash);
}

/** Another person has to sign as well. @param {Steps} steps @param {string} transaction @param {string[]} missing */
function handOver(steps, transaction, missing) {
  const text = h("textarea", { id: "handed", rows: 6, readonly: true, spellcheck: "false" });
  text.value = transaction;
  steps.body.replaceChildren(
    h(
      "p",
      {},
      `Signed by you. The signature of the key ${
        missing.join(", ")
      } is missing: give this to its owner, who pastes it under “Accept a token”.`,
    ),
    h("label", { for: "handed" }, "The transaction with your signature"),
    text,
  );
  const copy = h("button", {
    type: "button",
    click: () => navigator.clipboard.writeText(transaction).then(() => said("Copied."), () => text.select()),
  }, "Copy");
  steps.say("Signed; one more signature is required.");
  steps.end();
  steps.buttons.prepend(copy);
}

/**
 * Says how a submitted transaction fares until a block has it, or the dialog is closed. @param {Steps} steps @param
 * {string} hash
 */
async function watch(steps, hash) {
  steps.say("Submitted. Waiting for a block.");
  while (!steps.signal.aborted) {
    try {
      /** @type {{ answer: { blockHeight: number } }} */
      const { answer } = await ask(`/transaction?txHash=${hash}&wait=${WAIT_MS}`, steps.signal);
      steps.say(`On the ledger, in block ${answer.blockHeight}.`);
      said("The transaction is on the ledger.");
      return;
    } catch (error) {
      if (steps.signal.aborted) return;
      const status = error instanceof Refused && error.status === 404 ? error.details?.status : undefined;
      if (status === undefined) {
        steps.say("Submitted. The service is temporarily not reachable.");
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        continue;
      }
      steps.say(OUTSIDE.get(status) ?? "Submitted. It is not in a block yet.");
      if (status === "expired") return;
    }
  }
}
