/** What a transaction does to tokens and requests, held against what is meant: neither less nor more. */
import type { Party, Summary, SummaryChange } from "#src/api/summary.ts";
import { EMPTY_ROOT } from "#src/cage/datum.ts";
import type { Intent, Of, Reason } from "#src/cage/summary/intent.ts";
import { addressKey } from "#src/cage/summary/keys.ts";
import {
  holdsNothingElse,
  isPlain,
  MOST_LOCKED,
  MOST_OFFERED,
  ownerOf,
  type Pay,
  unless,
} from "#src/cage/summary/rules.ts";

/** Counts of all that a transaction can do to tokens, where they are not those that are meant. */
function counted(
  summary: Summary,
  meant: {
    readonly tokens?: number;
    readonly requests?: number;
    readonly retracts?: number;
    readonly mints?: number;
    readonly states?: number;
    readonly spent?: number;
    readonly runs?: number;
  },
): Reason[] {
  const states = summary.pays.filter(({ purpose }) => purpose === "state").length;
  const spent = summary.spends.filter(({ output }) => output?.holds).length;
  return [
    ...unless(
      summary.tokens.length === (meant.tokens ?? 0),
      "token",
      "It concerns another number of tokens than is meant.",
    ),
    ...unless(states === (meant.states ?? 0), "state", "It makes another number of states than is meant."),
    ...unless(
      summary.requests.length === (meant.requests ?? 0),
      "request",
      "It makes another number of requests than is meant.",
    ),
    ...unless(
      summary.retracts.length === (meant.retracts ?? 0),
      "retract",
      "It takes another number of requests back than is meant.",
    ),
    ...unless(summary.mints.length === (meant.mints ?? 0), "mint", "It mints or burns something else than is meant."),
    ...unless(
      spent === (meant.spent ?? 0),
      "input",
      "It spends another number of outputs of the contract than is meant.",
    ),
    ...unless(
      summary.scripts.length === (meant.runs ?? 0),
      "script",
      "It runs another number of scripts than is meant.",
    ),
  ];
}

const requesterOf = (summary: Summary) => addressKey(summary.address ?? "");

/** Whether an output stands at the contract itself, in the version that is meant, and carries no script. */
function stands(pay: Pay, policy: string, intent: Intent): boolean {
  const version = intent.policy === undefined || intent.policy === policy;
  return pay.whose === ("contract" satisfies Party) && pay.script === null && pay.datumHash === null && version;
}

/** The next state of a token: where it stands, that it holds the token and nothing else, and how much it locks more than before. */
function* nextState(summary: Summary, tokenId: string, intent: Intent, before: bigint): Generator<Reason> {
  const { maxLocked = MOST_LOCKED } = intent;
  const [pay] = summary.pays.filter(({ purpose }) => purpose === "state");
  const holds = pay?.holds;
  if (!pay || holds?.type !== "state") return;
  const assets = Object.entries(pay.amount.assets);
  yield* unless(
    pay.index === 0 && holds.tokenId === tokenId && stands(pay, holds.policy, intent) && assets.length === 1 &&
      assets[0]![0] === holds.policy + tokenId && assets[0]![1] === 1n,
    "state",
    "The token is not in the next state as it should be.",
  );
  yield* unless(
    pay.amount.lovelace - before <= maxLocked,
    "locked",
    `It locks ${pay.amount.lovelace - before} lovelace more in the token's state; ${maxLocked} are the most.`,
  );
}

type Change = Pick<SummaryChange, "key"> & Partial<SummaryChange>;

function* requesting(
  summary: Summary,
  intent: Of<"insert"> | Of<"update"> | Of<"delete">,
  meant: Change,
): Generator<Reason> {
  yield* counted(summary, { requests: 1 });
  const { maxLocked = MOST_LOCKED, maxOffered = MOST_OFFERED } = intent;
  for (const request of summary.requests) {
    const { change, locked } = request;
    const pay = summary.pays.find(({ index }) => index === request.index)!;
    yield* unless(
      request.tokenId === intent.token && stands(pay, request.policy, intent),
      "token",
      `It is a request to another token: ${request.tokenId}.`,
    );
    yield* unless(
      change.type === intent.type && change.key === meant.key && change.oldValue === (meant.oldValue ?? null) &&
        change.newValue === (meant.newValue ?? null),
      "change",
      "The change that it asks for is another one.",
    );
    yield* unless(
      request.refundAddress === summary.address,
      "refund",
      `The deposit would go back to ${request.refundAddress}.`,
    );
    yield* unless(
      locked.lovelace <= maxLocked && holdsNothingElse(locked),
      "locked",
      `It locks ${locked.lovelace} lovelace; ${maxLocked} are the most.`,
    );
    yield* unless(
      request.offered <= maxOffered && request.offered <= locked.lovelace,
      "offered",
      `It offers ${request.offered} lovelace to the owner of the token; ${maxOffered} are the most.`,
    );
  }
}

