/** Builds and decodes transactions, for all kinds of wallets. Rows are read at one point; builder threads compute. */
import type { BuildAnswer } from "#src/runtime/types.ts";
import type { Clock } from "#src/base/clock.ts";
import { type Json, messaged } from "#src/base/json.ts";
import { onlyOf } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Builders } from "#src/wallets/builds/jobs.ts";
import type { NetworkId } from "#src/cardano/address.ts";
import { ROLES } from "#src/cardano/keys/derivation.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { currentSlot } from "#src/cardano/parameters.ts";
import { readOverlay } from "#src/chain/pending/overlay.ts";
import { atPoint, buildAndReserve, readReserved, type Reservable } from "#src/chain/pending/spendable.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { readListedPending, readSubmitted } from "#src/chain/pending/submissions.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { lookupsOf } from "#src/wallets/builds/decode.ts";
import { inputsNotAvailable, textOf, type UnavailableInput } from "#src/wallets/builds/failures.ts";
import type {
  BalanceInput,
  ConstructedTransaction,
  ConstructInput,
  OwnCoin,
  OwnDrep,
  PaymentIntent,
  StakeAccount,
} from "#src/wallets/builds/types.ts";
import { versionWarning } from "#src/chain/versionWatch.ts";
import { runsScripts } from "#src/wallets/builds/balance.ts";
import { withdrawableBefore } from "#src/wallets/delegation/boundary.ts";
import { governanceOf, type LedgerGovernance } from "#src/wallets/ledgerGovernance.ts";
import { drepAfter } from "#src/wallets/dreps/pending.ts";
import { accountAfter } from "#src/wallets/delegation/pending.ts";
import { readAccount, stakeAccountOf } from "#src/wallets/delegation/read.ts";
import { readClaims, readFacts } from "#src/wallets/index/owners.ts";
import { readBuildable } from "#src/wallets/index/read.ts";
import { readOwnAddresses } from "#src/wallets/index/readChange.ts";
import { readCoins } from "#src/wallets/index/readCoins.ts";
import { STAKE_PATH } from "#src/cardano/keys/paths.ts";
import type { Path } from "#src/cardano/keys/types.ts";

export interface WalletBuildOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly builders: Pick<Builders, "run">;
  readonly networkId: NetworkId;
  /** Clock for the current slot. */
  readonly clock: Clock;
}

/** The properties of a wallet that builds need. */
export interface Building {
  readonly id: string;
  /** Path of its account. */
  readonly account: Path;
  /** Its DRep key, if it has one. */
  readonly drep?: Pick<OwnDrep, "hash" | "path"> | undefined;
  /** Hash of its policy key, if set. */
  readonly policyKey?: string | undefined;
  readonly oneChange: boolean;
  readonly selection: "per-output" | "round-robin";
}

/** What a build depends on beside the wallet's rows. */
type BuildSettingInput = Omit<ConstructInput, "intent" | "funds">;

/**
 * The inputs that are equal for all attempts of a build, as a function of the index's slot and optionally of a fixed
 * slot.
 */
export async function settingOf(
  { port, networkId, clock }: WalletBuildOptions,
  intent: PaymentIntent,
): Promise<Result<(at: number, fixed?: number) => BuildSettingInput, Failure>> {
  const [chain, parameters] = await Promise.all([port.network(), port.parameters()]);
  if (!parameters.ok) return parameters;
  // a withdrawal must expire before the next rewards arrive
  const eras = intent.withdrawal ? await port.eras() : undefined;
  if (eras && !eras.ok) return eras;
  const references = await lookedUp(
    port,
    (intent.mintBurn ?? []).flatMap(({ policy }) => "id" in policy ? [policy.reference] : []),
  );
  if (!references.ok) return references;
  const redeemed = await redeemedAccount(port, intent, parameters.value.value.keyDeposit);
  if (!redeemed.ok) return redeemed;
  return ok((at, fixed?: number) => {
    const slot = fixed ?? Math.max(at, currentSlot(chain, clock.now()));
    return {
      parameters: parameters.value.value,
      network: networkId,
      slots: chain.slots,
      slot,
      references: references.value,
      redeemed: redeemed.value,
      ...(eras ? { boundary: withdrawableBefore(epochsOf(eras.value.value), slot) } : {}),
    };
  });
}

/** The foreign account whose rewards an intent withdraws, as the network reports it now. */
async function redeemedAccount(
  port: ChainPort,
  { withdrawal }: PaymentIntent,
  keyDeposit: bigint,
): Promise<Result<StakeAccount | undefined, Failure>> {
  if (withdrawal === undefined || withdrawal === "self") return ok(undefined);
  const credential = { kind: "key", hash: withdrawal.stakeKey } as const;
  const found = await port.accounts([credential]);
  if (!found.ok) return found;
  const { deposit = keyDeposit, ...account } = onlyOf(found.value.value);
  return ok({ ...account, deposit, path: STAKE_PATH });
}

