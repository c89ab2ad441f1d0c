/** The devnet's ledger over HTTP: epochs, pools, accounts, and the genesis. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { isHex, toHex } from "#src/base/bytes.ts";
import { isObject, type Json, parseJson } from "#src/base/json.ts";
import * as api from "#src/devnet/api/devnetLedger.ts";
import { addressText, type NetworkId, parseAddress, readAddressHex, rewardAddress } from "#src/cardano/address.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { walkCertificate } from "#src/cardano/certificates.ts";
import { poolId } from "#src/cardano/poolId.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { epochOf } from "#src/devnet/ledger/epoch.ts";
import { accountAddress, devnetAccounts } from "#src/devnet/genesis/accounts.ts";
import type { WrittenFile } from "#src/devnet/genesis/files.ts";
import { ERAS, genesisFiles } from "#src/devnet/genesis/json.ts";
import { type EpochRows, readAccountStake, readEpoch } from "#src/devnet/ledger/rows.ts";
import { SnapshotCache } from "#src/devnet/ledger/snapshotCache.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import { blocksOf } from "#src/ledger/epoch/pass.ts";
import { stakeSnapshots } from "#src/ledger/epoch/reads.ts";
import { credentialKey, parseCredentialKey, type Pool } from "#src/ledger/state.ts";
import type { Store } from "#src/store/store.ts";

export interface LedgerRoutesOptions {
  readonly devnet: Devnet;
  readonly store: Pick<Store, "sql">;
  /** The genesis files that were written, none where they were not. */
  readonly files: readonly WrittenFile[];
}

type ReadEpoch = () => ReturnType<typeof readEpoch>;

/** Adds the endpoints to the devnet's app. */
export function ledgerRoutes(app: OpenAPIHono, options: LedgerRoutesOptions): void {
  const { devnet, store: { sql } } = options;
  const snapshots = new SnapshotCache();
  const read: ReadEpoch = () => readEpoch(sql, snapshots);
  epochRoutes(app, devnet, read);
  poolRoutes(app, devnet, read);
  accountRoutes(app, options);
  genesisRoutes(app, options);
}

function epochRoutes(app: OpenAPIHono, devnet: Devnet, read: ReadEpoch): void {
  const { genesis: { terms: { epochLength } }, network: { slots } } = devnet;

  endpoint(app, "get", "/epoch", {
    summary: "The current epoch, its active stake and the ledger's pots",
    answer: api.epoch,
  }, async () => {
    const { point, value: { epoch, pots, snapshots, blocks } } = await read();
    const currentSlot = devnet.slot();
    const nextEpochSlot = (epoch + 1) * epochLength;
    return {
      point,
      epoch,
      currentEpoch: Math.max(0, epochOf(currentSlot, epochLength)),
      currentSlot,
      epochLength,
      firstSlot: epoch * epochLength,
      nextEpochSlot,
      nextEpochTime: slotTime(slots, nextEpochSlot),
      blocks: sum(blocksOf({ blocks }, epoch).values()),
      activeStake: stakeSnapshots({ snapshots, epoch }).total.set,
      pots,
    };
  });
}

function poolRoutes(app: OpenAPIHono, { genesis }: Devnet, read: ReadEpoch): void {
  const described = new Map(genesis.pools.map(({ id, metadata }) => [id, metadata]));
  const view = (id: string, pool: Pool, rows: EpochRows) =>
    poolView(id, pool, rows, { network: genesis.network.id, metadata: described.get(id) });

  endpoint(app, "get", "/pools", {
    summary: "All registered stake pools",
    answer: api.pools,
  }, async () => {
    const { point, value } = await read();
    const order = new Map([...described.keys()].map((id, position) => [id, position]));
    const pools = [...value.pools].sort(([a], [b]) =>
      (order.get(a) ?? order.size) - (order.get(b) ?? order.size) || (a < b ? -1 : 1)
    );
    return { point, epoch: value.epoch, pools: pools.map(([id, pool]) => view(id, pool, value)) };
  });

  const params = { pool: z.string().min(1).max(100).describe("Pool id, bech32 or hexadecimal.") };
  const refusals = { 400: "`bad_pool`", 404: "`pool_unknown`" };

  endpoint(app, "get", "/pools/:pool", {
    summary: "A stake pool",
    params,
    answer: api.pool,
    refusals,
  }, async ({ params }) => {
    const id = readPoolId(params.pool);
    const { value } = await read();
    const pool = value.pools.get(id);
    if (!pool) throw new HttpFailure(404, "pool_unknown", "No pool with this id is registered.");
    return view(id, pool, value);
  });

  endpoint(app, "get", "/pools/:pool/metadata.json", {
    summary: "The metadata of a genesis pool, as the exact bytes that its registration has the hash of",
    params,
    answer: api.metadata,
    refusals,
  }, async ({ params }) => {
    const text = described.get(readPoolId(params.pool));
    if (text === undefined) throw new HttpFailure(404, "pool_unknown", "The devnet has no metadata for this pool.");
    return new Response(text, { headers: { "content-type": "application/json" } });
  });
}

