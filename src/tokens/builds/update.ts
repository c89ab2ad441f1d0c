/** Builds an update of a token: reads its state and requests, chooses those to apply and to refuse, and builds. */
import { z } from "zod";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { lovelace } from "#src/cardano/value.ts";
import { keyAddress } from "#src/contract/plutusAddress.ts";
import type { BuiltBatch } from "#src/contract/transactions/batch.ts";
import type { BuildInput } from "#src/contract/transactions/common.ts";
import { NOT_OWNER } from "#src/contract/transactions/state.ts";
import type { BuiltUpdate, UnappliedRequest } from "#src/contract/transactions/update.ts";
import type { BuildAnswer, BuildContext } from "#src/runtime/types.ts";
import type { Queries } from "#src/store/store.ts";
import type { PackedFacts } from "#src/tokens/builds/packedFacts.ts";
import { type LeftRequest, leftText, refText, requestsFail, spentBy } from "#src/tokens/builds/requestText.ts";
import {
  outputRef,
  payer,
  reservedBuild,
  type TokenBuild,
  type TokenBuildOptions,
} from "#src/tokens/builds/reservedBuild.ts";
import { quarantined, stateFor, versionOf } from "#src/tokens/builds/tokenState.ts";
import { readSelectable } from "#src/tokens/index/applicable.ts";
import { readFactLeaves } from "#src/tokens/index/leaves.ts";
import { digestsOf } from "#src/tokens/index/pending.ts";
import { countRequests, type OpenRequest, readRequestsAt, type TokenState } from "#src/tokens/index/read.ts";
import { type NewestToken, readNewestToken } from "#src/tokens/pendingTokens.ts";
import { leastLovelace } from "#src/transaction/output.ts";

/** Most requests that one update applies. */
const MOST_REQUESTS = 200;
const [KEY_ADDRESS_BYTES, BASE_ADDRESS_BYTES] = [29, 57];
/** Most open requests, the oldest, of which an update that names none says why it leaves them. */
const MOST_LEFT = 200;

export const updateInput = z.object({
  ...payer,
  /** Null: as many open requests as can be applied and fit. */
  requests: z.array(outputRef).max(MOST_REQUESTS).nullable(),
  /** Requests to refuse, none of them among `requests`. */
  refuse: z.array(outputRef).max(MOST_REQUESTS).default([]),
  /** Whether to report only what an update would do: no output is reserved, and failing requests do not prevent others. */
  dryRun: z.boolean(),
  /** Whether those of the named requests that can be applied are, and the others are reported; otherwise all or none. */
  partial: z.boolean().default(false),
}).refine(({ requests, refuse }) => !requests?.some((one) => refuse.includes(one)), "both applied and refused");
type UpdateInput = z.infer<typeof updateInput>;

/** Builds an update of a token. */
export async function buildUpdate(
  options: TokenBuildOptions,
  input: UpdateInput,
  { entity: { id: token }, deadline }: BuildContext,
): Promise<BuildAnswer> {
  const script = await versionOf(options, token);
  const read = (sql: Queries, parameters: Parameters) =>
    readForUpdate(sql, input, { token, script, network: options.networkId, parameters });
  return await reservedBuild(options, { from: input, deadline, script }, read, async (common, found) => {
    if (!found.ok) return found;
    if (keyAddress(input.address)?.payment !== found.value.state.owner) return NOT_OWNER;
    const chosen = choose(input, token, found.value);
    if (!chosen.ok) return chosen;
    const job = updateJob(input, common, found.value, chosen.value);
    const name = allOrNone(input) ? "update" : "batch";
    const built = await options.builders.run(name, job, { deadline, affinity: token });
    return updateAnswer(input, built, found.value, chosen.value);
  });
}

/** What an update reads. A named request that does not exist or is not open is `undefined`. */
interface ReadForUpdate {
  readonly state: TokenState;
  readonly facts: PackedFacts;
  readonly requests: readonly (OpenRequest | undefined)[];
  readonly refused: readonly (OpenRequest | undefined)[];
  readonly newest: NewestToken;
  /** Number of open requests that were not read. */
  readonly unlisted: number;
}