/** What holds where the state of one token is spent and made anew. */
function* modified(
  summary: Summary,
  intent: Of<"apply"> | Of<"transfer">,
  owner: string | undefined,
): Generator<Reason> {
  const own = requesterOf(summary);
  for (const token of summary.tokens) {
    yield* unless(
      token.tokenId === intent.token && !token.booted && !token.ended,
      "token",
      "It updates another token.",
    );
    yield* unless(
      token.owner.before === own && owner !== undefined && token.owner.after === owner,
      "owner",
      `The owner would be ${token.owner.after}.`,
    );
    yield* unless(token.proven === true, "proven", "The new root does not follow from the changes.");
    yield* unless(token.skips.length === 0, "skip", "It passes requests over.");
    yield* nextState(summary, intent.token, intent, token.locked.before ?? 0n);
  }
}

type Steps = { readonly [T in Intent["type"]]: (summary: Summary, intent: Of<T>) => Iterable<Reason> };

/** By what is meant: every reason why a transaction does something else to tokens and requests. */
export const STEPS: Steps = {
  *boot(summary, intent) {
    yield* counted(summary, { tokens: 1, states: 1, mints: 1, runs: 1 });
    for (const { tokenId, booted, owner, root } of summary.tokens) {
      yield* unless(booted && root.after === EMPTY_ROOT, "token", "It does not boot a token without facts.");
      yield* unless(intent.token === undefined || intent.token === tokenId, "token", `The token would be ${tokenId}.`);
      yield* unless(owner.after === requesterOf(summary), "owner", `The owner would be ${owner.after}.`);
      yield* unless(
        summary.mints.every((one) => one.meaning === "boot" && one.tokenId === tokenId),
        "mint",
        "It mints more.",
      );
      yield* nextState(summary, tokenId, intent, 0n);
    }
  },
  insert: (summary, intent) => requesting(summary, intent, { key: intent.key, newValue: intent.newValue }),
  update: (summary, intent) =>
    requesting(summary, intent, { key: intent.key, oldValue: intent.oldValue, newValue: intent.newValue }),
  delete: (summary, intent) => requesting(summary, intent, { key: intent.key, oldValue: intent.oldValue }),
  *retract(summary, intent) {
    yield* counted(summary, { retracts: 1, spent: 1, runs: 1 });
    for (const { outputRef, owner } of summary.retracts) {
      yield* unless(outputRef === refText(intent.request), "request", `It takes back ${outputRef}.`);
      yield* unless(owner === requesterOf(summary), "request", "It takes somebody else's request back.");
    }
  },
  *apply(summary, intent) {
    const applies = summary.tokens.flatMap((token) => token.applies.map(({ outputRef }) => outputRef));
    const runs = 1 + applies.length;
    yield* counted(summary, { tokens: 1, states: 1, spent: runs, runs });
    yield* modified(summary, intent, requesterOf(summary));
    yield* unless(applies.length > 0, "request", "It applies no request.");
    const meant = intent.requests && [...new Set(intent.requests.map(refText))].sort();
    yield* unless(
      meant === undefined || [...applies].sort().join() === meant.join(),
      "request",
      "It applies other requests than are meant.",
    );
    yield* unless(
      intent.root === undefined || summary.tokens.every(({ root }) => root.after === intent.root),
      "root",
      "It leads to another root.",
    );
    yield* unless(summary.refunds.length === applies.length, "refund", "It does not refund every request.");
    for (const { index, request, lovelace } of summary.refunds) {
      const pay = summary.pays.find((one) => one.index === index);
      const spent = summary.spends.find(({ outputRef }) => outputRef === request)?.output;
      const holds = spent?.holds;
      yield* unless(
        pay !== undefined && isPlain(pay) && holdsNothingElse(pay.amount) && holds?.type === "request" &&
          holdsNothingElse(spent!.amount) && lovelace === spent!.amount.lovelace - holds.offered,
        "refund",
        `It does not refund ${request} as it should.`,
      );
    }
  },
  *transfer(summary, intent) {
    yield* counted(summary, { tokens: 1, states: 1, spent: 1, runs: 1 });
    yield* modified(summary, intent, ownerOf(intent.to));
    yield* unless(
      summary.tokens.every(({ root, applies }) => root.before === root.after && applies.length === 0),
      "root",
      "It changes facts.",
    );
  },
  *end(summary, intent) {
    yield* counted(summary, { tokens: 1, mints: 1, spent: 1, runs: 2 });
    for (const { tokenId, ended, owner } of summary.tokens) {
      yield* unless(ended && tokenId === intent.token, "token", `It does not end the token ${intent.token}.`);
      yield* unless(owner.before === requesterOf(summary), "owner", "The token is somebody else's.");
    }
  },
};

function refText(ref: string): string {
  return ref.toLowerCase().replace("#", "-");
}