function accountRoutes(app: OpenAPIHono, { devnet, store: { sql } }: LedgerRoutesOptions): void {
  const network = devnet.network.id;

  endpoint(app, "get", "/accounts/:address", {
    summary: "Balance, rewards and delegation of a stake address",
    params: {
      address: z.string().min(1).max(300).describe("Stake address, or an address with that stake credential."),
    },
    answer: api.account,
    refusals: { 400: "`bad_address`" },
  }, async ({ params }) => {
    const address = parseAddress(params.address, network);
    if (!address.ok) throw HttpFailure.of(400, address.error);
    if (!("stake" in address.value)) {
      throw new HttpFailure(400, "bad_address", "This address has no stake credential.", { reason: "kind" });
    }
    const { stake } = address.value;
    const { point, value: { account, outputs } } = await readAccountStake(sql, credentialKey(stake));
    return {
      point,
      address: addressText(rewardAddress(network, stake)),
      registered: account !== undefined,
      rewards: account?.balance ?? 0n,
      outputs,
      deposit: account?.deposit,
      pool: account?.pool && poolId(account.pool),
      drep: account?.drep && drepText(account.drep),
    };
  });
}

function genesisRoutes(app: OpenAPIHono, { devnet, files }: LedgerRoutesOptions): void {
  const { genesis, network: { id: network, slots } } = devnet;
  const { epochLength, hardFork: fork } = genesis.terms;
  const hashes = new Map(genesisFiles(genesis).map(({ name, hash }) => [name, hash]));
  const pathOf = (name: string) => files.find(({ path }) => path.endsWith(name))?.path;

  endpoint(app, "get", "/genesis", {
    summary: "The devnet's genesis, with its files for nodes and tools",
    answer: api.genesis,
  }, async () => ({
    magic: genesis.network.magic,
    genesisTime: slots.zeroTime,
    slotLength: slots.slotLength,
    epochLength,
    activeSlots: genesis.terms.activeSlots,
    securityParameter: genesis.network.securityParameter,
    protocolVersion: genesis.parameters.protocolVersion,
    hardFork: fork && { epoch: fork.epoch, protocolVersion: fork.parameters.protocolVersion },
    maxSupply: genesis.terms.maxSupply,
    reserves: genesis.reserves,
    treasury: genesis.treasury,
    faucet: genesis.faucet.funds,
    pledge: genesis.pledge,
    accounts: devnetAccounts(genesis.accounts).map((account) => accountText(accountAddress(network, account))),
    accountFunds: genesis.accountFunds,
    pools: genesis.pools.map(({ id }) => poolId(id)),
    files: Object.fromEntries(ERAS.map((era) => {
      const name = `${era}-genesis.json`;
      return [era, { hash: hashes.get(name), path: pathOf(name) }];
    })),
    configuration: pathOf("config.json"),
    topology: pathOf("topology.json"),
  }));
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

function poolView(
  id: string,
  pool: Pool,
  rows: EpochRows,
  { network, metadata }: { readonly network: NetworkId; readonly metadata: string | undefined },
) {
  const { certificate, future, retiring } = pool;
  const stated = walkCertificate(new Walk(certificate));
  if (stated.kind !== "register pool") throw new Error(`pool ${id} has a certificate of another kind`);
  const stake = stakeSnapshots(rows).pools.get(id) ?? { mark: 0n, set: 0n, go: 0n };
  const made = (epoch: number) => blocksOf(rows, epoch).get(id) ?? 0;
  return {
    id: poolId(id),
    hash: id,
    ...namesIn(metadata),
    pledge: stated.pledge,
    cost: stated.cost,
    margin: stated.margin,
    rewardAccount: accountText(stated.account),
    owners: stated.owners.map((hash) => addressText(rewardAddress(network, { kind: "key", hash }))),
    metadata: stated.metadata,
    stake,
    blocks: { epoch: made(rows.epoch), previous: made(rows.epoch - 1) },
    changes: future !== undefined,
    retiring,
  };
}

/** Name and ticker of a metadata text. */
function namesIn(metadata: string | undefined): { name?: Json | undefined; ticker?: Json | undefined } {
  if (metadata === undefined) return {};
  const json = parseJson(metadata);
  return isObject(json) ? { name: json.name, ticker: json.ticker } : {};
}

/** The id that a text names, in hexadecimal. Throws `HttpFailure` 400. */
function readPoolId(text: string): string {
  if (isHex(text, 28)) return text.toLowerCase();
  const read = fromBech32(text);
  if (read?.prefix === "pool" && read.bytes.length === 28) return toHex(read.bytes);
  throw new HttpFailure(400, "bad_pool", "A pool id must be bech32 with the prefix pool, or 56 hexadecimal digits.");
}

function accountText(hex: string): string {
  const address = readAddressHex(hex);
  return address.ok ? addressText(address.value) : hex;
}

function drepText(drep: string): string {
  if (drep === "abstain" || drep === "no confidence") return drep;
  const { kind, hash } = parseCredentialKey(drep);
  return `${kind}:${hash}`;
}