/** Those of some outputs that are unspent, of any owner. */
async function lookedUp(port: ChainPort, refs: readonly OutRef[]): Promise<Result<readonly Utxo[], Failure>> {
  if (refs.length === 0) return ok([]);
  const found = await port.utxosByRef(refs);
  return found.ok ? ok(found.value.value) : found;
}

/** The outputs that an intent must spend and that are not among the available ones, with the reason. */
async function readUnavailable(
  sql: Queries,
  wallet: string,
  { coins }: PaymentIntent,
  available: readonly OwnCoin[],
): Promise<readonly UnavailableInput[]> {
  if (!coins || coins.spend.length === 0) return [];
  const here = new Set(available.map(({ utxo }) => refKey(utxo.ref)));
  const missing = coins.spend.filter((ref) => !here.has(refKey(ref)));
  const known = new Set((await readCoins(sql, wallet, missing.map(refKey))).map(({ utxo }) => refKey(utxo.ref)));
  return missing.map((ref) => ({ ref, reason: known.has(refKey(ref)) ? "spent" : "unknown" }));
}

/** Reads the inputs of a build at one point. */
async function gather(
  { store, networkId }: WalletBuildOptions,
  { id, account, drep, policyKey, oneChange, selection }: Building,
  intent: PaymentIntent,
  setting: (at: number) => BuildSettingInput,
  { estimate = false, governance = {} }: { readonly estimate?: boolean; readonly governance?: LedgerGovernance } = {},
): Promise<Result<ConstructInput, Failure>> {
  const change = oneChange ? "first" : (intent.payments?.length ?? 0) + (intent.mintBurn?.length ?? 0) + 1;
  const { changeTo } = intent;
  const { at, value } = await atPoint(store, async (sql) => {
    const buildable = await readBuildable(sql, id, {
      pending: await readListedPending(sql, id),
      overlay: readOverlay,
      reserved: readReserved,
      change,
      estimate,
    });
    const stake = await readAccount(sql, id);
    return {
      buildable,
      stake: stake && accountAfter(stake, buildable.pending, networkId),
      unavailable: await readUnavailable(sql, id, intent, buildable.utxos),
      chosen: changeTo && (await readOwnAddresses(sql, id, [changeTo.address])).get(changeTo.address),
    };
  });
  const { buildable: { utxos, change: free, pending }, stake, unavailable, chosen } = value;
  const ledgerDrep = governance.drep ?? drep;
  if (unavailable.length > 0) return { ok: false, error: inputsNotAvailable(unavailable) };
  if (changeTo && !chosen && !changeTo.foreign) {
    return fail(
      "foreign_change_address",
      "The change address is not an address of the wallet. Change there is a payment of everything that is left: state `foreign` if " +
        "that is intended.",
      { address: textOf(changeTo.address) },
    );
  }
  if (!changeTo && free.length === 0 && utxos.length > 0) {
    return fail(
      "no_unused_address",
      "The wallet has made no address of its own yet that change could go to: its addresses need the passphrase.",
    );
  }
  const known = setting(at.slot);
  return ok({
    ...known,
    ...(governance.actions ? { actions: governance.actions } : {}),
    intent,
    funds: {
      coins: utxos,
      change: changeTo ? [{ address: changeTo.address, path: chosen ?? [] }] : free,
      selection,
      ...(ledgerDrep ? { drep: drepAfter(ledgerDrep, pending) } : {}),
      ...(policyKey === undefined ? {} : { policyKey }),
      ...(stake ? { account: stakeAccountOf(stake, [...account, ROLES.stake, 0], known.parameters.keyDeposit) } : {}),
    },
  });
}

/** Builds a transaction, avoiding outputs that other builds reserved while others suffice, and reserves its outputs. */
export async function constructing(
  options: WalletBuildOptions,
  wallet: Building,
  intent: PaymentIntent,
  construct: (input: ConstructInput) => Promise<Result<ConstructedTransaction, Failure>>,
): Promise<BuildAnswer> {
  const [setting, governance] = await Promise.all([
    settingOf(options, intent),
    governanceOf(options.port, intent, wallet.drep),
  ]);
  if (!setting.ok) return setting;
  if (!governance.ok) return governance;
  return await buildAndReserve(options.store, wallet.id, async () => {
    const input = await gather(options, wallet, intent, setting.value, { governance: governance.value });
    return input.ok ? reservableOf(input.value.funds.coins, await construct(input.value)) : input;
  });
}

