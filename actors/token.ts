/**
 * The actor of a token. State changes arrive through the chain log. Its builds read rows at one point, ask the machine
 * in the state that they show, and a builder thread makes the transaction.
 */
import { z } from "zod";
import { offering } from "#src/wallets/offering.ts";
import { type NewestToken, readNewestToken } from "#src/tokens/pendingTokens.ts";
import { readFunds, type TokenPayer } from "#src/tokens/tokenFunds.ts";
import { refusalOf, tokenContent, tokenInputs, type TokenIntent, tokenMachine } from "#machines/token.ts";
import { toHex } from "#src/base/bytes.ts";
import type { Clock } from "#src/base/clock.ts";
import { type Json, messaged } from "#src/base/json.ts";
import { present } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Builders } from "#src/tokens/builds/jobs.ts";
import type { Operation } from "#src/contract/datum.ts";
import { readFactLeaves } from "#src/tokens/index/leaves.ts";
import { digestsOf } from "#src/tokens/index/pending.ts";
import { readSelectable } from "#src/tokens/index/applicable.ts";
import {
  countRequests,
  type OpenRequest,
  readRequest,
  readRequestsAt,
  readToken,
  type TokenState,
} from "#src/tokens/index/read.ts";
import { versionWarning } from "#src/chain/versionWatch.ts";
import { requestWarnings } from "#src/tokens/index/warnings.ts";
import { findPublished, publicationAddress } from "#src/contract/publication.ts";
import { keyAddress } from "#src/contract/plutusAddress.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { type CageScript, cageScript, cageScripts, newestScript } from "#src/contract/script.ts";
import { bytesOf } from "#src/contract/text.ts";
import type { BuiltBatch } from "#src/contract/transactions/batch.ts";
import type { BuildInput, Built } from "#src/contract/transactions/common.ts";
import { NOT_REQUESTER } from "#src/contract/transactions/retract.ts";
import { NOT_OWNER } from "#src/contract/transactions/state.ts";
import type { BuiltUpdate, UnappliedRequest } from "#src/contract/transactions/update.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { lovelace, nameOf, policyOf } from "#src/cardano/value.ts";
import { currentSlot } from "#src/cardano/parameters.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { horizonOf } from "#src/chain/provider/horizon.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { readUtxos } from "#src/chain/index/utxo.ts";
import { ensureWatched } from "#src/chain/index/watchedAddresses.ts";
import { type ActorKind, type BuildAnswer, type BuildContext, defineBuild } from "#src/runtime/types.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { leastLovelace } from "#src/transaction/output.ts";

export interface TokenBuildOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly builders: Builders;
  readonly networkId: 0 | 1;
  /** Clock for the current slot. */
  readonly clock: Clock;
  /** Wakes the indexer: there is a new address to watch. */
  readonly wake: () => void;
}

