/**
 * The actor of a submitted transaction: submits it until the chain has decided.
 *
 * A node also refuses a transaction that it already has. A submission therefore counts as refused only when the
 * transaction is neither in the node's mempool nor in the index, after the index has read up to the node's tip, and the
 * node has the pending transactions that it depends on. When it is lost, those that depend on it submit themselves
 * again: the network decides about each, and the cause names the lost one.
 */
import { z } from "zod";
import { sleep } from "#src/base/clock.ts";
import { describeFailure, saysIncluded } from "#src/cardano/failureText.ts";
import { lockCursor, readCursor } from "#src/chain/index/cursor.ts";
import {
  type LossCause,
  offer,
  readDependents,
  readFollowers,
  signersOf,
  submitAncestors,
} from "#src/chain/pending/lost.ts";
import { readSubmittedCbor, releaseSubmissions } from "#src/chain/pending/submissions.ts";
import type { ChainPort, Submission } from "#src/chain/provider/port.ts";
import { findTransaction, noticeTransaction } from "#src/chain/index/transactions.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import {
  causesOf,
  MOST_NAMED,
  transactionCommands,
  transactionContent,
  transactionInputs,
  transactionMachine,
  transactionOutcomes,
} from "#machines/transaction.ts";
import type { EndedActors } from "#src/runtime/operations/retention.ts";
import type { ActorKind, EffectContext, Event } from "#src/runtime/types.ts";
import { isObject, type Json } from "#src/base/json.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Input of the effect `submit`; `taken`: the network had accepted the transaction before. */
const submitInput = z.object({ hash: z.string(), attempt: z.number(), taken: z.boolean().default(false) });
/** Input of the effect `lost`. */
const lostInput = z.object({ hash: z.string() });

export interface TransactionActorOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly append: (sql: Queries, touched: readonly Touched[]) => Promise<void>;
  readonly ring: (touched: readonly Touched[]) => void;
}

/** The actor kind of submitted transactions; an entity's id is the transaction's hash. */
export function transactionActor(options: TransactionActorOptions): ActorKind {
  return {
    kind: "transaction",
    ids: /^[0-9a-f]{64}$/,
    version: 2,
    machine: transactionMachine,
    content: { schemas: transactionContent },
    commands: transactionCommands,
    inputs: transactionInputs,
    outcomes: transactionOutcomes,
    tables: {
      submission: { table: "submission", key: ["hash"] },
      open: { table: "submission_open", key: ["hash"] },
      status: { table: "submission_status", key: ["hash"] },
      link: { table: "submission_wallet", key: ["hash", "wallet"] },
    },
    unlogged: { SUBMIT: ["cbor"] },
    effects: {
      submit: (input, context) => submit(options, input, context),
      lost: (input) => informFollowers(options, input),
    },
    migrate: (snapshot) => withWallets(snapshot),
  };
}

/** Actors of transactions that have ended, for retention. */
export function endedTransactions(hours: number): EndedActors {
  return {
    which: (sql) => sql`a.kind = 'transaction' and a.state in ('in_ledger', 'expired', 'refused', 'forgotten')`,
    hours,
    release: releaseSubmissions,
  };
}

/** Migrates a snapshot of version 1, which had no wallets and no state `forgotten`. */
function withWallets(snapshot: Json): Json {
  const { value, context, ...rest } = isObject(snapshot) ? snapshot : {};
  if (value === undefined || !isObject(context)) throw new TypeError("this is no snapshot of a transaction");
  const taken = value === "pending" || value === "in_ledger" || value === "expired";
  return { ...rest, value, context: { ...context, taken, forgotten: false, wallets: [] } };
}

async function submit(
  options: TransactionActorOptions,
  input: Json,
  context: EffectContext,
): Promise<Event | undefined> {
  const { hash, attempt, taken } = submitInput.parse(input);
  if (await notice(options, hash)) return undefined;
  const cbor = await readSubmittedCbor(options.store.sql, hash);
  if (!cbor) throw new Error("the transaction's row is missing");
  const refused = async (failures: Refused["failures"], lost?: LossCause): Promise<Event> => ({
    ...refusal(attempt, causeFirst(failures), lost),
    ...(taken ? await concerned(options, hash, cbor) : {}),
  });
  for (let tries = 1;; tries++) {
    const failures = await offer(options.port, hash, cbor);
    if (!failures) return { type: "ACCEPTED", attempt };
    await indexAtTip(options, context);
    if (await notice(options, hash)) return undefined;
    if (tries > 1) return await refused(failures);
    const { found, lost } = await submitAncestors(options.store.sql, options.port, hash, async (ancestor) => {
      await indexAtTip(options, context);
      return await findTransaction(options.store.sql, ancestor) !== undefined;
    });
    // a rollback may have undone the block that the mempool refers to
    const again = found > 0 || failures.some((one) => saysIncluded({ name: one.name, message: describeFailure(one) }));
    if (lost || !again) return await refused(failures, lost);
  }
}