async function readForUpdate(
  sql: Queries,
  { requests: named, refuse }: UpdateInput,
  { token, script, network, parameters }: {
    readonly token: string;
    readonly script: string;
    readonly network: 0 | 1;
    readonly parameters: Parameters;
  },
): Promise<Result<ReadForUpdate, Failure>> {
  const newest = await readNewestToken(sql, token, network);
  const state = stateFor({ type: "UPDATE" }, newest, token);
  if (!state.ok) return state;
  const leastRefund = { key: leastOf(KEY_ADDRESS_BYTES, parameters), base: leastOf(BASE_ADDRESS_BYTES, parameters) };
  const open = named
    ? await openRequests(sql, named, newest)
    : await readSelectable(sql, { token, script, leastRefund }, newest, MOST_LEFT);
  const requests = named ? open : open.filter((one) => one && !refuse.includes(refKey(one.utxo.ref)));
  const refused = refuse.length > 0 ? await openRequests(sql, refuse, newest) : [];
  const unlisted = named ? 0 : await countRequests(sql, token) + newest.requests.length - open.length;
  const paths = [...requests.flatMap((one) => one ?? []), ...newest.changes].map(({ path }) => path);
  const facts = await readFactLeaves(sql, state.value, paths);
  return ok({ state: state.value, facts, requests, refused, newest, unlisted });
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

/** The requests of an update. */
interface ChosenRequests {
  readonly apply: readonly OpenRequest[];
  readonly refuse: readonly OpenRequest[];
  /** Those that are not available. */
  readonly gone: readonly LeftRequest[];
}

/** Whether all named requests are applied, or none. */
const allOrNone = ({ requests, dryRun, partial }: UpdateInput): boolean => requests !== null && !dryRun && !partial;

/** Chooses the requests that are available; fails where the others must not be left out, or none is there. */
function choose(
  input: UpdateInput,
  token: string,
  { requests, refused, newest }: ReadForUpdate,
): Result<ChosenRequests, Failure> {
  const missing = (names: readonly string[], found: readonly (OpenRequest | undefined)[]): LeftRequest[] =>
    names.flatMap((request, i) => {
      if (found[i]?.token === token) return [];
      const transaction = newest.spent.get(request);
      if (transaction !== undefined) return [{ request, ...spentBy(transaction) }];
      const message = found[i] ? "The request is for another token." : "The request does not exist or is not open.";
      return [{ request, code: "request_unknown", message }];
    });
  const spentOf = (found: readonly OpenRequest[]): LeftRequest[] =>
    found.flatMap(({ utxo }) => {
      const [request, transaction] = [refKey(utxo.ref), newest.spent.get(refKey(utxo.ref))];
      return transaction === undefined ? [] : [{ request, ...spentBy(transaction) }];
    });
  const applying = requests.filter((one) => one !== undefined);
  const refusing = refused.filter((one) => one !== undefined);
  const unknown = [...missing(input.requests ?? [], requests), ...missing(input.refuse, refused), ...spentOf(refusing)];
  const spent = spentOf(applying);
  const gone = [...unknown, ...spent];
  if ((unknown.length > 0 && !input.partial) || (allOrNone(input) && spent.length > 0)) return requestsFail(gone);
  if (requests.length === 0 && refusing.length === 0) return fail("nothing_to_apply", "No request is open.");
  const available = (one: OpenRequest) => one.token === token && !newest.spent.has(refKey(one.utxo.ref));
  const chosen = { apply: applying.filter(available), refuse: refusing.filter(available), gone };
  return chosen.apply.length === 0 && chosen.refuse.length === 0 ? requestsFail(gone) : ok(chosen);
}

function updateJob(
  input: UpdateInput,
  common: BuildInput,
  { state, facts, newest }: ReadForUpdate,
  { apply, refuse }: ChosenRequests,
) {
  return {
    ...common,
    state: state.utxo,
    // named requests are applied in the ledger's order, not by age: the owner chose them
    requests: apply.map(({ utxo, made }) => input.requests ? utxo : { ...utxo, made }),
    refuse: refuse.map(({ utxo }) => utxo),
    facts,
    changes: newest.changes.map(digestsOf),
  };
}

function updateAnswer(
  { dryRun }: UpdateInput,
  built: Result<BuiltUpdate & Partial<BuiltBatch>, Failure>,
  { state, unlisted }: ReadForUpdate,
  { gone }: ChosenRequests,
): TokenBuild {
  if (!built.ok) {
    if (built.error.code === "requests_fail") {
      return requestsFail([...(built.error.details as { requests: readonly UnappliedRequest[] }).requests, ...gone]);
    }
    return built.error.code === "state_differs" ? quarantined(state.quarantine) : built;
  }
  const { root, applied, refused, left = [], fee, size } = built.value;
  const more = {
    mpfRoot: root,
    applied: applied.map(refText),
    refused: refused.map(refText),
    left: [...left, ...gone].map(leftText),
    ...(unlisted > 0 ? { unlisted } : {}),
    ...(dryRun ? { dryRun, fee: String(fee), size } : {}),
  };
  return ok({ built: built.value, more, dry: dryRun });
}