const address = z.string().regex(/^([0-9a-f]{2})+$/);
/** As `TokenPayer`. */
const payer = { address, wallet: z.string().nullable().default(null) };
const ref = z.string().regex(/^[0-9a-f]{64}#\d+$/);
/** A key or a value in the API's text form; see `bytesOf`. */
const text = z.string().refine((value) => bytesOf(value) !== undefined, "not a valid text of this API");

/** Most requests that one update applies. */
const MOST_REQUESTS = 200;
const [KEY_ADDRESS_BYTES, BASE_ADDRESS_BYTES] = [29, 57];
/** Most open requests, the oldest, of which an update that names none says why it leaves them. */
const MOST_LEFT = 200;

/**
 * Members of every request; `strict` refuses one that conflicts with an open one, `applicable` one that could not be
 * applied once the open ones are.
 */
const requested = {
  ...payer,
  key: text,
  strict: z.boolean().default(false),
  applicable: z.boolean().default(false),
};
const requestInput = z.discriminatedUnion("type", [
  z.object({ type: z.literal("insert"), ...requested, newValue: text }),
  z.object({ type: z.literal("update"), ...requested, oldValue: text, newValue: text }),
  z.object({ type: z.literal("delete"), ...requested, oldValue: text }),
]);
type RequestInput = z.infer<typeof requestInput>;

/** The actor kind of tokens; an entity's id is the token's. */
export function tokenActor(options: TokenBuildOptions): ActorKind {
  return {
    kind: "token",
    ids: /^[0-9a-f]{64}$/,
    version: 1,
    machine: tokenMachine,
    content: { schemas: tokenContent },
    commands: z.never(),
    inputs: tokenInputs,
    outcomes: z.never(),
    builds: {
      request: defineBuild({
        input: requestInput,
        run: (_view, input, context) => request(options, input, context),
      }),
      update: defineBuild({
        input: z.object({
          ...payer,
          requests: z.array(ref).max(MOST_REQUESTS).nullable(),
          refuse: z.array(ref).max(MOST_REQUESTS).default([]),
          dryRun: z.boolean(),
          partial: z.boolean().default(false),
        }).refine(({ requests, refuse }) => !requests?.some((one) => refuse.includes(one)), "both applied and refused"),
        run: (_view, input, context) => update(options, input, context),
      }),
      transfer: defineBuild({
        input: z.object({ ...payer, to: address }),
        run: (_view, input, context) => transfer(options, input, context),
      }),
      retract: defineBuild({
        input: z.object({ ...payer, request: ref }),
        run: (_view, input, context) => retract(options, input, context),
      }),
      end: defineBuild({
        input: z.object(payer),
        run: (_view, input, context) => end(options, input, context),
      }),
    },
  };
}

/** Builds the transaction that creates a token. There is no actor yet. */
export function tokenBoot(options: TokenBuildOptions) {
  return (from: TokenPayer, deadline: number): Promise<BuildAnswer> =>
    building(
      options,
      from,
      deadline,
      (parameters) => newestScript(parameters).hash,
      () => Promise.resolve({}),
      async (input) => {
        const built = await options.builders.run("boot", input, { deadline });
        return built.ok ? ok({ built: built.value, more: { value: built.value.token } }) : built;
      },
    );
}

/** A built transaction, and the other members of the response. */
type Offer = Result<
  {
    readonly built: Built;
    readonly more: Record<string, Json>;
    /** Warnings to the client, besides those of the protocol's version. */
    readonly warnings?: readonly Json[];
    /** Whether the transaction is left out, and its outputs are not reserved. */
    readonly dry?: boolean;
  },
  Failure
>;

/**
 * Reads the inputs of every build, and with `read` more at the same point; then builds on outputs that are not
 * reserved.
 */
async function building<T>(
  options: TokenBuildOptions,
  from: TokenPayer,
  deadline: number,
  script: string | ((parameters: Parameters) => string),
  read: (sql: Queries, parameters: Parameters) => Promise<T>,
  build: (input: BuildInput, more: T) => Promise<Offer>,
): Promise<BuildAnswer> {
  const { store, port, networkId, wake } = options;
  const published = publicationAddress(networkId);
  const [mine, scripts, parameters] = await Promise.all([
    from.wallet ? ok(null) : ensureWatched(store, [from.address], wake, deadline),
    ensureWatched(store, [published], wake, deadline, { forever: true }),
    port.parameters(),
  ]);
  for (const watched of [mine, scripts]) if (!watched.ok) return watched;
  if (!parameters.ok) return parameters;
  const hash = typeof script === "string" ? script : script(parameters.value.value);
  const [network, horizon] = await Promise.all([port.network(), horizonOf(port)]);
  return await offering(store, from.wallet ?? from.address, async () => {
    const { at, value } = await atPoint(store, async (sql) => ({
      funds: await readFunds(sql, from),
      reference: findPublished(await readUtxos(sql, [published]), hash),
      more: await read(sql, parameters.value.value),
    }));
    if (!value.funds.ok) return value.funds;
    const { available, change } = value.funds.value;
    const offer = await build({
      parameters: parameters.value.value,
      slots: network.slots,
      slot: Math.max(at.slot, currentSlot(network, options.clock.now())),
      horizon,
      network: networkId,
      script: publishedScript(hash),
      reference: value.reference,
      address: from.address,
      available,
      ...(change === undefined ? {} : { change }),
    }, value.more);
    if (!offer.ok) return offer;
    const { built, dry } = offer.value;
    const warning = built.runsScripts ? versionWarning(parameters.value.value) : undefined;
    const known = offer.value.warnings;
    const warnings = [...known ?? [], ...(warning ? [{ ...warning }] : [])];
    const more = { ...offer.value.more, ...(known || warning ? { warnings } : {}) };
    return ok({
      read: available,
      spends: dry ? [] : built.spends.map((utxo) => utxo.ref),
      answer: dry ? more : { unsignedTransaction: toHex(built.transaction), ...more },
    });
  });
}

const quarantined = (reason: string | undefined): Result<never, Failure> =>
  fail("token_quarantined", "The token is quarantined: its indexed facts are not verified against its root.", {
    reason: reason ?? null,
  });

/**
 * The newest state of a token that accepts an intent, of the ledger or of a pending transaction. Fails with the refusal
 * of the machine; and with `token_pending` where a pending transaction ends the token, or two pending ones exclude each
 * other: nothing can follow them before a block decides.
 */
function stateFor(
  intent: TokenIntent,
  { standing, transaction, conflict }: NewestToken,
  token: string,
): Result<TokenState, Failure> {
  if (conflict) {
    return tokenPending(conflict[0], `${conflict[0]} and ${conflict[1]} spend the same output of the contract`);
  }
  const state = "state" in standing ? standing.state : undefined;
  switch (refusalOf(standing.status === "unknown" ? "absent" : standing.status, intent)) {
    case undefined:
      return ok(present(state, "the state of a token that accepts an intent"));
    case "token_quarantined":
      return quarantined(state?.quarantine);
    case "token_unknown":
      return fail("token_unknown", `The token ${token} does not exist on the ledger.`);
    case "token_ended":
      return transaction === undefined
        ? fail("token_ended", "The token has ended.")
        : tokenPending(transaction, `${transaction} ends the token`);
  }
}

const tokenPending = (transaction: string, why: string): Result<never, Failure> =>
  fail("token_pending", `The token cannot be built on: ${why}, and no block has decided yet.`, { transaction });

/** The published version of the contract with a script hash. */
function publishedScript(hash: string): CageScript {
  const script = cageScripts.find((one) => one.hash === hash);
  if (script === undefined) throw new Error(`no published version of the contract has the hash ${hash}`);
  return script;
}

/** Contract version of a state, by its script hash. */
function scriptOf(state: TokenState): string {
  const asset = [...state.utxo.output.value.assets.keys()].find((one) => nameOf(one) === state.token);
  if (asset === undefined) throw new Error(`the state output of ${state.token} does not hold the token`);
  return policyOf(asset);
}

/** The bytes of a text that the schema of the build has checked. */
function checkedBytes(text: string): Uint8Array {
  const bytes = bytesOf(text);
  if (bytes === undefined) throw new TypeError("not a valid text of this API");
  return bytes;
}

/** Script hash of a token's contract version; the current one when there is no such token. */
async function versionOf({ store, networkId }: TokenBuildOptions, token: string): Promise<string> {
  let standing = await readToken(store.sql, token);
  if (standing.status === "unknown") {
    ({ value: { standing } } = await atPoint(store, (sql) => readNewestToken(sql, token, networkId)));
  }
  return "state" in standing ? scriptOf(standing.state) : cageScript.hash;
}

function operationOf(input: RequestInput): Operation {
  switch (input.type) {
    case "insert":
      return { type: "insert", value: checkedBytes(input.newValue) };
    case "update":
      return { type: "update", old: checkedBytes(input.oldValue), value: checkedBytes(input.newValue) };
    case "delete":
      return { type: "delete", value: checkedBytes(input.oldValue) };
  }
}

async function request(
  options: TokenBuildOptions,
  input: RequestInput,
  { entity, deadline }: BuildContext,
): Promise<BuildAnswer> {
  const key = checkedBytes(input.key);
  const operation = operationOf(input);
  const script = await versionOf(options, entity.id);
  const read = async (sql: Queries) => {
    const newest = await readNewestToken(sql, entity.id, options.networkId);
    const found = await requestWarnings(sql, entity.id, key, operation, newest);
    const warnings = found.map((one) => one.request === undefined ? one : { ...one, request: refText(one.request) });
    return { state: stateFor({ type: "REQUEST" }, newest, entity.id), warnings };
  };
  return await building(options, input, deadline, script, read, async (common, { state, warnings }) => {
    if (!state.ok) return state;
    const conflict = warnings.find((one) => one.request !== undefined);
    if (input.strict && conflict) {
      const message = `The request conflicts with the open request ${conflict.request}: ${conflict.message}`;
      return fail("request_conflicts", message, { request: conflict.request, reason: conflict.code });
    }
    const [failure] = warnings;
    if (input.applicable && failure) {
      const { code, message, ...details } = failure;
      return fail(code, `The request could not be applied: ${message}`, details);
    }
    const built = await options.builders.run("request", { ...common, token: entity.id, key, operation }, { deadline });
    return built.ok ? ok({ built: built.value, more: {}, warnings: warnings.map(messaged) }) : built;
  });
}

interface UpdateInput extends TokenPayer {
  /** Null: as many open requests as can be applied and fit. */
  readonly requests: string[] | null;
  /** Requests to refuse, none of them among `requests`. */
  readonly refuse: string[];
  /**
   * Whether to report only what an update would do: no output is reserved, and failing requests do not prevent others.
   */
  readonly dryRun: boolean;
  /** Whether those of the named requests that can be applied are, and the others are reported; otherwise all or none. */
  readonly partial: boolean;
}

async function update(
  options: TokenBuildOptions,
  { requests: named, refuse, dryRun, partial, ...from }: UpdateInput,
  { entity, deadline }: BuildContext,
): Promise<BuildAnswer> {
  const script = await versionOf(options, entity.id);
  const read = async (sql: Queries, parameters: Parameters) => {
    const newest = await readNewestToken(sql, entity.id, options.networkId);
    const state = stateFor({ type: "UPDATE" }, newest, entity.id);
    const leastRefund = { key: leastOf(KEY_ADDRESS_BYTES, parameters), base: leastOf(BASE_ADDRESS_BYTES, parameters) };
    const open = named
      ? await openRequests(sql, named, newest)
      : await readSelectable(sql, { token: entity.id, script, leastRefund }, newest, MOST_LEFT);
    const requests = named ? open : open.filter((one) => one && !refuse.includes(refKey(one.utxo.ref)));
    const refused = refuse.length > 0 ? await openRequests(sql, refuse, newest) : [];
    const unlisted = named ? 0 : await countRequests(sql, entity.id) + newest.requests.length - open.length;
    const paths = [...requests.flatMap((one) => one ?? []), ...newest.changes].map(({ path }) => path);
    const withFacts = state.ok
      ? ok({ ...state.value, packedFacts: await readFactLeaves(sql, state.value, paths) })
      : state;
    return { state: withFacts, requests, refused, newest, unlisted };
  };
  return await building(
    options,
    from,
    deadline,
    script,
    read,
    async (common, { state, requests, refused, newest, unlisted }) => {
      if (!state.ok) return state;
      if (keyAddress(from.address)?.payment !== state.value.owner) return NOT_OWNER;
      const missing = (names: readonly string[], found: readonly (OpenRequest | undefined)[]) =>
        names.flatMap((request, i) => {
          if (found[i]?.token === entity.id) return [];
          const transaction = newest.spent.get(request);
          if (transaction !== undefined) return [{ request, ...spentBy(transaction) }];
          const message = found[i] ? "The request is for another token." : "The request does not exist or is not open.";
          return [{ request, code: "request_unknown", message }];
        });
      const spentOf = (found: readonly OpenRequest[]) =>
        found.flatMap(({ utxo }) => {
          const [request, transaction] = [refKey(utxo.ref), newest.spent.get(refKey(utxo.ref))];
          return transaction === undefined ? [] : [{ request, ...spentBy(transaction) }];
        });
      const refusing = refused.filter((one) => one !== undefined);
      const unknown = [...missing(named ?? [], requests), ...missing(refuse, refused), ...spentOf(refusing)];
      const found = requests.filter((one) => one !== undefined);
      const spent = spentOf(found);
      const all = named !== null && !dryRun && !partial;
      if ((unknown.length > 0 && !partial) || (all && spent.length > 0)) return failing([...unknown, ...spent]);
      if (requests.length === 0 && refusing.length === 0) return fail("nothing_to_apply", "No request is open.");
      const gone = [...unknown, ...spent];
      const available = ({ token, utxo }: OpenRequest) => token === entity.id && !newest.spent.has(refKey(utxo.ref));
      const [free, refusable] = [found.filter(available), refusing.filter(available)];
      if (free.length === 0 && refusable.length === 0) return failing(gone);
      const built = await options.builders.run(
        all ? "update" : "batch",
        {
          ...common,
          state: state.value.utxo,
          // named requests are applied in the ledger's order, not by age: the owner chose them
          requests: free.map(({ utxo, made }) => named ? utxo : { ...utxo, made }),
          refuse: refusable.map(({ utxo }) => utxo),
          facts: state.value.packedFacts,
          changes: newest.changes.map(digestsOf),
        },
        { deadline, affinity: entity.id },
      );
      if (built.ok) {
        return ok({ built: built.value, more: updateResponse(built.value, gone, dryRun, unlisted), dry: dryRun });
      }
      if (built.error.code === "requests_fail") {
        return failing([...(built.error.details as { requests: readonly UnappliedRequest[] }).requests, ...gone]);
      }
      if (built.error.code === "state_differs") return quarantined(state.value.quarantine);
      return built;
    },
  );
}

/** Least lovelace of an output at an address of some bytes. */
const leastOf = (addressBytes: number, parameters: Parameters): bigint =>
  leastLovelace(parameters, { address: "00".repeat(addressBytes), value: lovelace(0n) });

/** Requests by name, those that pending transactions make as well. */
async function openRequests(
  sql: Queries,
  named: readonly string[],
  { requests }: NewestToken,
): Promise<(OpenRequest | undefined)[]> {
  const made = new Map(requests.map((one) => [refKey(one.utxo.ref), one]));
  const stored = await readRequestsAt(sql, named);
  return named.map((ref, i) => stored[i] ?? made.get(ref));
}

/** The failure of a request that a pending transaction spends. */
const spentBy = (transaction: string) => ({
  code: "request_pending",
  message: `The request is spent by ${transaction}, which is not in a block yet.`,
});

/** The response of an update beside its transaction; `gone` are requests that were not available. */
function updateResponse(
  built: BuiltUpdate & Partial<BuiltBatch>,
  gone: readonly LeftRequest[],
  dryRun: boolean,
  unlisted: number,
): Record<string, Json> {
  const { root, applied, refused, left = [], fee, size } = built;
  return {
    mpfRoot: root,
    applied: applied.map(refText),
    refused: refused.map(refText),
    left: [...left, ...gone].map(leftText),
    ...(unlisted > 0 ? { unlisted } : {}),
    ...(dryRun ? { dryRun, fee: String(fee), size } : {}),
  };
}

/** Builds a transaction that needs only the token's state. */
async function onState(
  options: TokenBuildOptions,
  intent: TokenIntent,
  from: TokenPayer,
  { entity, deadline }: BuildContext,
  build: (input: BuildInput & { readonly state: Utxo }) => Promise<Offer>,
): Promise<BuildAnswer> {
  const script = await versionOf(options, entity.id);
  const read = async (sql: Queries) =>
    stateFor(intent, await readNewestToken(sql, entity.id, options.networkId), entity.id);
  return await building(options, from, deadline, script, read, async (common, state) => {
    if (!state.ok) return state;
    if (keyAddress(from.address)?.payment !== state.value.owner) return NOT_OWNER;
    return await build({ ...common, state: state.value.utxo });
  });
}

function transfer(
  options: TokenBuildOptions,
  { to, ...from }: TokenPayer & { to: string },
  context: BuildContext,
): Promise<BuildAnswer> {
  return onState(options, { type: "UPDATE" }, from, context, async (input) => {
    const built = await options.builders.run("transfer", { ...input, to }, { deadline: context.deadline });
    if (!built.ok) return built;
    return ok({ built: built.value, more: { owner: built.value.owner, signers: [...built.value.signers] } });
  });
}

/** An output reference in the API's form. */
const refText = (key: string): string => key.replace("#", "-");

const leftText = ({ request, code, message, lostTo }: LeftRequest) => ({
  request: refText(request),
  code,
  message,
  ...(lostTo === undefined ? {} : { lostTo: refText(lostTo) }),
});

/** A request that is not applied, with more codes than those of `UnappliedRequest`. */
type LeftRequest = Omit<UnappliedRequest, "code"> & { readonly code: string };

function failing(requests: readonly LeftRequest[]): Result<never, Failure> {
  const message = requests.length === 1
    ? "A request cannot be applied."
    : `${requests.length} requests cannot be applied.`;
  return fail("requests_fail", message, { requests: requests.map(leftText) });
}

async function retract(
  options: TokenBuildOptions,
  input: TokenPayer & { request: string },
  { entity, deadline }: BuildContext,
): Promise<BuildAnswer> {
  const read = async (sql: Queries) => {
    const { requests, spent } = await readNewestToken(sql, entity.id, options.networkId);
    const made = requests.find(({ utxo }) => refKey(utxo.ref) === input.request);
    return { found: made ?? await readRequest(sql, input.request), transaction: spent.get(input.request) };
  };
  const { value: known } = await atPoint(options.store, read);
  if (!known.found) return known.transaction === undefined ? gone(input.request) : requestPending(known.transaction);
  const script = known.found.utxo.output.address.slice(2, 58);
  return await building(options, input, deadline, script, read, async (common, { found, transaction }) => {
    if (!found) return transaction === undefined ? gone(input.request) : requestPending(transaction);
    if (found.owner !== keyAddress(input.address)?.payment) return NOT_REQUESTER;
    if (transaction !== undefined) return requestPending(transaction);
    const built = await options.builders.run("retract", { ...common, request: found.utxo }, { deadline });
    return built.ok ? ok({ built: built.value, more: {} }) : built;
  });
}

function requestPending(transaction: string): Result<never, Failure> {
  const { code, message } = spentBy(transaction);
  return fail(code, message, { transaction });
}

function gone(request: string): Result<never, Failure> {
  return fail("request_unknown", `No open request ${refText(request)} exists.`);
}

function end(options: TokenBuildOptions, from: TokenPayer, context: BuildContext): Promise<BuildAnswer> {
  return onState(options, { type: "END" }, from, context, async (input) => {
    const built = await options.builders.run("end", input, { deadline: context.deadline });
    return built.ok ? ok({ built: built.value, more: {} }) : built;
  });
}