const reservableOf = (
  read: readonly OwnCoin[],
  built: Result<ConstructedTransaction, Failure>,
  more: { readonly warnings?: readonly Json[] } = {},
): Result<Reservable<Json>, Failure> =>
  built.ok ? ok({ read, spends: built.value.spends, answer: messaged({ ...built.value, ...more }) }) : built;

/** Estimates the fee of a transaction; no output is reserved. */
export async function estimating<T>(
  options: WalletBuildOptions,
  wallet: Building,
  intent: PaymentIntent,
  estimate: (input: ConstructInput) => Promise<Result<T, Failure>>,
): Promise<BuildAnswer> {
  const [setting, governance] = await Promise.all([
    settingOf(options, intent),
    governanceOf(options.port, intent, wallet.drep),
  ]);
  if (!setting.ok) return setting;
  if (!governance.ok) return governance;
  const about = { estimate: true, governance: governance.value };
  const input = await gather(options, wallet, intent, setting.value, about);
  if (!input.ok) return input;
  const estimated = await estimate(input.value);
  return estimated.ok ? ok(messaged(estimated.value)) : estimated;
}

/** Completes a partial transaction with inputs of the wallet, in the same way as `constructing`. */
export async function balancing(
  options: WalletBuildOptions,
  wallet: Building,
  given: Pick<BalanceInput, "transaction" | "inputs" | "redeemers">,
  deadline: number,
): Promise<BuildAnswer> {
  const asked = lookupsOf(given.transaction);
  if (!asked.ok) return asked;
  const setting = await settingOf(options, {});
  if (!setting.ok) return setting;
  // inputs that the caller did not describe are looked up; spent ones are not found
  const stated = new Set(given.inputs.map(({ ref }) => refKey(ref)));
  const unstated = [...asked.value.inputs, ...asked.value.references].filter((ref) => !stated.has(refKey(ref)));
  const found = await lookedUp(options.port, unstated);
  if (!found.ok) return found;
  const pools = await registered(options.port, asked.value.pools);
  if (!pools.ok) return pools;
  return await buildAndReserve(options.store, wallet.id, async () => {
    const gathered = await gather(options, wallet, { payments: [] }, setting.value);
    if (!gathered.ok) return gathered;
    const { intent: _, ...input } = gathered.value;
    const inputs = [...given.inputs, ...found.value];
    const built = await options.builders.run("balance", { ...input, ...given, inputs, pools: pools.value }, {
      deadline,
    });
    const warning = built.ok && runsScripts(given) ? versionWarning(input.parameters) : undefined;
    return reservableOf(input.funds.coins, built, warning ? { warnings: [{ ...warning }] } : {});
  });
}

/** The registered ones of some pools; none when the provider cannot list pools, so that each may be new. */
async function registered(port: ChainPort, pools: readonly string[]): Promise<Result<readonly string[], Failure>> {
  if (pools.length === 0) return ok([]);
  const all = await port.pools();
  if (!all.ok) return all.error.code === "query_unsupported" ? ok([]) : all;
  const known = new Set(all.value.value.map(({ pool }) => pool));
  return ok(pools.filter((pool) => known.has(pool)));
}

/** Decodes a transaction (CBOR in hexadecimal), with the parts that belong to the wallet. */
export async function decoding(
  { store, port, builders, networkId }: WalletBuildOptions,
  { id, account, drep, policyKey }: Building,
  transaction: Uint8Array,
  deadline: number,
): Promise<BuildAnswer> {
  const asked = lookupsOf(transaction);
  if (!asked.ok) return asked;
  const parameters = await port.parameters();
  if (!parameters.ok) return parameters;
  const { inputs, collateral, references, addresses } = asked.value;
  const looked = await lookedUp(port, references);
  if (!looked.ok) return looked;
  const spends = [...inputs, ...collateral];
  const { value } = await atPoint(store, async (sql) => ({
    // their transactions may be pending, refused or rolled back: the owner then follows from their bytes
    coins: await readCoins(sql, id, spends.map(refKey), await readSubmitted(sql, spends.map(({ txHash }) => txHash))),
    own: (await readClaims(sql, await readFacts(sql, [id]), addresses)).get(id),
    stake: await readAccount(sql, id),
  }));
  const decoded = await builders.run("decode", {
    transaction,
    network: networkId,
    keyDeposit: parameters.value.value.keyDeposit,
    references: looked.value,
    owns: {
      coins: value.coins,
      addresses: [...value.own ?? []].map(([address, path]) => ({ address, path })),
      ...(value.stake ? { account: { credential: value.stake.credential, path: [...account, ROLES.stake, 0] } } : {}),
      ...(drep ? { drep } : {}),
      ...(policyKey === undefined ? {} : { policyKey }),
    },
  }, { deadline });
  return decoded.ok ? ok(messaged(decoded.value)) : decoded;
}
