/** Rules by intent type: what a transaction does to tokens and requests must be exactly what is intended. */
import type { Party, Summary, SummaryChange } from "#src/contract/summary/schema.ts";
import { EMPTY_ROOT } from "#src/contract/datum.ts";
import type { Intent, IntentOf, Reason } from "#src/contract/summary/intent.ts";
import {
  addressKey,
  check,
  DEFAULT_MAX_LOCKED,
  DEFAULT_MAX_OFFERED,
  holdsNothingElse,
  isPlain,
  ownerOf,
  type Pay,
} from "#src/contract/summary/rules.ts";

/** Kinds of changes to tokens: how many a summary has, and the reason if that is another number than is intended. */
const COUNTS = {
  tokens: [
    ({ tokens }: Summary) => tokens.length,
    "token",
    "The number of tokens that it concerns does not match the intent.",
  ],
  states: [
    ({ pays }: Summary) => pays.filter(({ purpose }) => purpose === "state").length,
    "state",
    "The number of states that it creates does not match the intent.",
  ],
  requests: [
    ({ requests }: Summary) => requests.length,
    "request",
    "The number of requests that it creates does not match the intent.",
  ],
  retracts: [
    ({ retracts }: Summary) => retracts.length,
    "retract",
    "The number of requests that it retracts does not match the intent.",
  ],
  mints: [({ mints }: Summary) => mints.length, "mint", "It mints or burns other tokens than the intent."],
  spent: [
    ({ spends }: Summary) => spends.filter(({ output }) => output?.holds).length,
    "input",
    "The number of contract outputs that it spends does not match the intent.",
  ],
  runs: [
    ({ scripts }: Summary) => scripts.length,
    "script",
    "The number of scripts that it runs does not match the intent.",
  ],
} as const;
type Counts = Partial<Record<keyof typeof COUNTS, number>>;

/** Checks the number of each kind of change to tokens; a kind that is not listed must not occur. */
function checkCounts(summary: Summary, meant: Counts): Reason[] {
  const numbers = new Map(Object.entries(meant));
  return Object.entries(COUNTS).flatMap(([kind, [count, code, message]]) =>
    check(count(summary) === (numbers.get(kind) ?? 0), code, message)
  );
}

const requesterOf = (summary: Summary) => addressKey(summary.address ?? "");

/** Whether an output is at the contract's own address, in the intended version, and carries no script. */
function isAtContract(pay: Pay, policy: string, intent: Intent): boolean {
  const version = intent.policy === undefined || intent.policy === policy;
  return pay.whose === ("contract" satisfies Party) && pay.script === null && pay.datumHash === null && version;
}

/** Checks a token's next state: its address, that it holds only the token, and how much more lovelace it locks. */
function* nextState(summary: Summary, tokenId: string, intent: Intent, before: bigint): Generator<Reason> {
  const { maxLocked = DEFAULT_MAX_LOCKED } = intent;
  const [pay] = summary.pays.filter(({ purpose }) => purpose === "state");
  const holds = pay?.holds;
  if (!pay || holds?.type !== "state") return;
  const [[asset, quantity] = [], ...others] = Object.entries(pay.amount.assets);
  yield* check(
    pay.index === 0 && holds.tokenId === tokenId && isAtContract(pay, holds.policy, intent) &&
      asset === holds.policy + tokenId && quantity === 1n && others.length === 0,
    "state",
    "The token's next state does not match the intent.",
  );
  yield* check(
    pay.amount.lovelace - before <= maxLocked,
    "locked",
    `It locks ${pay.amount.lovelace - before} lovelace more in the token's state; the maximum is ${maxLocked}.`,
  );
}

type ExpectedChange = Pick<SummaryChange, "key"> & Partial<SummaryChange>;

function* requestRules(
  summary: Summary,
  intent: IntentOf<"insert"> | IntentOf<"update"> | IntentOf<"delete">,
  meant: ExpectedChange,
): Generator<Reason> {
  yield* checkCounts(summary, { requests: 1 });
  const { maxLocked = DEFAULT_MAX_LOCKED, maxOffered = DEFAULT_MAX_OFFERED } = intent;
  for (const request of summary.requests) {
    const { change, locked } = request;
    const pay = summary.pays.find(({ index }) => index === request.index);
    yield* check(
      request.tokenId === intent.token && pay !== undefined && isAtContract(pay, request.policy, intent),
      "token",
      `It is a request for another token: ${request.tokenId}.`,
    );
    yield* check(
      change.type === intent.type && change.key === meant.key && change.oldValue === (meant.oldValue ?? null) &&
        change.newValue === (meant.newValue ?? null),
      "change",
      "The requested change does not match the intent.",
    );
    yield* check(
      request.refundAddress === summary.address,
      "refund",
      `The deposit would be refunded to ${request.refundAddress}.`,
    );
    yield* check(
      locked.lovelace <= maxLocked && holdsNothingElse(locked),
      "locked",
      `It locks ${locked.lovelace} lovelace; the maximum is ${maxLocked}.`,
    );
    yield* check(
      request.offered <= maxOffered && request.offered <= locked.lovelace,
      "offered",
      `It offers ${request.offered} lovelace to the token owner; the maximum is ${maxOffered}.`,
    );
  }
}

