/** The requests of an update: which can be applied or refused, and what they get back. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { lovelace, type Value } from "#src/cardano/value.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { neededLovelace } from "#src/transaction/output.ts";
import { changeOf, decodeDatum, type Request } from "#src/contract/datum.ts";
import { keyAddressHex } from "#src/contract/plutusAddress.ts";
import { refusesRequests } from "#src/contract/script.ts";
import type { Change, Refusal as FactRefusal } from "#src/forestry/trie.ts";
import type { BuildInput } from "#src/contract/transactions/common.ts";
import type { OwnedState } from "#src/contract/transactions/state.ts";

export interface UpdateInput extends BuildInput {
  /** The token's state output. */
  readonly state: Utxo;
  /** The requests to apply, in any order; duplicates count once. */
  readonly requests: readonly OpenUtxo[];
  /** Requests to refuse, in any order, none of them among `requests`; duplicates count once. */
  readonly refuse?: readonly Utxo[] | undefined;
}

/** A request's output, and where it was made. Requests without `made` count as made in the ledger's order of inputs. */
export interface OpenUtxo extends Utxo {
  readonly made?: {
    readonly slot: number;
    /** In the slot's block: 65536 × the transaction's index + the output's index. */
    readonly position: number;
  };
}

/**
 * Why a request cannot be applied, or (the second and third) refused.
 * - `fact_…`: after the previous requests the key already exists, is missing, or has another value
 * - `other_token`: not a request of this token
 * - `not_applicable`: it holds assets (which return if it is refused) or a script, or too little lovelace for its fee and refund
 * - `no_room`: it does not fit into the transaction with the requests already selected
 * - `out_of_order`: the ledger would apply it before an older request for its key
 * - `older_waits`: an older request for its key has no room or is out of order
 */
export type RequestReason =
  | FactRefusal["code"]
  | "other_token"
  | "not_applicable"
  | "no_room"
  | "out_of_order"
  | "older_waits";

/** A request that an update does not apply. */
export interface UnappliedRequest {
  /** `refKey` of its output. */
  readonly request: string;
  readonly code: RequestReason;
  readonly message: string;
  /** `refKey` of the older request that prevents it: without that one it could be applied now. */
  readonly lostTo?: string;
}

export type RefusalFailure = Failure<"version_without_refusals" | "requests_fail">;

/** A `requests_fail` failure with the reason for each request. */
export function requestsFail(requests: readonly UnappliedRequest[]): Result<never, Failure<"requests_fail">> {
  const message = requests.length === 1
    ? "A request cannot be applied."
    : `${requests.length} requests cannot be applied.`;
  return fail("requests_fail", message, { requests });
}

/** A request that an update refuses, with its refund. */
export interface Refusal {
  readonly utxo: Utxo;
  readonly refund: NewOutput;
}

/** The requests to refuse, with their refunds; fails if one of them cannot be refused. */
export function selectRefusals(
  input: UpdateInput,
  { token }: Pick<OwnedState, "token">,
): Result<readonly Refusal[], RefusalFailure> {
  const named = new Map((input.refuse ?? []).map(({ ref, output }) => [refKey(ref), { ref, output }]));
  if (named.size > 0 && !refusesRequests(input.script)) {
    return fail(
      "version_without_refusals",
      `Version ${input.script.version} of the contract has no refusals: only its requester can take a request back.`,
      { version: input.script.version },
    );
  }
  const refusals: Refusal[] = [];
  const failures: UnappliedRequest[] = [];
  for (const [name, utxo] of named) {
    const refusal = refusalOf(input, token, utxo);
    if (refusal.ok) refusals.push(refusal.value);
    else failures.push({ request: name, code: refusal.error.code, message: refusal.error.message });
  }
  return failures.length > 0 ? requestsFail(failures) : ok(refusals);
}

function refusalOf(input: UpdateInput, token: string, utxo: Utxo): Result<Refusal, Failure<RequestReason>> {
  const request = requestOf(input, token, utxo);
  if (!request.ok) return request;
  const refund = refundOf(input, utxo, request.value, utxo.output.value);
  return refund.ok ? ok({ utxo, refund: refund.value }) : refund;
}

/** A request with its refund: one that can be applied if the facts allow it. */
export interface PayableRequest {
  readonly utxo: Utxo;
  readonly change: Change;
  readonly refund: NewOutput;
}

/** A request with its change and refund, or the reason why it cannot be applied. */
export function payableOf(
  input: UpdateInput,
  token: string,
  utxo: Utxo,
): Result<PayableRequest, Failure<RequestReason>> {
  const request = requestOf(input, token, utxo);
  if (!request.ok) return request;
  const { value } = utxo.output;
  if (value.assets.size > 0) return notApplicable("The request holds assets; it can only be refused or taken back.");
  const refund = refundOf(input, utxo, request.value, lovelace(value.lovelace - request.value.fee));
  if (!refund.ok) return refund;
  return ok({ utxo, change: changeOf(request.value.key, request.value.operation), refund: refund.value });
}

function requestOf({ script }: UpdateInput, token: string, { output }: Utxo): Result<Request, Failure<RequestReason>> {
  const datum = output.datum && decodeDatum(output.datum);
  if (datum?.type === "request" && datum.request.policy === script.hash && datum.request.name === token) {
    return ok(datum.request);
  }
  return fail("other_token", "This is not a request for the token.");
}

/**
 * A request's refund, which holds `value`. A request with a script can be neither applied nor refused: the token's owner would
 * pay the fee for that script.
 */
function refundOf(
  { parameters, network }: UpdateInput,
  { output }: Utxo,
  { refund }: Request,
  value: Value,
): Result<NewOutput, Failure<RequestReason>> {
  if (output.script) return notApplicable("The request carries a script; only its owner can take it back.");
  const back = { address: keyAddressHex(refund, network), value };
  if (value.lovelace >= neededLovelace(parameters, back)) return ok(back);
  return notApplicable("The request holds too little for a refund, after the fee that it offers.");
}

const notApplicable = (message: string) => fail("not_applicable", message);