/** The failures with missing inputs first: others, such as redeemers without an input, follow from them. */
function causeFirst(failures: Refused["failures"]): Refused["failures"] {
  return [...failures].sort((a, b) => Number(b.name === "BadInputsUTxO") - Number(a.name === "BadInputsUTxO"));
}

/** Who signs again when a transaction is lost, and what is lost with it. */
async function concerned({ store }: TransactionActorOptions, hash: string, cbor: Uint8Array) {
  const dependents = await readDependents(store.sql, hash);
  return {
    signers: signersOf(cbor).slice(0, MOST_NAMED),
    dependents: dependents.slice(0, MOST_NAMED).map((one) => one.hash),
  };
}

/** The outcome of a refused submission; `lost` is the cause where the transaction depends on a lost one. */
function refusal(attempt: number, failures: Refused["failures"], lost?: LossCause): Event {
  const causes = failures.slice(0, MOST_FAILURES).map((failure) => ({
    name: failure.name,
    message: plainText(describeFailure(failure)),
  }));
  const first = lost ? [{ name: lost.name, message: plainText(lost.message) }] : [];
  return {
    type: "REFUSED",
    attempt,
    failures: [...first, ...named({ outcome: "refused", failures })],
    causes: causesOf([...first, ...causes], CAUSE_UNITS),
  };
}

/** Informs the pending transactions that spend outputs of a lost one. */
async function informFollowers(options: TransactionActorOptions, input: Json): Promise<undefined> {
  const { hash } = lostInput.parse(input);
  const followers = await readFollowers(options.store.sql, hash);
  if (followers.length === 0) return;
  const touched = followers.map((id) => ({
    entity: { kind: "transaction", id },
    event: { type: "PARENT_LOST", transaction: hash },
  }));
  await options.store.sql.begin(async (sql) => {
    await lockCursor(sql);
    await options.append(sql, touched);
  });
  options.ring(touched);
}

type Refused = Extract<Submission, { outcome: "refused" }>;

/**
 * The failures of a refused submission as members of the event. Script logs are untrusted: what rows cannot hold is
 * replaced.
 */
export function named(submission: Refused): Json[] {
  return submission.failures.slice(0, MOST_FAILURES).map((failure) => ({
    ...plainMembers(failure),
    message: plainText(describeFailure(failure)),
  }));
}

/** Most failures in the event; a transaction can have more. */
const MOST_FAILURES = 20;
/** Longest text in a failure, in UTF-16 units. */
const LONGEST_TEXT = 4_000;

/** Most UTF-16 units of causes in the event's content, which may have 8,000 bytes of JSON: at most six for a unit. */
const CAUSE_UNITS = 1_200;

function plainText(text: string): string {
  return text.slice(0, LONGEST_TEXT).replaceAll("\0", "\ufffd").toWellFormed();
}

/** A value as plain JSON for snapshots: amounts as decimal strings, maps as objects, without `undefined` members. */
function plain(value: unknown): Json {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return plainText(value);
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (Array.isArray(value)) return value.slice(0, MOST_FAILURES).map(plain);
  if (typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "object" && value !== null ? plainMembers(value) : null;
}

function plainMembers(value: object): { [name: string]: Json } {
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== undefined).map(([name, one]) => [name, plain(one)]),
  );
}

/** Appends the events of a transaction that is in the index; whether it is there. */
async function notice(options: TransactionActorOptions, hash: string): Promise<boolean> {
  const appended: Touched[] = [];
  const found = await options.store.sql.begin((sql) =>
    noticeTransaction(sql, hash, async (sql, touched) => {
      appended.push(...touched);
      await options.append(sql, touched);
    })
  );
  if (found) options.ring(appended);
  return found;
}

/** Waits until the index has reached the node's tip. */
async function indexAtTip(options: TransactionActorOptions, context: EffectContext): Promise<void> {
  const tip = await options.port.tip();
  if (!tip.ok) throw new Error(tip.error.message);
  while ((await readCursor(options.store.sql)).at.slot < tip.value.slot) {
    if (context.signal.aborted) throw new Error("the index is behind the node");
    await sleep(20, context.signal);
  }
}
