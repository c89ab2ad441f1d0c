/**
 * Whether a transaction does what somebody means to sign, and nothing else.
 *
 * Nothing is trusted but the transaction's bytes and what the ledger enforces. That an instance lies about the outputs that are spent does
 * not help it: all that is spent must come out again (the ledger balances it by the true values), and every output is looked at here;
 * collateral is bounded by the total that the transaction itself states, which the ledger holds against the true one. Only where much may go to
 * others (refunds, and the state of a token) could a lie about what the requester puts in and one about what the contract puts in make up for one
 * another: there either must be vouched for, and then the other is right in sum. What an instance can still choose is which of the owner's
 * requests an update takes; whoever minds checks those outputs by the transactions that made them.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type Address, parseAddress } from "#src/cardano/address.ts";
import type { Party, Summary, SummaryAmount, SummaryChange, SummaryInput } from "#src/api/summary.ts";
import { EMPTY_ROOT } from "#src/cage/datum.ts";
import { addressKey } from "#src/cage/summary/keys.ts";

/** How far a transaction may go; amounts are lovelace. */
export interface Limits {
  /** The requester's address, as text: it pays, signs and gets the change. */
  readonly address: string;
  /** Most fee; 3 ada unless said otherwise. */
  readonly maxFee?: bigint | undefined;
  /** Most that may come to stand at the contract for it, fee of a request included; 10 ada unless said otherwise. */
  readonly maxLocked?: bigint | undefined;
  /** Most that a request may offer to the owner of the token, out of what it locks; 1 ada unless said otherwise. */
  readonly maxOffered?: bigint | undefined;
  /** Most that is lost if a script fails; twice `maxFee` unless said otherwise. */
  readonly maxCollateral?: bigint | undefined;
  /** The slot after which it must no longer be valid. Without one it must be bounded, by whatever slot. */
  readonly validUntil?: bigint | number | undefined;
  /** Hash of the contract that is meant; any published version unless said otherwise. */
  readonly policy?: string | undefined;
}

/** What somebody means to sign. Requests are `<transaction hash>-<output index>`, keys and values texts. */
export type Intent =
  & Limits
  & (
    /** `token`: the id that it must have. */
    | { readonly type: "boot"; readonly token?: string | undefined }
    | { readonly type: "insert"; readonly token: string; readonly key: string; readonly newValue: string }
    | {
      readonly type: "update";
      readonly token: string;
      readonly key: string;
      readonly oldValue: string;
      readonly newValue: string;
    }
    | { readonly type: "delete"; readonly token: string; readonly key: string; readonly oldValue: string }
    | { readonly type: "retract"; readonly request: string }
    /** `requests`: exactly those; without them whichever of the token's there are. `root`: the one it must lead to. */
    | {
      readonly type: "apply";
      readonly token: string;
      readonly requests?: readonly string[] | undefined;
      readonly root?: string | undefined;
    }
    /** `to`: the next owner's address, or the hash of his key. */
    | { readonly type: "transfer"; readonly token: string; readonly to: string }
    | { readonly type: "end"; readonly token: string }
  );

/** Something in which a transaction is not what is meant. */
export interface Reason {
  readonly code: string;
  readonly message: string;
}

/** `not_as_intended`: `details.reasons` has every reason. */
export type NotIntended = Failure<"not_as_intended"> & { readonly details: { readonly reasons: readonly Reason[] } };

const MOST_FEE = 3_000_000n;
const MOST_LOCKED = 10_000_000n;
const MOST_OFFERED = 1_000_000n;

/** Whether somebody else than who built the transaction says what an output (`<hash>-<index>`) is. */
export type Vouched = (outputRef: string) => boolean;

/**
 * Judges a summary, which must be one that was told from `intent.address`. Whoever vouches knows all outputs of the requester, or all of the
 * contract, that the transaction spends.
 */
export function judged(summary: Summary, intent: Intent, vouched: Vouched = () => true): Result<Summary, NotIntended> {
  const reasons = [
    ...frame(summary, intent),
    ...vouching(summary, intent, vouched),
    ...STEPS[intent.type](summary, intent as never),
  ];
  if (reasons.length === 0) return ok(summary);
  const message = `This is not the transaction that is meant: ${reasons.map((one) => one.message).join(" ")}`;
  return { ok: false, error: { ...fail("not_as_intended", message).error, details: { reasons } } };
}

type Of<T extends Intent["type"]> = Extract<Intent, { type: T }>;
type Pay = Summary["pays"][number];

/** A reason where something does not hold. */
function unless(holds: boolean, code: string, message: string): Reason[] {
  return holds ? [] : [{ code, message }];
}

const isPlain = ({ datum, datumHash, script }: Pick<Pay, "datum" | "datumHash" | "script">) =>
  datum === null && datumHash === null && script === null;
const holdsNothingElse = (amount: SummaryAmount) => Object.keys(amount.assets).length === 0;
const isWallet = ({ output }: SummaryInput) => output !== null && output.whose === "requester";

