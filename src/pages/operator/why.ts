/** Why an actor is stuck: what it waits for, in sentences, from what the service knows of it. Pure. */
import { span } from "../kit/span.ts";
import type { Actor, Lags } from "./types.ts";

/** One thing that an actor waits for. */
export interface Reason {
  /** `bad`: it fails. `warning`: an operator has to act. `waits`: it goes on by itself. `good`: it has arrived. */
  readonly tone: "bad" | "warning" | "waits" | "good";
  readonly text: string;
  /** An error, from outside. */
  readonly detail?: string;
  /** When it is attempted again; the sentence continues with it. */
  readonly next?: string;
  readonly advice?: string;
}

/** Failed attempts of an effect from which an operator should look at it. */
const MANY = 5;

/** After so many milliseconds without a block, that is a reason of its own: rare where a block comes every 20 s. */
const QUIET_MS = 90_000;

/**
 * Why an actor waits, the most important first. An actor that waits for nothing has no reason. `quietMs`: how long no block
 * has come, as far as it is known.
 */
export function reasonsOf(actor: Actor, lags: Lags | undefined, quietMs = 0): Reason[] {
  return [
    ...stopped(actor),
    ...effects(actor),
    ...(actor.entity.kind === "transaction" ? [...quiet(actor, quietMs), ...transaction(actor, lags)] : []),
    ...unread(actor),
  ];
}

function stopped({ paused, owner, mailbox }: Actor): Reason[] {
  if (paused) {
    return [{
      tone: "warning",
      text: "It is paused: it accepts no commands and reads nothing of the chain.",
      advice: "Resume it with the button above.",
    }];
  }
  if (owner === null) {
    return [{
      tone: "bad",
      text: "No worker owns its partition, so nothing happens to it.",
      advice: "Start a process with the role worker; a takeover needs some seconds.",
    }];
  }
  if (mailbox === null) {
    return [{
      tone: "warning",
      text: "Its worker does not answer.",
      advice: "Look at the worker; if it does not recover, restart it, and another one takes over.",
    }];
  }
  return mailbox.depth > 10 ? [{ tone: "waits", text: `${mailbox.depth} commands wait for it in its queue.` }] : [];
}

function effects({ effects }: Actor): Reason[] {
  return effects.map(({ name, n, attempts, error, nextAttempt }): Reason =>
    attempts === 0 ? { tone: "waits", text: `The effect ${name} #${n} runs or is about to run.`, next: nextAttempt } : {
      tone: attempts >= MANY ? "bad" : "warning",
      text: `The effect ${name} #${n} failed ${attempts === 1 ? "once" : `${attempts} times`}.`,
      next: nextAttempt,
      advice: "It is repeated until it succeeds. Correct what the error names.",
      ...(error === null ? {} : { detail: error }),
    }
  );
}

/** No block comes that could have the transaction. */
function quiet({ state }: Actor, quietMs: number): Reason[] {
  return state !== "pending" || quietMs < QUIET_MS ? [] : [{
    tone: "warning",
    text: `No block has come for ${span(quietMs)}, so no transaction gets into the ledger.`,
    advice:
      "Look at the network's provider: its node may be away or not in sync. A devnet makes a block on its page under Tools.",
  }];
}

/** What the state of a transaction means, and what is next. */
function transaction({ state, context, effects }: Actor, lags: Lags | undefined): Reason[] {
  const until = numberOf(context.validTo);
  const tip = lags?.follower?.tipSlot;
  const left = until === undefined || tip === undefined ? undefined : until - tip;
  const validity = until === undefined
    ? "It has no last slot, so it may wait for ever."
    : left === undefined
    ? `It expires at slot ${until}.`
    : left > 0
    ? `It expires at slot ${until}, in ${left} slots.`
    : `Its last slot ${until} has passed: it expires when the index has read a later block.`;
  if (state === "submitting") {
    return effects.length > 0 ? [] : [{ tone: "waits", text: `It is sent to the network. ${validity}` }];
  }
  if (state === "pending") {
    return [{
      tone: "waits",
      text: `The network accepted it, attempt ${numberOf(context.attempt) ?? 1}; it waits for a block. ${validity}`,
      advice: "If blocks come without it, another transaction may have spent its inputs: submit it again to learn why.",
    }];
  }
  if (state === "refused") {
    const failures = Array.isArray(context.failures) ? context.failures : [];
    return [{
      tone: "bad",
      text: "The network refuses it.",
      detail: failures.map(sentenceOf).join("\n") || "The network gave no reason.",
      advice: "Correct the cause and build a new transaction. If the cause was temporary, submit the same one again.",
    }];
  }
  if (state === "expired") {
    return [{
      tone: "bad",
      text: `It expired at slot ${until ?? "?"}: no block had it in time.`,
      advice: "Build and sign it again with a later validity. What it would have spent is free again.",
    }];
  }
  if (state === "forgotten") {
    return [{
      tone: "warning",
      text: "It was forgotten: it is no longer submitted. The network may still include it.",
    }];
  }
  if (state === "in_ledger") {
    const height = numberOf(context.height);
    return [
      context.valid === false
        ? {
          tone: "bad",
          text: `It is in block ${height ?? "?"}, but a script failed: only its collateral was taken.`,
          advice: "Correct the cause of the script's failure and build a new transaction.",
        }
        : { tone: "good", text: `It is in the ledger since block ${height ?? "?"}.` },
    ];
  }
  return [];
}

function unread({ unreadInputs, paused }: Actor): Reason[] {
  return unreadInputs === 0 ? [] : [{
    tone: paused ? "waits" : "warning",
    text: `${unreadInputs} ${unreadInputs === 1 ? "event" : "events"} of the chain wait for it.`,
    ...(paused ? {} : { advice: "They are read within seconds, unless its worker is overloaded." }),
  }];
}

const numberOf = (value: unknown) => typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;

function sentenceOf(failure: unknown): string {
  if (typeof failure !== "object" || failure === null) return String(failure);
  const { name, message } = failure as { name?: unknown; message?: unknown };
  return [name, message].filter((one) => typeof one === "string" && one !== "").join(": ");
}