/** Rules where one token's state is spent and replaced. */
function* stateUpdateRules(
  summary: Summary,
  intent: IntentOf<"apply"> | IntentOf<"transfer">,
  owner: string | undefined,
): Generator<Reason> {
  const own = requesterOf(summary);
  for (const token of summary.tokens) {
    yield* check(
      token.tokenId === intent.token && !token.booted && !token.ended,
      "token",
      "It updates another token.",
    );
    yield* check(
      token.owner.before === own && owner !== undefined && token.owner.after === owner,
      "owner",
      `The owner would be ${token.owner.after}.`,
    );
    yield* check(token.proven === true, "proven", "The new root does not follow from the changes.");
    yield* check(token.skips.length === 0, "skip", "It passes requests over.");
    yield* nextState(summary, intent.token, intent, token.locked.before ?? 0n);
  }
}

type IntentRules = { readonly [T in Intent["type"]]: (summary: Summary, intent: IntentOf<T>) => Iterable<Reason> };

/** For each intent: the reasons why a transaction's changes to tokens and requests differ from it. */
export const INTENT_RULES: IntentRules = {
  *boot(summary, intent) {
    yield* checkCounts(summary, { tokens: 1, states: 1, mints: 1, runs: 1 });
    for (const { tokenId, booted, owner, root } of summary.tokens) {
      yield* check(booted && root.after === EMPTY_ROOT, "token", "It does not boot a token without facts.");
      yield* check(intent.token === undefined || intent.token === tokenId, "token", `The token would be ${tokenId}.`);
      yield* check(owner.after === requesterOf(summary), "owner", `The owner would be ${owner.after}.`);
      yield* check(
        summary.mints.every((one) => one.meaning === "boot" && one.tokenId === tokenId),
        "mint",
        "It mints additional assets.",
      );
      yield* nextState(summary, tokenId, intent, 0n);
    }
  },
  insert: (summary, intent) => requestRules(summary, intent, { key: intent.key, newValue: intent.newValue }),
  update: (summary, intent) =>
    requestRules(summary, intent, { key: intent.key, oldValue: intent.oldValue, newValue: intent.newValue }),
  delete: (summary, intent) => requestRules(summary, intent, { key: intent.key, oldValue: intent.oldValue }),
  *retract(summary, intent) {
    yield* checkCounts(summary, { retracts: 1, spent: 1, runs: 1 });
    for (const { outputRef, owner } of summary.retracts) {
      yield* check(outputRef === outputRefText(intent.request), "request", `It takes back ${outputRef}.`);
      yield* check(owner === requesterOf(summary), "request", "It retracts a request of another requester.");
    }
  },
  *apply(summary, intent) {
    const applies = summary.tokens.flatMap((token) => token.applies.map(({ outputRef }) => outputRef));
    const refuses = summary.tokens.flatMap((token) => token.refuses?.map(({ outputRef }) => outputRef) ?? []);
    const ends = applies.length + refuses.length;
    const runs = 1 + ends;
    yield* checkCounts(summary, { tokens: 1, states: 1, spent: runs, runs });
    yield* stateUpdateRules(summary, intent, requesterOf(summary));
    yield* check(ends > 0, "request", "It applies no request.");
    yield* check(
      intent.requests === undefined || areExactly(applies, intent.requests),
      "request",
      "The applied requests do not match the intent.",
    );
    yield* check(areExactly(refuses, intent.refuse ?? []), "refuse", "The refused requests do not match the intent.");
    yield* check(
      intent.root === undefined || summary.tokens.every(({ root }) => root.after === intent.root),
      "root",
      "It results in another root.",
    );
    yield* check(summary.refunds.length === ends, "refund", "It does not refund every request.");
    for (const { index, request, lovelace } of summary.refunds) {
      const pay = summary.pays.find((one) => one.index === index);
      const spent = summary.spends.find(({ outputRef }) => outputRef === request)?.output;
      const holds = spent?.holds;
      yield* check(
        pay !== undefined && isPlain(pay) && holdsNothingElse(pay.amount) && holds?.type === "request" &&
          spent !== undefined && spent !== null && holdsNothingElse(spent.amount) &&
          lovelace === spent.amount.lovelace - (refuses.includes(request) ? 0n : holds.offered),
        "refund",
        `The refund of ${request} is missing or wrong.`,
      );
    }
  },
  *transfer(summary, intent) {
    yield* checkCounts(summary, { tokens: 1, states: 1, spent: 1, runs: 1 });
    yield* stateUpdateRules(summary, intent, ownerOf(intent.to));
    yield* check(
      summary.tokens.every(({ root, applies }) => root.before === root.after && applies.length === 0),
      "root",
      "It changes facts.",
    );
  },
  *end(summary, intent) {
    yield* checkCounts(summary, { tokens: 1, mints: 1, spent: 1, runs: 2 });
    for (const { tokenId, ended, owner } of summary.tokens) {
      yield* check(ended && tokenId === intent.token, "token", `It does not end the token ${intent.token}.`);
      yield* check(owner.before === requesterOf(summary), "owner", "The token has another owner.");
    }
  },
};

/** Whether outputs are exactly the intended ones, in any order. */
function areExactly(outputs: readonly string[], meant: readonly string[]): boolean {
  return [...outputs].sort().join() === [...new Set(meant.map(outputRefText))].sort().join();
}

function outputRefText(ref: string): string {
  return ref.toLowerCase().replace("#", "-");
}