/** What holds for every transaction of the service. */
function* frame(summary: Summary, intent: Intent): Generator<Reason> {
  const { maxFee = MOST_FEE, validUntil } = intent;
  const { from, until } = summary.validity;
  for (const { code, message } of summary.unknown) yield { code: `unknown_${code}`, message };
  yield* unless(summary.valid, "invalid", "It says of itself that its scripts fail.");
  yield* unless(summary.balanced === true, "unbalanced", "It does not spend exactly what it pays.");
  yield* unless(summary.metadata.length === 0, "metadata", "It carries metadata.");
  yield* unless(
    summary.fee >= 0n && summary.fee <= maxFee,
    "fee",
    `Its fee of ${summary.fee} lovelace is more than ${maxFee}.`,
  );
  yield* unless(from === null, "valid_from", "It is not valid from now on.");
  yield* unless(until !== null, "valid_until", "It is valid for ever.");
  yield* unless(
    validUntil === undefined || (until !== null && until.slot <= BigInt(validUntil)),
    "valid_until",
    "It stays valid for longer than is meant.",
  );
  yield* signers(summary, intent);
  yield* money(summary, intent);
  yield* runs(summary, intent);
}

/** Nobody but the requester signs, and whoever takes a token over. */
function* signers(summary: Summary, intent: Intent): Generator<Reason> {
  const next = intent.type === "transfer" ? ownerOf(intent.to) : undefined;
  for (const { key, requester, why } of summary.signers) {
    const mayAgree = key === next && why.every((one) => one === "required");
    yield* unless(requester || mayAgree, "signer", `It asks for a signature of the key ${key}.`);
  }
  const agrees = (who: (signer: Summary["signers"][number]) => boolean) =>
    summary.signers.some((signer) => who(signer) && signer.why.includes("required"));
  yield* unless(
    agrees(({ requester }) => requester) === summary.scripts.length > 0,
    "signer",
    "Scripts see the requester's signature without need, or need it and do not see it.",
  );
  yield* unless(
    next === undefined || agrees(({ key }) => key === next),
    "signer",
    "The next owner does not have to agree.",
  );
}

/** Wallet inputs are the requester's, what is not meant to be elsewhere comes back to him, and little is at risk. */
function* money(summary: Summary, intent: Intent): Generator<Reason> {
  const { maxFee = MOST_FEE, maxLocked = MOST_LOCKED, maxCollateral = 2n * maxFee } = intent;
  for (const input of summary.spends) {
    const meant = input.output?.whose === "contract" && input.output.holds !== null;
    yield* unless(isWallet(input) || meant, "input", `It spends ${input.outputRef}, which is none of the requester's.`);
  }
  for (const { index, purpose, address } of summary.pays) {
    yield* unless(purpose !== "payment", "payment", `Its output ${index} pays ${address}.`);
  }
  const { collateral, net } = summary;
  if (collateral !== null) {
    yield* unless(summary.scripts.length > 0, "collateral", "It puts up collateral, and runs no script.");
    for (const input of collateral.inputs) {
      yield* unless(isWallet(input), "collateral", `Its collateral ${input.outputRef} is none of the requester's.`);
    }
    const back = collateral.return;
    yield* unless(
      back === null || (back.whose === "requester" && isPlain(back)),
      "collateral",
      "Its collateral does not return to the requester.",
    );
    yield* unless(
      collateral.total !== null && collateral.total === collateral.atRisk && collateral.total <= maxCollateral &&
        collateral.total >= 0n && returnsAssets(collateral),
      "collateral",
      `More than ${maxCollateral} lovelace of collateral are at risk.`,
    );
  } else yield* unless(summary.scripts.length === 0, "collateral", "It runs scripts without collateral.");
  yield* unless(
    net !== null && net.lovelace >= -(maxFee + maxLocked) &&
      Object.values(net.assets).every((quantity) => quantity >= 0n),
    "net",
    "It takes more from the requester than is meant.",
  );
}

/** Where others are paid, what the requester puts in is known from elsewhere, or else what the contract does. */
function vouching(summary: Summary, { type }: Intent, vouched: Vouched): Reason[] {
  if (type !== "apply" && type !== "transfer") return [];
  const known = (inputs: readonly SummaryInput[]) => inputs.every(({ outputRef }) => vouched(outputRef));
  const own = summary.spends.filter(isWallet);
  const others = summary.spends.filter((input) => !isWallet(input));
  return unless(known(own) || known(others), "unvouched", "Nobody but who built it says what it spends.");
}

function returnsAssets({ inputs, return: back }: NonNullable<Summary["collateral"]>): boolean {
  const sums = new Map<string, bigint>(Object.entries(back?.amount.assets ?? {}));
  for (const { output } of inputs) {
    for (const [asset, quantity] of Object.entries(output?.amount.assets ?? {})) {
      sums.set(asset, (sums.get(asset) ?? 0n) - quantity);
    }
  }
  return [...sums.values()].every((quantity) => quantity === 0n);
}

/** Nothing runs but the contract, which is looked up in at most one place or travels along. */
function* runs(summary: Summary, { policy }: Intent): Generator<Reason> {
  const wrong = (hash: string | null) => hash === null || (policy !== undefined && hash !== policy);
  for (const { hash, purpose, index } of summary.scripts) {
    yield* unless(!wrong(hash), "script", `Another script runs (${purpose} ${index}).`);
  }
  const carried = [...summary.attached, ...summary.references.map(({ output }) => output?.script ?? null)];
  for (const script of carried) {
    yield* unless(
      script !== null && script.version !== null && !wrong(script.hash),
      "script",
      "It brings another script.",
    );
  }
  const needed = Math.min(1, summary.scripts.length);
  yield* unless(carried.length === needed, "script", `It brings ${carried.length} scripts, and needs ${needed}.`);
}

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

function ownerOf(to: string): string | undefined {
  return /^[0-9a-f]{56}$/.test(to) ? to : addressKey(to);
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

const STEPS: Steps = {
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

/** The requester's address of an intent. */
export function addressOf(intent: Limits): Result<Address, Failure<"bad_address">> {
  return parseAddress(intent.address);
}
