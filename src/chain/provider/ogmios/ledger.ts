/** The queries of the port, composed from those of a ledger at one point. Functions throw `OgmiosError`. */
import type { Json } from "#src/base/json.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import { type Epoch, epochTimes, ERAS, type Eras } from "#src/cardano/eras.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import type { ActionStatus, DRepStates, DRepStatus, StakeAccount, StakePool } from "#src/chain/provider/ledgerPort.ts";
import { drepStatusesOf } from "#src/chain/provider/ledgerQueries.ts";
import {
  readAccountSummaries,
  readEraSummaries,
  readProjectedRewards,
  readProposals,
  readRepresentatives,
  readStakePools,
  readStakeShares,
} from "#src/chain/provider/ogmios/answers.ts";
import type { LedgerState } from "#src/chain/provider/ogmios/client.ts";
import { ogmiosError } from "#src/chain/provider/ogmios/errors.ts";
import { mapInSteps } from "#src/chain/provider/ogmios/steps.ts";
import { compareCredentials } from "#src/node/queries/vocabulary.ts";
import { countOf, listOf } from "#src/ogmios/form.ts";
import { readUtxo } from "#src/ogmios/outputs.ts";
import { adaJson, refJson } from "#src/ogmios/values.ts";

/** Credentials, or outputs, of one query at most. */
const MAX_ENTRIES = 1_000;

const keyOf = ({ kind, hash }: { readonly kind: string | undefined; readonly hash: string }) => `${kind} ${hash}`;

/** Parts of a list, each small enough for one query. */
function* partsOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += MAX_ENTRIES) yield all.slice(from, from + MAX_ENTRIES);
}

/** Credentials as arguments of a query; one without any of them would be for all. */
function credentialsJson(wanted: readonly Credential[]): { [name: string]: Json } {
  const of = (one: Credential["kind"]) => wanted.filter(({ kind }) => kind === one).map(({ hash }) => hash);
  const [keys, scripts] = [of("key"), of("script")];
  return { ...keys.length > 0 ? { keys } : {}, ...scripts.length > 0 ? { scripts } : {} };
}

/** The accounts of credentials, one each, in order of first mention. */
export async function queryAccounts(
  ledger: LedgerState,
  wanted: readonly Credential[],
): Promise<readonly StakeAccount[]> {
  const all = [...new Map(wanted.map((credential) => [keyOf(credential), credential])).values()];
  const accounts: StakeAccount[] = [];
  for (const part of partsOf(all)) {
    const found = readAccountSummaries(await ledger.query("rewardAccountSummaries", credentialsJson(part)));
    const summaries = new Map(found.map((one) => [keyOf(one), one]));
    for (const credential of part) {
      // versions before 6.13 name only the hash
      const summary = summaries.get(keyOf(credential)) ?? summaries.get(keyOf({ ...credential, kind: "undefined" }));
      accounts.push({
        credential,
        registered: summary !== undefined,
        rewards: summary?.rewards ?? 0n,
        deposit: summary?.deposit,
        pool: summary?.pool,
        drep: summary?.drep,
      });
    }
  }
  return accounts;
}

/** Every registered pool, by id. */
export async function queryPools(ledger: LedgerState): Promise<readonly StakePool[]> {
  const pools = readStakePools(await ledger.query("stakePools"));
  const shares = readStakeShares(await ledger.query("liveStakeDistribution"));
  return [...pools.values()].sort((a, b) => a.pool < b.pool ? -1 : 1).map((one): StakePool => ({
    ...one,
    retiring: undefined,
    share: shares.get(one.pool) ?? { numerator: 0n, denominator: 1n },
    stake: undefined,
  }));
}

/** Lovelace that each pool would pay a member with this stake, by pool id. */
export async function queryRanking(ledger: LedgerState, stake: bigint): Promise<ReadonlyMap<string, bigint>> {
  const rewards = readProjectedRewards(await ledger.query("projectedRewards", { stake: [adaJson(stake)] }));
  return rewards.get(String(stake)) ?? new Map();
}

const epochOf = async (ledger: LedgerState): Promise<number> => countOf(await ledger.query("epoch"), "the epoch");

/** Every registered DRep, and the current epoch. */
export async function queryDreps(ledger: LedgerState): Promise<DRepStates> {
  const all = readRepresentatives(await ledger.query("delegateRepresentatives"));
  return {
    epoch: await epochOf(ledger),
    all: [...all].sort((a, b) => compareCredentials(a.credential, b.credential)),
  };
}

/** Some DReps, registered or not, in the order of their credentials. */
export async function queryDrepStatus(
  ledger: LedgerState,
  credentials: readonly Credential[],
): Promise<readonly DRepStatus[]> {
  if (credentials.length === 0) return [];
  const answer = await ledger.query("delegateRepresentatives", credentialsJson(credentials));
  const epoch = await epochOf(ledger);
  return drepStatusesOf(credentials, readRepresentatives(answer), epoch, (_, state) => state?.stake ?? 0n);
}

/**
 * Some governance actions, in the order of their ids. The ledger is queried for those that were open at the last epoch
 * boundary, and an action ends only at one. Undefined if one of them is not among these: it may be new, or have ended.
 */
export async function queryActions(
  ledger: LedgerState,
  ids: readonly ActionId[],
): Promise<readonly ActionStatus[] | undefined> {
  if (ids.length === 0) return [];
  const open = readProposals(await ledger.query("governanceProposals", { proposals: ids.map(refJson) }));
  const ends = new Map(open.map(({ id, lastEpoch }) => [refKey(id), lastEpoch]));
  const found = ids.flatMap((id): ActionStatus[] => {
    const lastEpoch = ends.get(refKey(id));
    return lastEpoch === undefined ? [] : [{ id, state: "open", lastEpoch }];
  });
  return found.length === ids.length ? found : undefined;
}

/** The mapping of slots, epochs and times; `systemStart` is in ms since 1970. */
export async function queryEras(ledger: LedgerState, systemStart: number): Promise<Eras> {
  const history = readEraSummaries(await ledger.query("eraSummaries"));
  // an era to come may be among them once its start is certain; eras that a test network skipped begin in slot 0
  const index = history.findLastIndex(({ start }) => start.slot <= Math.max(0, ledger.point.slot));
  const current = ERAS[index];
  if (!current) throw ogmiosError("unusable", "The server's eras do not cover the ledger's tip.");
  return { systemStart, current, history };
}

/** The epoch of the newest block. */
export async function queryEpoch(ledger: LedgerState, systemStart: number): Promise<Epoch> {
  const times = epochTimes(await queryEras(ledger, systemStart), await epochOf(ledger));
  if (times.ok) return times.value;
  throw ogmiosError("unusable", `The server's eras do not cover its current epoch: ${times.error.message}`);
}

/** Unspent outputs at addresses, as texts. A node reads its whole set for it. */
export async function queryOutputsAt(ledger: LedgerState, addresses: readonly string[]): Promise<readonly Utxo[]> {
  if (addresses.length === 0) return [];
  return await mapInSteps(listOf(await ledger.query("utxo", { addresses: [...addresses] }), "outputs"), readUtxo);
}

/** The unspent ones of some outputs. */
export async function queryOutputs(ledger: LedgerState, refs: readonly OutRef[]): Promise<readonly Utxo[]> {
  const found: Utxo[] = [];
  for (const part of partsOf([...new Map(refs.map((ref) => [refKey(ref), ref])).values()])) {
    const answer = await ledger.query("utxo", { outputReferences: part.map(refJson) });
    found.push(...await mapInSteps(listOf(answer, "outputs"), readUtxo));
  }
  return found;
}
