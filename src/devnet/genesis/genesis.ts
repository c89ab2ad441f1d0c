/** The genesis of a devnet: its settings, its keys, and the first ledger state, stored permanently in its database. */
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { enterpriseAddress } from "#src/cardano/address.ts";
import { genesisOutput } from "#src/cardano/genesisOutputs.ts";
import { keyHash, newSeed, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { networkIdOf } from "#src/cardano/magic.ts";
import { type Output, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Network } from "#src/chain/provider/port.ts";
import type { EntryChange } from "#src/devnet/ledger/changes.ts";
import { insertUtxos } from "#src/devnet/blocks/writes.ts";
import { accountAddress, devnetAccounts, MOST_ACCOUNTS } from "#src/devnet/genesis/accounts.ts";
import { storeEntries } from "#src/devnet/ledger/entries.ts";
import { parametersFromJson, parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import {
  type GenesisGovernance,
  governanceDeposits,
  registerGovernance,
  withDefaultVoters,
} from "#src/devnet/genesis/governance.ts";
import { governanceFromRow, governanceToRow } from "#src/devnet/genesis/governanceJson.ts";
import {
  type GenesisPool,
  insertPools,
  MOST_POOLS,
  newPools,
  readGenesisPools,
  type RegisteredPool,
  registeredPool,
} from "#src/devnet/genesis/pools.ts";
import { DEVKIT_CONSTITUTION, DEVKIT_FUNDS, type Likeness, LIKENESSES } from "#src/devnet/genesis/yaciDevkit.ts";
import { firstSnapshots } from "#src/ledger/epoch/pass.ts";
import type { EpochTerms } from "#src/ledger/epoch/rewards.ts";
import { afterHardFork, type HardFork } from "#src/ledger/epoch/hardFork.ts";
import { GOVERNANCE, governanceOf } from "#src/ledger/governance/actions.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { newState } from "#src/ledger/state.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";

const ADA = 1_000_000n;
/** Minimum initial funds of the faucet, in lovelace: they are split so that payments can run in parallel. */
const LEAST_FUNDS = 1_000_000n * ADA;
const MOST_LOVELACE = 2n ** 63n - 1n;

/** Options of a new devnet. Amounts are lovelace. */
export interface GenesisOptions {
  readonly magic: number;
  /** Time of slot 0, in ms since 1970. */
  readonly genesisTime: number;
  /** Milliseconds of a slot. */
  readonly slotLength: number;
  /** Slots of an epoch. */
  readonly epochLength: number;
  /** Blocks that a rollback may undo (k). */
  readonly securityParameter: number;
  readonly parameters: Parameters;
  readonly parametersSource: string;
  /** The first epoch of the next major protocol version, with mainnet's cost models; undefined: parameters never change. */
  readonly hardForkEpoch?: number | undefined;
  /** Maximum supply; what is not in reserves, treasury, pledges or default accounts belongs to the faucet. */
  readonly maxSupply: bigint;
  readonly reserves: bigint;
  readonly treasury: bigint;
  /** Number of stake pools, and the pledge of each one's owner. */
  readonly pools: number;
  readonly pledge: bigint;
  /** Number of default accounts, and the initial lovelace of each one. */
  readonly accounts: number;
  readonly accountFunds: bigint;
  /** URL under which the devnet serves the pools' metadata; empty: none. */
  readonly url: string;
  /** The network whose pool, funds and constitution it has; undefined: none. */
  readonly like?: Likeness | undefined;
  /** Constitution, committee, representatives and delegations; undefined: none. */
  readonly governance?: GenesisGovernance | undefined;
  /** Number of default accounts that are representatives, to which they delegate their own stake. */
  readonly dreps?: number | undefined;
  /** Number of default accounts in the constitutional committee. */
  readonly committee?: number | undefined;
}

/** Mainnet's parameters, and a short epoch. */
export const genesisDefaults: Omit<GenesisOptions, "genesisTime"> = {
  magic: 42,
  slotLength: 1_000,
  epochLength: 600,
  securityParameter: 2_160,
  parameters: mainnetParameters,
  parametersSource: "mainnet, protocol version 11",
  maxSupply: 45_000_000_000n * ADA,
  reserves: 15_000_000_000n * ADA,
  treasury: 0n,
  pools: 3,
  pledge: 1_000_000n * ADA,
  accounts: 20,
  accountFunds: 10_000n * ADA,
  url: "",
};

/** The genesis of an existing devnet. */
export interface Genesis {
  readonly network: Network;
  readonly terms: EpochTerms & { readonly hardFork?: HardFork | undefined };
  /** The parameters before its hard fork. */
  readonly parameters: Parameters;
  /** Where the parameters came from. */
  readonly parametersSource: string;
  readonly reserves: bigint;
  readonly treasury: bigint;
  readonly pledge: bigint;
  /** Number of default accounts (see `devnetAccounts`), and the initial lovelace of each one. */
  readonly accounts: number;
  readonly accountFunds: bigint;
  /** The pools of the genesis with their keys, and as the ledger has them. */
  readonly pools: readonly (GenesisPool & { readonly registered: RegisteredPool })[];
  /** URL of the pools' metadata in their registrations; undefined: none. */
  readonly poolsUrl: string | undefined;
  /** The network whose pool, funds and constitution it has; undefined: none. */
  readonly like?: Likeness | undefined;
  /** Constitution, committee, representatives and delegations; undefined: none. */
  readonly governance?: GenesisGovernance | undefined;
  /** Seed of the leader draw. */
  readonly drawSeed: Uint8Array;
  /** The issuer of blocks that no pool can produce: a cold verification key. */
  readonly issuer: Uint8Array;
  readonly faucet: {
    readonly key: SigningKey;
    readonly address: string;
    /** Initial lovelace. */
    readonly funds: bigint;
  };
}

export type BadGenesis = Failure<"bad_genesis">;

interface MetaRow {
  readonly magic: bigint;
  readonly network_id: number;
  readonly genesis_time: bigint;
  readonly slot_length: number;
  readonly epoch_length: number;
  readonly security_parameter: number;
  readonly parameters: Json;
  readonly parameters_source: string;
  readonly max_supply: bigint;
  readonly reserves: bigint;
  readonly treasury: bigint;
  readonly pledge: bigint;
  readonly accounts: number;
  readonly account_funds: bigint;
  readonly faucet_funds: bigint;
  readonly faucet_seed: Uint8Array;
  readonly draw_seed: Uint8Array;
  readonly pools_url: string | null;
  readonly issuer: Uint8Array;
  readonly hard_fork_epoch: number | null;
  readonly hard_fork_parameters: Json;
  readonly likeness: string | null;
  readonly governance: Json;
}

/** The genesis of this database's devnet, if there is one. */
export async function readGenesis(sql: Queries): Promise<Genesis | undefined> {
  const [row] = await sql<MetaRow[]>`select * from devnet_meta`;
  if (!row) return undefined;
  const key = new Uint8Array(row.faucet_seed);
  const payment = { kind: "key", hash: keyHash(publicKey(key)) } as const;
  const parameters = parametersFromJson(row.parameters);
  const network = row.network_id === 1 ? 1 : 0;
  const like = LIKENESSES.find((one) => one === row.likeness);
  const settings = { network, parameters, pledge: row.pledge, url: row.pools_url ?? undefined, like } as const;
  const pools = await readGenesisPools(sql);
  return {
    network: {
      magic: Number(row.magic),
      id: network,
      slots: { zeroTime: Number(row.genesis_time), zeroSlot: 0, slotLength: row.slot_length },
      securityParameter: row.security_parameter,
    },
    terms: {
      epochLength: row.epoch_length,
      activeSlots: { numerator: 1n, denominator: 1n },
      maxSupply: row.max_supply,
      hardFork: row.hard_fork_epoch === null ? undefined : forkOf(row.hard_fork_epoch, row.hard_fork_parameters),
    },
    parameters,
    parametersSource: row.parameters_source,
    reserves: row.reserves,
    treasury: row.treasury,
    pledge: row.pledge,
    accounts: row.accounts,
    accountFunds: row.account_funds,
    pools: pools.map((pool, position) => ({ ...pool, registered: registeredPool(pool, position, settings) })),
    poolsUrl: row.pools_url ?? undefined,
    like,
    governance: governanceFromRow(row.governance ?? null),
    drawSeed: new Uint8Array(row.draw_seed),
    issuer: new Uint8Array(row.issuer),
    faucet: { key, address: enterpriseAddress(network, payment).hex, funds: row.faucet_funds },
  };
}

/** A planned hard fork: its version and cost models. Other parameters may have been enacted by then. */
function forkOf(epoch: number, parameters: Json): HardFork {
  const { protocolVersion, costModels } = parametersFromJson(parameters);
  return { epoch, parameters: { protocolVersion, costModels } };
}

/** Initial lovelace of the faucet: what is not assigned to anything else. */
export function faucetFunds(options: Omit<GenesisOptions, "genesisTime">): bigint {
  const { maxSupply, reserves, treasury, pools, pledge, accounts, accountFunds, parameters, like } = options;
  const { keys, each } = DEVKIT_FUNDS;
  const others = like === undefined ? 0n : BigInt(keys.length) * each;
  const governance = withDefaultVoters(options.governance, options, parameters);
  const deposits = governance ? governanceDeposits(governance, parameters) : 0n;
  return maxSupply - reserves - treasury - others - deposits - BigInt(accounts) * accountFunds -
    BigInt(pools) * (pledge + parameters.keyDeposit + parameters.poolDeposit);
}

/** Checks the options of a new devnet; the failure says what is wrong. */
export function checkGenesis(options: Omit<GenesisOptions, "genesisTime">): Result<void, BadGenesis> {
  const { epochLength, securityParameter, maxSupply, reserves, treasury, pools, pledge, accounts, accountFunds } =
    options;
  const { url, hardForkEpoch } = options;
  const whole = (value: number, least: number, most: number) =>
    Number.isSafeInteger(value) && value >= least && value <= most;
  const problems: string[] = [];
  if (!whole(epochLength, 1, 2 ** 31 - 1)) problems.push("an epoch has at least one slot");
  if (!whole(securityParameter, 1, 2 ** 31 - 1)) problems.push("the security parameter is at least 1");
  if (!whole(pools, 0, MOST_POOLS)) problems.push(`the maximum number of pools is ${MOST_POOLS}`);
  if (maxSupply > MOST_LOVELACE) problems.push(`the maximum supply is ${MOST_LOVELACE} lovelace`);
  if ([reserves, treasury, pledge].some((amount) => amount < 0n)) problems.push("amounts must not be negative");
  if (!whole(accounts, 0, MOST_ACCOUNTS)) problems.push(`the maximum number of accounts is ${MOST_ACCOUNTS}`);
  if (accounts > 0 && accountFunds < 2n * ADA) problems.push("an account has at least 2 ada, to stand in an output");
  if (pools > 0 && pledge < 2n * ADA) problems.push("a pledge is at least 2 ada, to stand in an output");
  if (hardForkEpoch !== undefined) {
    const { major } = options.parameters.protocolVersion;
    if (!whole(hardForkEpoch, 1, 2 ** 31 - 1)) problems.push("a hard fork comes with epoch 1 or later");
    if (!afterHardFork(options.parameters)) {
      problems.push(`a hard fork requires a version after ${major}, and none is supported`);
    }
  }
  const { dreps = 0, committee = 0 } = options;
  if (Math.max(dreps, committee) > accounts) {
    problems.push(`representatives and members of the committee are among the ${accounts} accounts`);
    return fail("bad_genesis", `The genesis options are invalid: ${problems.join("; ")}.`);
  }
  const funds = faucetFunds(options);
  if (funds < LEAST_FUNDS) {
    problems.push(
      `the faucet would have ${
        funds / ADA
      } ada after reserves, treasury, pledges, deposits and accounts; it needs at least ` +
        `${
          LEAST_FUNDS / ADA
        }: raise --supply-ada, or lower --reserves-ada, --treasury-ada, --pledge-ada or --accounts-ada`,
    );
  }
  if (url.length > 128 - 71) problems.push("the URL of the pool metadata must have at most 57 characters");
  return problems.length === 0
    ? ok(undefined)
    : fail("bad_genesis", `The genesis options are invalid: ${problems.join("; ")}.`);
}

/** Creates a devnet; `sql` is a transaction that has locked its lease. Throws if `checkGenesis` fails. */
export async function createGenesis(sql: Queries, options: GenesisOptions): Promise<Genesis> {
  const checked = checkGenesis(options);
  if (!checked.ok) throw new RangeError(checked.error.message);
  const { parameters, url, hardForkEpoch, like } = options;
  const governance = withDefaultVoters(options.governance, options, parameters);
  const forked = hardForkEpoch === undefined ? undefined : afterHardFork(parameters);
  await sql`
    insert into devnet_meta (magic, network_id, genesis_time, slot_length, epoch_length, security_parameter, parameters,
      parameters_source, max_supply, reserves, treasury, pledge, accounts, account_funds, faucet_funds, faucet_seed, draw_seed, pools_url, issuer,
      hard_fork_epoch, hard_fork_parameters, likeness, governance)
    values (${options.magic}, ${
    networkIdOf(options.magic)
  }, ${options.genesisTime}, ${options.slotLength}, ${options.epochLength},
      ${options.securityParameter}, ${sql.typed.json(parametersToJson(parameters))}, ${options.parametersSource},
      ${options.maxSupply}, ${options.reserves}, ${options.treasury}, ${options.pledge}, ${options.accounts},
      ${options.accountFunds}, ${faucetFunds(options)},
      ${newSeed()}, ${newSeed()}, ${url || null}, ${publicKey(newSeed())},
      ${hardForkEpoch ?? null}, ${forked ? sql.typed.json(parametersToJson(forked)) : null}, ${like ?? null},
      ${governance ? sql.typed.json(governanceToRow(governance)) : null})`;
  await insertPools(sql, newPools(options.pools, url || undefined, like));
  const genesis = await readGenesis(sql);
  if (!genesis) throw new Error("the row of the devnet was not written");
  await insertUtxos(sql, genesisOutputs(genesis), -1);
  await storeEntries(sql, genesisEntries(genesis), "after");
  return genesis;
}

/**
 * The outputs of a genesis: the faucet's first, then the pledges, then those of the default accounts, then further ones of
 * the network that it is like.
 */
export function genesisOutputs({ network, faucet, pools, pledge, accounts, accountFunds, like }: Genesis): Utxo[] {
  const others = like === undefined ? [] : DEVKIT_FUNDS.keys;
  return [
    genesisOutput(faucet.address, faucet.funds),
    ...pools.map(({ registered }) => genesisOutput(registered.owner.address, pledge)),
    ...devnetAccounts(accounts).map((account) => genesisOutput(accountAddress(network.id, account), accountFunds)),
    ...others.map((hash) => genesisOutput(enterpriseAddress(network.id, { kind: "key", hash }).hex, DEVKIT_FUNDS.each)),
  ];
}

/** The initial rows of the ledger. Blocks are produced and rewarded as if the pools had existed for three epochs. */
export function genesisEntries(genesis: Genesis): EntryChange[] {
  const { parameters, reserves, treasury, network } = genesis;
  const outputs = new Map<string, Output>(genesisOutputs(genesis).map(({ ref, output }) => [refKey(ref), output]));
  const state = newState({ parameters, network: network.id, outputs });
  Object.assign(state.pots, { reserves, treasury });
  for (const { registered: { id, pool, owner } } of genesis.pools) {
    state.pools.set(id, pool);
    state.accounts.set(owner.key, owner.account);
    state.pots.deposits += pool.deposit + owner.account.deposit;
  }
  if (genesis.like !== undefined) {
    const { anchor: { url, dataHash: hash }, script } = DEVKIT_CONSTITUTION;
    state.governance.set(GOVERNANCE, { ...governanceOf(state), constitution: { anchor: { url, hash }, script } });
  }
  if (genesis.governance) registerGovernance(genesis.governance, parameters, state);
  return [
    ...[...state.pools.entries()].map(([key, after]): EntryChange => ({ kind: "pools", key, after })),
    ...[...state.accounts.entries()].map(([key, after]): EntryChange => ({ kind: "accounts", key, after })),
    ...[...state.dreps.entries()].map(([key, after]): EntryChange => ({ kind: "dreps", key, after })),
    ...[...state.committee.entries()].map(([key, after]): EntryChange => ({ kind: "committee", key, after })),
    ...firstSnapshots(state).map((change): EntryChange => ({ kind: "snapshots", ...change })),
    { kind: "pots", key: "", after: { ...state.pots } },
    ...[...state.governance.entries()].map(([key, after]): EntryChange => ({ kind: "governance", key, after })),
    { kind: "epoch", key: "", after: 0 },
  ];
}

/** By how many slots the devnet runs ahead of the clock; 0 before it is created. */
export async function readSlotsAhead(sql: Queries): Promise<number> {
  const [row] = await sql<{ slots_ahead: bigint }[]>`select slots_ahead from devnet_meta`;
  return Number(row?.slots_ahead ?? 0n);
}

/**
 * The lowest height that a rollback may go back to, by how many slots the devnet runs ahead of the clock, and how often
 * the chain was rolled back.
 */
export async function readBounds(sql: Queries): Promise<{ floor: number; slotsAhead: number; fork: number }> {
  const row = await onlyRow(
    sql<Record<"floor_height" | "slots_ahead" | "fork", bigint>[]>`
      select floor_height, slots_ahead, fork from devnet_meta`,
  );
  return { floor: Number(row.floor_height), slotsAhead: Number(row.slots_ahead), fork: Number(row.fork) };
}
