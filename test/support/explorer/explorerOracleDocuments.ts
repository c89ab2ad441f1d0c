/**
 * The answers that Blockfrost's API must give about a chain, by operation: written from its description and from the meaning of its public SQL, and
 * computed by scans. A function gives `undefined` where the answer is 404.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { getOnchainMetadata, validateCIP68Metadata } from "@blockfrost/openapi";
import { fromHex, fromUtf8, toHex } from "#src/base/bytes.ts";
import { type Json, toJson } from "#src/base/json.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { as, asInt, decode, head, type Item, raw } from "#src/cardano/cbor.ts";
import type { Relay } from "#src/cardano/certificates.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { type NativeScript, readNative } from "#src/cardano/nativeScript.ts";
import { byronHash, genesisFiles } from "#src/devnet/genesis/json.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { credentialKey, parseCredentialKey } from "#src/ledger/state.ts";
import {
  addressOf,
  type Oracle,
  type OracleBlock,
  type OracleOutput,
  type OraclePoolEvent,
  type OracleRedeemer,
  type OracleScript,
  type OracleTx,
} from "./explorerOracle.ts";

/** Parameters of paths and queries, as texts. */
export type Parameters = Readonly<Record<string, string>>;
type Answer = (oracle: Oracle, path: Parameters, query: Parameters) => unknown;

/** A number of which the last digits depend on how a database divides. */
export class Near {
  constructor(readonly value: number) {}
}

/** A text that is not known in advance. */
export class Matching {
  constructor(readonly pattern: RegExp) {}
}

/** The present time in milliseconds, a minute more or less. */
export class Now {}

/** An object with these values under any names. */
export class Values {
  constructor(readonly values: readonly number[]) {}
}

/** A document of which the order of elements is not defined among those with the same key. */
export class Tied {
  constructor(readonly elements: readonly (readonly [key: string, element: unknown])[]) {}
}

const text = (amount: bigint | number): string => String(amount);
const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((total, one) => total + one, 0n);
const near = (numerator: bigint, denominator: bigint) =>
  new Near(denominator === 0n ? 0 : Number(numerator) / Number(denominator));

function paged<T>(list: readonly T[], { count = "100", page = "1", order = "asc" }: Parameters): T[] {
  const all = order === "desc" ? [...list].reverse() : list;
  const size = Number(count), start = (Number(page) - 1) * size;
  return all.slice(start, start + size);
}

/** Transactions from `height[:index]` to `height[:index]`, both inclusive. */
function within<T extends ListedTx>(txs: readonly T[], { from, to }: Parameters): T[] {
  const place = (of: string, missing: number) => {
    const [height, index] = of.split(":");
    return [Number(height), index === undefined ? missing : Number(index)] as const;
  };
  const compare = (tx: ListedTx, [height, index]: readonly [number, number]) =>
    tx.block.height - height || tx.index - index;
  // the genesis is in no range that begins
  return txs.filter((tx) =>
    (from === undefined || tx.id >= 0) && (from === undefined || compare(tx, place(from, 0)) >= 0) &&
    (to === undefined || compare(tx, place(to, Infinity)) <= 0)
  );
}

/** Remembers what a function gives about a chain, by a second argument if there is one. */
function once<T>(compute: (oracle: Oracle, key: string) => T): (oracle: Oracle, key?: string) => T {
  const known = new WeakMap<Oracle, Map<string, T>>();
  return (oracle, key = "") => {
    let of = known.get(oracle);
    if (!of) known.set(oracle, of = new Map());
    if (!of.has(key)) of.set(key, compute(oracle, key));
    return of.get(key)!;
  };
}

// ---------------------------------------------------------------- values

interface Amount {
  readonly unit: string;
  readonly quantity: string;
}

/** Lovelace first, then assets by unit. */
function amounts(outputs: readonly OracleOutput[]): Amount[] {
  const totals = new Map<string, bigint>();
  for (const { assets } of outputs) {
    for (const [unit, quantity] of assets) totals.set(unit, (totals.get(unit) ?? 0n) + quantity);
  }
  return [
    { unit: "lovelace", quantity: text(sum(outputs.map(({ output }) => output.value.lovelace))) },
    ...[...totals].sort(([a], [b]) => a < b ? -1 : 1).map(([unit, quantity]) => ({ unit, quantity: text(quantity) })),
  ];
}

/** Metadata as JSON without a schema: bytes become texts with 0x, keys become texts. */
function metadatumJson(item: Item): Json {
  switch (item.type) {
    case "bytes":
      return "0x" + toHex(item.value);
    case "text":
      return item.value;
    case "array":
      return item.value.map(metadatumJson);
    case "map":
      return Object.fromEntries(item.value.map(([key, value]) => [metadatumKey(key), metadatumJson(value)]));
    default: {
      const number = asInt(item);
      return Number.isSafeInteger(Number(number)) ? Number(number) : number;
    }
  }
}

function metadatumKey(item: Item): string {
  switch (item.type) {
    case "bytes":
      return "0x" + toHex(item.value);
    case "text":
      return item.value;
    case "array":
    case "map":
      return toJson(metadatumJson(item));
    default:
      return text(asInt(item));
  }
}

const metadataCbor = (label: bigint, value: Uint8Array) => "a1" + toHex(head(0, label)) + toHex(value);

/** Plutus data as JSON in the detailed schema. */
function dataJson(item: Item): Json {
  if (item.type === "bytes") return { bytes: toHex(item.value) };
  if (item.type === "array") return { list: item.value.map(dataJson) };
  if (item.type === "map") return { map: item.value.map(([k, v]) => ({ k: dataJson(k), v: dataJson(v) })) };
  if (item.type === "tag" && item.tag !== 2n && item.tag !== 3n) {
    const { tag, value } = item;
    const [number, fields] = tag === 102n ? as(value, "array").value : [undefined, value];
    const constructor = number ? Number(asInt(number)) : Number(tag < 1280n ? tag - 121n : tag - 1280n + 7n);
    return { constructor, fields: as(fields, "array").value.map(dataJson) };
  }
  const number = asInt(item);
  return { int: Number.isSafeInteger(Number(number)) ? Number(number) : number };
}

function nativeJson(script: NativeScript): Json {
  switch (script.kind) {
    case "key":
      return { type: "sig", keyHash: script.hash };
    case "at least":
      return { type: "atLeast", required: Number(script.count), scripts: script.scripts.map(nativeJson) };
    case "from":
      return { type: "after", slot: Number(script.slot) };
    case "before":
      return { type: "before", slot: Number(script.slot) };
    default:
      return { type: script.kind, scripts: script.scripts.map(nativeJson) };
  }
}

// ---------------------------------------------------------------- blocks

function findBlock({ blocks }: Oracle, id: string): OracleBlock | undefined {
  return blocks.find(({ hash, height }) => /^\d+$/.test(id) && id.length < 20 ? height === Number(id) : hash === id);
}

function blockDocument(oracle: Oracle, block: OracleBlock) {
  const { height, txs } = block;
  return {
    time: block.time,
    height,
    hash: block.hash,
    slot: block.slot,
    epoch: block.epoch,
    epoch_slot: block.slot % oracle.genesis.terms.epochLength,
    slot_leader: oracle.poolId(block.pool),
    size: block.size,
    tx_count: txs.length,
    // sums over no transactions
    output: txs.length === 0 ? null : text(sum(txs.map(({ outSum }) => outSum))),
    fees: txs.length === 0 ? null : text(sum(txs.map(({ fee }) => fee))),
    block_vrf: toBech32("vrf_vk", block.vrf),
    op_cert: block.opCert,
    op_cert_counter: text(block.opCertCounter),
    // the genesis counts as a block, whose hash is that of the Byron genesis
    previous_block: block.previous ?? byronHash(oracle.genesis),
    next_block: oracle.blocks[height + 1]?.hash ?? null,
    confirmations: oracle.tip!.height - height,
  };
}

const blockTxs = (block: OracleBlock | undefined, query: Parameters) =>
  block && paged(block.txs.map(({ hash }) => hash), query);
const blockCbors = (block: OracleBlock | undefined, query: Parameters) =>
  block && paged(block.txs.map(({ hash, cbor }) => ({ tx_hash: hash, cbor: toHex(cbor) })), query);

function blockAddresses(block: OracleBlock): { address: string; transactions: { tx_hash: string }[] }[] {
  const found = new Map<string, string[]>();
  for (const { hash, spent, created } of block.txs) {
    for (const { address } of [...spent, ...created]) {
      const hashes = found.get(address) ?? [];
      found.set(address, hashes.includes(hash) ? hashes : [...hashes, hash]);
    }
  }
  return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([address, hashes]) => ({
    address,
    transactions: hashes.map((tx_hash) => ({ tx_hash })),
  }));
}

// ---------------------------------------------------------------- epochs

function epochDocument(oracle: Oracle, epoch: number) {
  const blocks = oracle.blocks.filter((block) => block.epoch === epoch);
  if (blocks.length === 0) return undefined;
  const txs = blocks.flatMap(({ txs }) => txs);
  const { network: { slots }, terms: { epochLength } } = oracle.genesis;
  const start = (number: number) => (slots.zeroTime + number * epochLength * slots.slotLength) / 1_000;
  const stakes = oracle.stakes.get(epoch) ?? [];
  return {
    epoch,
    start_time: start(epoch),
    end_time: start(epoch + 1),
    first_block_time: blocks[0]!.time,
    last_block_time: blocks.at(-1)!.time,
    block_count: blocks.length,
    tx_count: txs.length,
    output: text(sum(txs.map(({ outSum }) => outSum))),
    fees: text(sum(txs.map(({ fee }) => fee))),
    active_stake: stakes.length === 0 ? null : text(sum(stakes.map(({ amount }) => amount))),
  };
}

/** An epoch without blocks has no document, but it has begun: it has parameters and stake. (Real networks have blocks in every epoch.) */
const hasBegun = (oracle: Oracle, number: string | undefined) => Number(number) <= oracle.epoch;

const isDefined = <T>(value: T | undefined): value is T => value !== undefined;

/** Neighbours are those within a window of numbers, not so many that exist. */
function epochsWithin(oracle: Oracle, first: number, last: number) {
  const found = [];
  for (let epoch = Math.max(0, first); epoch <= Math.min(last, oracle.epoch); epoch++) {
    found.push(epochDocument(oracle, epoch));
  }
  return found.filter(isDefined);
}

/** Parameters of governance, from the file of Conway's genesis. */
function thresholds({ genesis }: Oracle) {
  const file = genesisFiles(genesis).find(({ name }) => name === "conway-genesis.json")!;
  const { poolVotingThresholds: pools, dRepVotingThresholds: dreps, ...rest } = JSON.parse(file.text) as {
    readonly poolVotingThresholds: Record<string, number>;
    readonly dRepVotingThresholds: Record<string, number>;
  } & Record<string, number>;
  return {
    pvt_motion_no_confidence: pools.motionNoConfidence,
    pvt_committee_normal: pools.committeeNormal,
    pvt_committee_no_confidence: pools.committeeNoConfidence,
    pvt_hard_fork_initiation: pools.hardForkInitiation,
    pvt_p_p_security_group: pools.ppSecurityGroup,
    pvtpp_security_group: pools.ppSecurityGroup,
    dvt_motion_no_confidence: dreps.motionNoConfidence,
    dvt_committee_normal: dreps.committeeNormal,
    dvt_committee_no_confidence: dreps.committeeNoConfidence,
    dvt_update_to_constitution: dreps.updateToConstitution,
    dvt_hard_fork_initiation: dreps.hardForkInitiation,
    dvt_p_p_network_group: dreps.ppNetworkGroup,
    dvt_p_p_economic_group: dreps.ppEconomicGroup,
    dvt_p_p_technical_group: dreps.ppTechnicalGroup,
    dvt_p_p_gov_group: dreps.ppGovGroup,
    dvt_treasury_withdrawal: dreps.treasuryWithdrawal,
    committee_min_size: text(rest.committeeMinSize!),
    committee_max_term_length: text(rest.committeeMaxTermLength!),
    gov_action_lifetime: text(rest.govActionLifetime!),
    drep_activity: text(rest.dRepActivity!),
  };
}

const LANGUAGES = ["PlutusV1", "PlutusV2", "PlutusV3"];

function parametersDocument(oracle: Oracle, epoch: number) {
  const known = oracle.epochs.get(epoch);
  if (!known) return undefined;
  const { parameters } = known;
  const ratio = ({ numerator, denominator }: { numerator: bigint; denominator: bigint }) =>
    Number(numerator) / Number(denominator);
  return {
    epoch,
    min_fee_a: Number(parameters.feePerByte),
    min_fee_b: Number(parameters.feeFixed),
    max_block_size: parameters.maxBlockBodySize,
    max_tx_size: parameters.maxTxSize,
    max_block_header_size: parameters.maxBlockHeaderSize,
    key_deposit: text(parameters.keyDeposit),
    pool_deposit: text(parameters.poolDeposit),
    e_max: parameters.poolRetirementBound,
    n_opt: parameters.desiredPools,
    a0: ratio(parameters.pledgeInfluence),
    rho: ratio(parameters.monetaryExpansion),
    tau: ratio(parameters.treasuryGrowth),
    decentralisation_param: 0,
    extra_entropy: null,
    protocol_major_ver: parameters.protocolVersion.major,
    protocol_minor_ver: parameters.protocolVersion.minor,
    min_utxo: text(parameters.utxoCostPerByte),
    // there is none: any bytes
    nonce: new Matching(/^[0-9a-f]{64}$/),
    min_pool_cost: text(parameters.minPoolCost),
    price_mem: ratio(parameters.prices.memory),
    price_step: ratio(parameters.prices.steps),
    max_tx_ex_mem: text(parameters.maxTxUnits.memory),
    max_tx_ex_steps: text(parameters.maxTxUnits.steps),
    max_block_ex_mem: text(parameters.maxBlockUnits.memory),
    max_block_ex_steps: text(parameters.maxBlockUnits.steps),
    max_val_size: text(parameters.maxValueSize),
    collateral_percent: parameters.collateralPercentage,
    max_collateral_inputs: parameters.maxCollateralInputs,
    coins_per_utxo_size: text(parameters.utxoCostPerByte),
    coins_per_utxo_word: text(parameters.utxoCostPerByte),
    gov_action_deposit: text(parameters.govActionDeposit),
    drep_deposit: text(parameters.drepDeposit),
    min_fee_ref_script_cost_per_byte: ratio(parameters.refScriptCostPerByte),
    ...thresholds(oracle),
    // the names of the numbers are judged elsewhere
    cost_models: Object.fromEntries(
      [...parameters.costModels].map(([language, costs]) => [LANGUAGES[language], new Values(costs.map(Number))]),
    ),
    cost_models_raw: Object.fromEntries(
      [...parameters.costModels].map(([language, costs]) => [LANGUAGES[language], costs.map(Number)]),
    ),
  };
}

// ---------------------------------------------------------------- transactions

function findTx({ txs }: Oracle, hash: string | undefined): OracleTx | undefined {
  return txs.find((tx) => tx.hash === hash);
}

/** What a transaction did, with counts of what took effect. */
function txDocument(tx: OracleTx) {
  const { block, certificates, created, scanned } = tx;
  const count = (...kinds: readonly string[]) => certificates.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    hash: tx.hash,
    block: block.hash,
    block_height: block.height,
    block_time: block.time,
    slot: block.slot,
    index: tx.index,
    output_amount: amounts(created),
    fees: text(tx.fee),
    deposit: text(tx.deposit),
    size: tx.size,
    invalid_before: scanned.validFrom === undefined ? null : text(scanned.validFrom),
    invalid_hereafter: scanned.validTo === undefined ? null : text(scanned.validTo),
    utxo_count: tx.spent.length + created.length,
    withdrawal_count: tx.withdrawals.length,
    mir_cert_count: 0,
    delegation_count:
      certificates.filter((one) => "to" in one && typeof one.to === "object" && "pool" in one.to).length,
    stake_cert_count: count("register", "unregister"),
    pool_update_count: count("register pool"),
    pool_retire_count: count("retire pool"),
    asset_mint_or_burn_count: tx.mint.length,
    redeemer_count: tx.redeemers.length,
    valid_contract: tx.valid,
    treasury_donation: text(tx.donation),
  };
}

function txOutput({ ref, output, dataHash, inlineDatum, script, address, ...one }: OracleOutput) {
  return {
    address,
    amount: amounts([{ ref, output, dataHash, inlineDatum, script, address, ...one }]),
    tx_hash: ref.txHash,
    output_index: ref.index,
    data_hash: dataHash,
    inline_datum: inlineDatum,
    reference_script_hash: script?.hash ?? null,
  };
}

function txUtxos(tx: OracleTx) {
  const input = (one: OracleOutput, collateral: boolean, reference: boolean) => ({
    ...txOutput(one),
    collateral,
    reference,
  });
  return {
    hash: tx.hash,
    inputs: [
      // where phase 2 failed, what is spent is collateral: the description says so, the public SQL does not mark it
      ...tx.spent.map((one) => input(one, !tx.valid, false)),
      ...tx.references.map((one) => input(one, false, true)),
      ...tx.collateral.map((one) => input(one, true, false)),
    ],
    outputs: [
      ...tx.created.map((one) => {
        const { tx_hash: _, ...rest } = txOutput(one);
        return { ...rest, collateral: !tx.valid, consumed_by_tx: one.spentBy?.hash ?? null };
      }),
      ...collateralReturn(tx),
    ],
  };
}

/** The collateral that would have come back if phase 2 had failed. */
function collateralReturn({ valid, scanned: { collateralReturn: output, outputs } }: OracleTx) {
  if (!valid || !output) return [];
  return [{
    address: addressOf(output.address).text,
    amount: [
      { unit: "lovelace", quantity: text(output.value.lovelace) },
      ...[...output.value.assets].sort(([a], [b]) => a < b ? -1 : 1).map(([unit, quantity]) => ({
        unit,
        quantity: text(quantity),
      })),
    ],
    output_index: outputs.length,
    data_hash: null,
    inline_datum: null,
    reference_script_hash: null,
    collateral: true,
    consumed_by_tx: null,
  }];
}

function redeemerDocument(redeemer: OracleRedeemer) {
  const hash = hash256(redeemer.data);
  return {
    tx_index: redeemer.index,
    purpose: redeemer.purpose,
    script_hash: redeemer.script,
    redeemer_data_hash: hash,
    datum_hash: hash,
    unit_mem: text(redeemer.memory),
    unit_steps: text(redeemer.steps),
    fee: text(redeemer.fee),
  };
}

/** The text of an IPv6 address. The ledger writes its four words of four bytes with the lowest byte first. */
function ipv6(hex: string): string {
  const words = hex.match(/.{8}/g)!.map((word) => word.match(/../g)!.reverse().join(""));
  const groups = words.flatMap((word) => word.match(/.{4}/g)!).map((group) => parseInt(group, 16).toString(16));
  const runs = [...groups.join(":").matchAll(/(?<![0-9a-f])0(:0)+(?![0-9a-f])/g)].sort((a, b) =>
    b[0].length - a[0].length
  );
  const [longest] = runs;
  if (!longest) return groups.join(":");
  const before = groups.join(":").slice(0, longest.index).replace(/:$/, "");
  const after = groups.join(":").slice(longest.index + longest[0].length).replace(/^:/, "");
  return `${before}::${after}`;
}

function relayDocument(relay: Relay) {
  // the description has no null for ports: the service writes 0
  const none = { ipv4: null, ipv6: null, dns: null, dns_srv: null, port: 0 };
  switch (relay.kind) {
    case "address":
      return {
        ...none,
        ipv4: relay.ipv4 ? [...fromHex(relay.ipv4)].join(".") : null,
        ipv6: relay.ipv6 ? ipv6(relay.ipv6) : null,
        port: relay.port ?? 0,
      };
    case "host":
      return { ...none, dns: relay.name, port: relay.port ?? 0 };
    case "service":
      return { ...none, dns_srv: relay.name };
  }
}

type PoolCertificate = Extract<OraclePoolEvent["certificate"], { kind: "register pool" }>;

const poolCertificate = ({ certificate }: OraclePoolEvent): PoolCertificate => {
  if (certificate.kind !== "register pool") throw new Error("no registration of a pool");
  return certificate;
};

/** The text of a reward account. */
function accountText(hex: string): string {
  const address = readAddressHex(hex);
  if (!address.ok) throw new Error(address.error.message);
  return addressText(address.value);
}

/** What the genesis knows of a pool's metadata; nobody fetches that of other pools. */
function metadataOf(oracle: Oracle, certificate: PoolCertificate) {
  const { metadata, pool } = certificate;
  const known = oracle.genesis.pools.find(({ id, registered }) =>
    id === pool && registered.terms.metadata?.hash === metadata?.hash
  )?.metadata;
  const parsed = known && metadata ? JSON.parse(known) as Record<string, string> : {};
  return {
    url: metadata?.url ?? null,
    hash: metadata?.hash ?? null,
    ticker: parsed.ticker ?? null,
    name: parsed.name ?? null,
    description: parsed.description ?? null,
    homepage: parsed.homepage ?? null,
  };
}

function poolUpdateDocument(oracle: Oracle, event: OraclePoolEvent) {
  const certificate = poolCertificate(event);
  return {
    cert_index: event.index,
    pool_id: oracle.poolId(event.pool),
    vrf_key: certificate.vrf,
    pledge: text(certificate.pledge),
    margin_cost: Number(certificate.margin.numerator) / Number(certificate.margin.denominator),
    fixed_cost: text(certificate.cost),
    reward_account: accountText(certificate.account),
    owners: new Tied(certificate.owners.map((owner) => ["", oracle.stakeAddress("k" + owner)])),
    metadata: metadataOf(oracle, certificate),
    relays: certificate.relays.map(relayDocument),
    active_epoch: event.epoch,
  };
}

// ---------------------------------------------------------------- addresses

/** Outputs that were ever at an address, or under a payment credential. */
interface Found {
  readonly text: string;
  readonly outputs: readonly OracleOutput[];
  readonly byCredential: boolean;
}

function findAddress(oracle: Oracle, given: string): Found | undefined {
  const read = fromBech32(given);
  if (read && /^(addr_vkh|addr_vk|script)$/.test(read.prefix)) {
    const hash = toHex(read.bytes);
    const outputs = oracle.outputs.filter(({ payment }) => payment?.hash === hash);
    return outputs.length > 0 ? { text: given, outputs, byCredential: true } : undefined;
  }
  const outputs = oracle.outputs.filter(({ address }) => address === given);
  return outputs.length > 0 ? { text: given, outputs, byCredential: false } : undefined;
}

/** A transaction in lists. Outputs of the genesis stand for one each, at height 0 and their place in the genesis. */
interface ListedTx {
  readonly id: number;
  readonly hash: string;
  readonly index: number;
  readonly block: Pick<OracleBlock, "height" | "time">;
}

/** Transactions that spend or create some of these outputs, each once, in order. */
function txsOf(oracle: Oracle, outputs: readonly OracleOutput[]): ListedTx[] {
  const found = new Set<ListedTx>(outputs.flatMap(({ tx, spentBy }) => [tx, spentBy]).filter(isDefined));
  const time = Math.floor(oracle.genesis.network.slots.zeroTime / 1_000);
  for (const one of outputs.filter(({ tx }) => !tx)) {
    const index = oracle.outputs.indexOf(one);
    found.add({ id: index - 1_000_000, hash: one.ref.txHash, index, block: { height: 0, time } });
  }
  return [...found].sort((a, b) => a.id - b.id);
}

const held = (outputs: readonly OracleOutput[]) => outputs.filter(({ spentBy }) => !spentBy);

function addressDocument({ text: address, outputs, byCredential }: Found) {
  const [{ stake, payment }] = outputs as [OracleOutput];
  return {
    address,
    amount: amounts(held(outputs)),
    stake: byCredential ? undefined : stake,
    type: addressOf(outputs[0]!.output.address).address.kind === "byron" ? "byron" : "shelley",
    script: payment?.kind === "script",
  };
}

function addressAnswer(oracle: Oracle, found: Found) {
  const { stake, ...rest } = addressDocument(found);
  return { ...rest, stake_address: stake ? oracle.stakeAddress(stake) : null };
}

const txTransaction = ({ hash, index, block }: ListedTx) => ({
  tx_hash: hash,
  tx_index: index,
  block_height: block.height,
  block_time: block.time,
});

function utxoDocument(oracle: Oracle, one: OracleOutput) {
  return { ...txOutput(one), tx_index: one.ref.index, block: one.tx?.block.hash ?? byronHash(oracle.genesis) };
}

function totals(oracle: Oracle, found: readonly OracleOutput[]) {
  return {
    received_sum: amounts(found),
    sent_sum: amounts(found.filter(({ spentBy }) => spentBy)),
    tx_count: txsOf(oracle, found).length,
  };
}

// ---------------------------------------------------------------- accounts

/** Whether an account appears anywhere on the chain. */
const accountKey = once((oracle, address): string | undefined => {
  const read = fromBech32(address);
  if (!read || read.bytes.length !== 29) return undefined;
  const key = (read.bytes[0]! & 0x10 ? "s" : "k") + toHex(read.bytes.subarray(1));
  const certified = oracle.txs.some(({ certificates, withdrawals }) =>
    withdrawals.some(([account]) => accountText(account) === address) ||
    certificates.some((one) =>
      "credential" in one && !one.kind.includes("drep") && credentialKey(one.credential) === key
    )
  );
  const pools = oracle.poolEvents.some((event) =>
    event.kind === "update" &&
    (accountText(poolCertificate(event).account) === address || poolCertificate(event).owners.includes(key.slice(1)))
  );
  return certified || pools || oracle.outputs.some(({ stake }) => stake === key) ? key : undefined;
});

interface Registration {
  readonly tx: OracleTx | undefined;
  readonly registered: boolean;
  readonly deposit: bigint | undefined;
  /** The pool that the genesis registers with it. */
  readonly pool?: string;
}

const registrations = once((oracle, key): Registration[] => {
  const found: Registration[] = oracle.genesis.pools.filter(({ registered }) => registered.owner.key === key)
    .map(({ id, registered }) => ({
      tx: undefined,
      registered: true,
      deposit: registered.owner.account.deposit,
      pool: id,
    }));
  for (const tx of oracle.txs) {
    for (const one of tx.certificates) {
      if ((one.kind !== "register" && one.kind !== "unregister") || credentialKey(one.credential) !== key) continue;
      const registered = one.kind === "register";
      const { keyDeposit } = oracle.epochs.get(tx.block.epoch)!.parameters;
      found.push({ tx, registered, deposit: registered ? keyDeposit : undefined });
    }
  }
  return found;
});

const withdrawalsOf = once((oracle, key) =>
  oracle.txs.flatMap((tx) =>
    tx.withdrawals.filter(([account]) => accountText(account) === oracle.stakeAddress(key))
      .map(([, amount]) => ({ tx, amount }))
  )
);
const rewardsOf = (oracle: Oracle, key: string) =>
  sum(oracle.rewards.filter(({ account }) => account === key).map(({ amount }) => amount));
const withdrawnOf = (oracle: Oracle, key: string) => sum(withdrawalsOf(oracle, key).map(({ amount }) => amount));
const outputsOf = (oracle: Oracle, key: string) => oracle.outputs.filter(({ stake }) => stake === key);
const lovelaceOf = (outputs: readonly OracleOutput[]) => sum(outputs.map(({ output }) => output.value.lovelace));

/** Outputs, and rewards that were not withdrawn. */
const controlled = once((oracle, key) =>
  lovelaceOf(held(outputsOf(oracle, key))) + rewardsOf(oracle, key) - withdrawnOf(oracle, key)
);

const place = (tx: OracleTx | undefined) => tx?.id ?? -1;

/** The pool of an account's last delegation, unless the account was given up since. */
function delegatedTo(oracle: Oracle, key: string): string | undefined {
  const last = registrations(oracle, key).at(-1);
  const delegation = oracle.delegations.findLast(({ account }) => account === key);
  if (!last?.registered || !delegation || place(delegation.tx) < place(last.tx)) return undefined;
  return delegation.pool;
}

function accountDocument(oracle: Oracle, key: string) {
  const changes = registrations(oracle, key);
  const last = changes.at(-1);
  const pool = delegatedTo(oracle, key);
  const drep = oracle.state.accounts.get(key)?.drep;
  const withdrawn = withdrawnOf(oracle, key), rewards = rewardsOf(oracle, key);
  return {
    stake_address: oracle.stakeAddress(key),
    active: pool !== undefined,
    registered: last?.registered ?? false,
    active_epoch: last ? last.tx?.block.epoch ?? 0 : null,
    controlled_amount: text(controlled(oracle, key)),
    // refunds of pools' deposits are rewards
    rewards_sum: text(rewards),
    withdrawals_sum: text(withdrawn),
    reserves_sum: "0",
    treasury_sum: "0",
    withdrawable_amount: text(rewards - withdrawn),
    pool_id: pool === undefined ? null : oracle.poolId(pool),
    drep_id: drep === undefined
      ? null
      : drep === "abstain"
      ? "drep_always_abstain"
      : drep === "no confidence"
      ? "drep_always_no_confidence"
      : drepId(parseCredentialKey(drep)),
  };
}

/** The place of a transaction; those of the genesis are at height and slot 0. */
const txPlace = (oracle: Oracle, tx: OracleTx | undefined, pool?: string) =>
  tx ? { tx_hash: tx.hash, tx_slot: tx.block.slot, block_height: tx.block.height, block_time: tx.block.time } : {
    tx_hash: oracle.genesisTx(pool!).hash,
    tx_slot: 0,
    block_height: 0,
    block_time: Math.floor(oracle.genesis.network.slots.zeroTime / 1_000),
  };

const ofAccount = (answer: (oracle: Oracle, key: string, query: Parameters) => unknown): Answer =>
(
  oracle,
  { stake_address },
  query,
) => {
  const key = accountKey(oracle, stake_address!);
  return key === undefined ? undefined : answer(oracle, key, query);
};

// ---------------------------------------------------------------- pools

/** Pools in the order in which they were first registered. */
function poolsOf({ poolEvents }: Oracle): string[] {
  return [...new Set(poolEvents.map(({ pool }) => pool))];
}

/** The epoch in which a pool retires or retired, by its last certificate; undefined if that registers it. */
function retirement({ poolEvents }: Oracle, pool: string): OraclePoolEvent | undefined {
  const last = poolEvents.findLast((event) => event.pool === pool)!;
  return last.kind === "retire" ? last : undefined;
}

const isActive = (oracle: Oracle, pool: string) => {
  const event = retirement(oracle, pool);
  return !event || event.epoch > oracle.epoch;
};

const lastUpdate = ({ poolEvents }: Oracle, pool: string) =>
  poolEvents.findLast((event) => event.pool === pool && event.kind === "update")!;

/** Accounts that delegate to a pool, in the order of their delegations. A pool that retires keeps them, as the service has it. */
const delegators = once((oracle, pool): string[] => {
  const found = oracle.delegations.filter(({ account, pool: to }, at) =>
    to === pool && !oracle.delegations.slice(at + 1).some((later) => later.account === account)
  );
  return found.map(({ account }) => account).filter((account) => delegatedTo(oracle, account) === pool);
});

/** Lovelace delegated to a pool now; none once it has retired. */
const liveStake = once((oracle, pool) =>
  isActive(oracle, pool) ? sum(delegators(oracle, pool).map((account) => controlled(oracle, account))) : 0n
);

const activeStake = (oracle: Oracle, pool: string | undefined, epoch = oracle.epoch) =>
  sum((oracle.stakes.get(epoch) ?? []).filter((one) => !pool || one.pool === pool).map(({ amount }) => amount));

/** Lovelace of outputs and of rewards that were not withdrawn. */
const circulating = once((oracle): bigint => {
  return lovelaceOf(oracle.unspent) + sum(oracle.rewards.map(({ amount }) => amount)) -
    sum(oracle.txs.flatMap(({ withdrawals }) => withdrawals.map(([, amount]) => amount)));
});

const saturation = (oracle: Oracle, pool: string) =>
  near(liveStake(oracle, pool) * BigInt(oracle.state.parameters.desiredPools), circulating(oracle));

function findPool(oracle: Oracle, id: string): string | undefined {
  const hash = /^[0-9a-f]{56}$/.test(id) ? id : toHex(fromBech32(id)?.bytes ?? new Uint8Array());
  return poolsOf(oracle).find((pool) => pool === hash);
}

const ofPool =
  (answer: (oracle: Oracle, pool: string, query: Parameters) => unknown): Answer => (oracle, { pool_id }, query) => {
    const pool = findPool(oracle, pool_id!);
    return pool === undefined ? undefined : answer(oracle, pool, query);
  };

function poolDocument(oracle: Oracle, pool: string) {
  const update = poolCertificate(lastUpdate(oracle, pool));
  const minted = oracle.blocks.filter((block) => block.pool === pool);
  const events = oracle.poolEvents.filter((event) => event.pool === pool);
  const owners = update.owners.map((owner) => "k" + owner);
  // an account that was given up pledges nothing, although the public SQL counts it until it delegates elsewhere
  const pledged = owners.filter((owner) => delegatedTo(oracle, owner) === pool);
  const live = liveStake(oracle, pool), active = activeStake(oracle, pool);
  const all = sum(poolsOf(oracle).map((one) => liveStake(oracle, one)));
  return {
    pool_id: oracle.poolId(pool),
    hex: pool,
    vrf_key: update.vrf,
    blocks_minted: minted.length,
    blocks_epoch: minted.filter(({ epoch }) => epoch === oracle.epoch).length,
    live_stake: text(live),
    live_size: near(live, all),
    live_saturation: saturation(oracle, pool),
    live_delegators: delegators(oracle, pool).length,
    active_stake: text(active),
    active_size: near(active, activeStake(oracle, undefined)),
    declared_pledge: text(update.pledge),
    live_pledge: text(sum(pledged.map((owner) => controlled(oracle, owner)))),
    margin_cost: Number(update.margin.numerator) / Number(update.margin.denominator),
    fixed_cost: text(update.cost),
    reward_account: accountText(update.account),
    owners: new Tied(owners.map((owner) => ["", oracle.stakeAddress(owner)])),
    registration: events.filter(({ kind }) => kind === "update").map(({ tx }) => (tx ?? oracle.genesisTx(pool)).hash),
    retirement: events.filter(({ kind }) => kind === "retire").map(({ tx }) => tx!.hash),
    calidus_key: null,
  };
}

function poolHistory(oracle: Oracle, pool: string, query: Parameters) {
  const epochs = Array.from({ length: oracle.epoch }, (_, epoch) => epoch);
  const rows = epochs.flatMap((epoch) => {
    const stakes = (oracle.stakes.get(epoch) ?? []).filter((one) => one.pool === pool);
    if (stakes.length === 0) return [];
    const active = activeStake(oracle, pool, epoch);
    const rewards = sum(
      oracle.rewards.filter((one) => one.pool === pool && one.earned === epoch && one.kind !== "pool_deposit_refund")
        .map(({ amount }) => amount),
    );
    const update = oracle.poolEvents.findLast((one) =>
      one.pool === pool && one.kind === "update" && one.epoch <= epoch
    );
    const { cost, margin } = update
      ? poolCertificate(update)
      : { cost: 0n, margin: { numerator: 0n, denominator: 1n } };
    const fees = rewards < cost ? rewards : cost + (rewards - cost) * margin.numerator / margin.denominator;
    return [{
      epoch,
      blocks: oracle.blocks.filter((block) => block.pool === pool && block.epoch === epoch).length,
      active_stake: text(active),
      active_size: near(active, activeStake(oracle, undefined, epoch)),
      delegators_count: stakes.length,
      rewards: text(rewards),
      fees: text(update ? fees : 0n),
    }];
  });
  return paged(rows, query);
}

/** Pools that leave, by their epoch and then by the announcement. */
function leaving(oracle: Oracle, query: Parameters, gone: boolean) {
  const events = poolsOf(oracle).map((pool) => retirement(oracle, pool)).filter(isDefined)
    .filter(({ epoch }) => epoch <= oracle.epoch === gone)
    .sort((a, b) => a.epoch - b.epoch || place(a.tx) - place(b.tx) || a.index - b.index);
  return paged(events.map(({ pool, epoch }) => ({ pool_id: oracle.poolId(pool), epoch })), query);
}

// ---------------------------------------------------------------- assets

interface Mint {
  readonly tx: OracleTx;
  readonly quantity: bigint;
}

/** Mints and burns by asset, in the order in which assets were first minted. */
const mints = once(({ txs }): Map<string, Mint[]> => {
  const found = new Map<string, Mint[]>();
  for (const tx of txs) {
    for (const [unit, quantity] of tx.mint) found.set(unit, [...found.get(unit) ?? [], { tx, quantity }]);
  }
  return found;
});

const quantityOf = (of: readonly Mint[]) => text(sum(of.map(({ quantity }) => quantity)));
const assetList = (all: readonly (readonly [string, readonly Mint[]])[], query: Parameters) =>
  paged(all.map(([asset, of]) => ({ asset, quantity: quantityOf(of) })), query);

const holding = ({ outputs }: Oracle, unit: string) =>
  outputs.filter(({ assets }) => assets.some(([one]) => one === unit));

const ofAsset =
  (answer: (oracle: Oracle, unit: string, of: readonly Mint[], query: Parameters) => unknown): Answer =>
  (oracle, { asset }, query) => {
    const of = mints(oracle).get(asset!);
    return of && answer(oracle, asset!, of, query);
  };

const CIP68 = { "000de140": "nft", "0014df10": "ft", "001bc280": "rft" } as const;
const CIP68_TEXTS = ["name", "image", "mediaType", "description", "ticker", "url", "logo"];

/** Metadata of the reference token's newest datum (CIP-68). */
function cip68(oracle: Oracle, unit: string) {
  const standard = CIP68[nameOf(unit).slice(0, 8) as keyof typeof CIP68];
  if (!standard) return undefined;
  const reference = policyOf(unit) + "000643b0" + nameOf(unit).slice(8);
  const candidates = holding(oracle, reference).flatMap(({ dataHash }) => {
    const tx = oracle.txs.find(({ datums }) => dataHash !== null && datums.has(dataHash));
    return tx && dataHash ? [{ tx, datum: tx.datums.get(dataHash)! }] : [];
  });
  const newest = candidates.sort((a, b) => a.tx.id - b.tx.id).at(-1);
  if (!newest) return undefined;
  const item = decode(newest.datum);
  if (item.type !== "tag") return undefined;
  const [content, version, extra] = as(item.value, "array").value;
  if (content?.type !== "map") return undefined;
  const allowed = standard === "ft"
    ? ["name", "description", "ticker", "url", "logo", "decimals"]
    : ["name", "image", "mediaType", "description", "decimals", "files"];
  const metadata = Object.fromEntries(content.value.map(([key, value]) => {
    const name = fromUtf8(as(key, "bytes").value)!;
    const known = allowed.includes(name) && !(standard === "nft" && name === "decimals");
    if (known && CIP68_TEXTS.includes(name) && value.type === "bytes") {
      return [name, fromUtf8(value.value) ?? toHex(value.value)];
    }
    if (known && name === "decimals" && value.type === "int") return [name, Number(value.value)];
    return [name, toHex(raw(value))];
  }));
  const result = validateCIP68Metadata(
    { metadata, version: Number(asInt(version)), extra: extra && toHex(raw(extra)) } as never,
    standard,
  );
  return result || undefined;
}

/** What is known of an asset on the chain: by CIP-68, or else by the newest mint with label 721 (CIP-25). */
function onchain(oracle: Oracle, unit: string) {
  const referenced = cip68(oracle, unit);
  if (referenced) {
    const { metadata, version, extra } = referenced as { metadata: unknown; version: string; extra?: string };
    return { onchain_metadata: metadata, onchain_metadata_standard: version, onchain_metadata_extra: extra ?? null };
  }
  const tx = oracle.txs.findLast(({ mint, metadata }) =>
    mint.some(([one, quantity]) => one === unit && quantity > 0n) && metadata.some(([label]) => label === 721n)
  );
  const value = tx?.metadata.find(([label]) => label === 721n)?.[1];
  const { onchainMetadata, validCIPversion } = getOnchainMetadata(
    (value ? metadatumJson(decode(value)) : null) as never,
    nameOf(unit),
    policyOf(unit),
    (value ? metadataCbor(721n, value) : null) as never,
  );
  return {
    onchain_metadata: onchainMetadata,
    onchain_metadata_standard: validCIPversion,
    onchain_metadata_extra: null,
  };
}

// ---------------------------------------------------------------- scripts

/** Scripts in the order of the transactions that show them first; those of one transaction have no order: by hash. */
const scripts = once(({ txs }): Map<string, { readonly script: OracleScript; readonly tx: OracleTx }> => {
  const found = new Map<string, { script: OracleScript; tx: OracleTx }>();
  for (const tx of txs) {
    for (const script of [...tx.scripts].sort((a, b) => a.hash < b.hash ? -1 : 1)) {
      if (!found.has(script.hash)) found.set(script.hash, { script, tx });
    }
  }
  return found;
});

const ofScript =
  (answer: (script: OracleScript, oracle: Oracle, query: Parameters) => unknown): Answer =>
  (oracle, { script_hash }, query) => {
    const found = scripts(oracle).get(script_hash!);
    return found && answer(found.script, oracle, query);
  };

function findDatum({ txs }: Oracle, hash: string): Uint8Array | undefined {
  for (const { datums } of txs) if (datums.has(hash)) return datums.get(hash);
  return undefined;
}

// ---------------------------------------------------------------- the mempool

function mempoolDocument(tx: OracleTx) {
  const { block: _, block_height: __, block_time: ___, slot: ____, index: _____, treasury_donation: ______, ...rest } =
    txDocument(tx);
  const { inputs, outputs } = txUtxos(tx);
  return {
    tx: rest,
    inputs: inputs.map(({ address, tx_hash, output_index, collateral, reference }) => ({
      address,
      tx_hash,
      output_index,
      collateral,
      reference,
    })),
    outputs: outputs.map(({ consumed_by_tx: _, ...output }) => output),
    redeemers: tx.redeemers.map(({ purpose, index, memory, steps }) => ({
      tx_index: index,
      purpose,
      unit_mem: text(memory),
      unit_steps: text(steps),
    })),
  };
}

// ---------------------------------------------------------------- metadata

/** Labels of CIP-10's registry, as the service knows them. */
const LABELS: Readonly<Record<string, string>> = {
  87: "milkomeda.com - The protocol magic for the milkomeda protocol",
  88: "milkomeda.com - the destination address in the sidechain",
  309: "Proof of Existence record",
  674: "CIP-0020 - Transaction message/comment metadata",
  721: "CIP-0025 - NFT Metadata Standard",
  777: "CIP-0027 - Royalties Standard",
  1188: "paradiso.app marketplace metadata",
  1189: "paradiso.app services metadata",
  1870: "Open Badges v2.0 compliant metadata",
  1967: "nut.link metadata oracles registry",
  1968: "nut.link metadata oracles data points",
  1988: "cardahub.io marketplace metadata",
  1989: "cardahub.io services metadata",
  6770: "fortunes.coconutpool.com fortune teller",
  61284: "CIP-0015 - Catalyst registration",
  61285: "CIP-0015 - Catalyst registration",
  61286: "CIP-0015 - Catalyst registration",
};

const labelled = ({ txs }: Oracle, label: string) =>
  txs.flatMap(({ hash, metadata }) =>
    metadata.filter(([one]) => text(one) === label).map(([one, value]) => ({ hash, label: one, value }))
  );

const cborFields = (label: bigint, value: Uint8Array) => ({
  cbor_metadata: "\\x" + metadataCbor(label, value),
  metadata: metadataCbor(label, value),
});

const ofTx = (answer: (tx: OracleTx, oracle: Oracle) => unknown): Answer => (oracle, { hash }) => {
  const tx = findTx(oracle, hash);
  return tx && answer(tx, oracle);
};

const ofAddress =
  (answer: (found: Found, oracle: Oracle, query: Parameters, path: Parameters) => unknown): Answer =>
  (oracle, path, query) => {
    const found = findAddress(oracle, path.address!);
    return found && answer(found, oracle, query, path);
  };

/** Answers by path. Operations whose answer does not follow from the chain are missing here: the tests name them. */
export const oracleAnswers: Readonly<Record<string, Answer>> = {
  "/blocks/latest": (oracle) => blockDocument(oracle, oracle.tip!),
  "/blocks/latest/txs": (oracle, _, query) => blockTxs(oracle.tip, query),
  "/blocks/latest/txs/cbor": (oracle, _, query) => blockCbors(oracle.tip, query),
  "/blocks/{hash_or_number}": (oracle, path) => {
    const block = findBlock(oracle, path.hash_or_number!);
    return block && blockDocument(oracle, block);
  },
  "/blocks/{hash_or_number}/next": (oracle, path, query) => {
    const block = findBlock(oracle, path.hash_or_number!);
    return block && paged(oracle.blocks.slice(block.height + 1), query).map((one) => blockDocument(oracle, one));
  },
  "/blocks/{hash_or_number}/previous": (oracle, path, { count = "100", page = "1" }) => {
    const block = findBlock(oracle, path.hash_or_number!);
    if (!block) return undefined;
    // the page nearest to the block comes first, each page ascends
    const end = Math.max(0, block.height - Number(count) * (Number(page) - 1));
    return oracle.blocks.slice(Math.max(0, end - Number(count)), end).map((one) => blockDocument(oracle, one));
  },
  "/blocks/slot/{slot_number}": (oracle, path) => {
    const block = oracle.blocks.find(({ slot }) => slot === Number(path.slot_number));
    return block && blockDocument(oracle, block);
  },
  "/blocks/epoch/{epoch_number}/slot/{slot_number}": (oracle, path) => {
    const { epochLength } = oracle.genesis.terms;
    const block = oracle.blocks.find(({ epoch, slot }) =>
      epoch === Number(path.epoch_number) && slot % epochLength === Number(path.slot_number)
    );
    return block && blockDocument(oracle, block);
  },
  "/blocks/{hash_or_number}/txs": (oracle, path, query) => blockTxs(findBlock(oracle, path.hash_or_number!), query),
  "/blocks/{hash_or_number}/txs/cbor": (oracle, path, query) =>
    blockCbors(findBlock(oracle, path.hash_or_number!), query),
  "/blocks/{hash_or_number}/addresses": (oracle, path, query) => {
    const block = findBlock(oracle, path.hash_or_number!);
    return block && paged(blockAddresses(block), query);
  },

  "/genesis": ({ genesis: { network, terms } }) => ({
    active_slots_coefficient: Number(terms.activeSlots.numerator) / Number(terms.activeSlots.denominator),
    update_quorum: 1,
    max_lovelace_supply: text(terms.maxSupply),
    network_magic: network.magic,
    epoch_length: terms.epochLength,
    system_start: Math.floor(network.slots.zeroTime / 1_000),
    slots_per_kes_period: 129_600,
    slot_length: network.slots.slotLength / 1_000,
    max_kes_evolutions: 62,
    security_param: network.securityParameter,
  }),

  "/epochs/latest": (oracle) => epochDocument(oracle, oracle.epoch),
  "/epochs/latest/parameters": (oracle) => parametersDocument(oracle, oracle.epoch),
  "/epochs/{number}": (oracle, { number }) => epochDocument(oracle, Number(number)),
  "/epochs/{number}/next": (oracle, { number }, { count = "100", page = "1" }) => {
    if (!hasBegun(oracle, number)) return undefined;
    const first = Number(number) + 1 + Number(count) * (Number(page) - 1);
    return epochsWithin(oracle, first, first + Number(count) - 1);
  },
  "/epochs/{number}/previous": (oracle, { number }, { count = "100", page = "1" }) => {
    if (!hasBegun(oracle, number)) return undefined;
    const last = Number(number) - 1 - Number(count) * (Number(page) - 1);
    return epochsWithin(oracle, last - Number(count) + 1, last);
  },
  "/epochs/{number}/stakes": (oracle, { number }) => {
    if (!hasBegun(oracle, number)) return undefined;
    // their order is that of insertion
    return new Tied((oracle.stakes.get(Number(number)) ?? []).map(({ account, pool, amount }) => ["", {
      stake_address: oracle.stakeAddress(account),
      pool_id: oracle.poolId(pool),
      amount: text(amount),
    }]));
  },
  "/epochs/{number}/stakes/{pool_id}": (oracle, { number, pool_id }, query) => {
    const hash = findPool(oracle, pool_id!);
    if (!hasBegun(oracle, number) || hash === undefined) return undefined;
    // by the bytes of the reward address: keys before scripts
    const stakes = (oracle.stakes.get(Number(number)) ?? []).filter(({ pool }) => pool === hash)
      .sort((a, b) => a.account < b.account ? -1 : 1);
    return paged(stakes, query).map(({ account, amount }) => ({
      stake_address: oracle.stakeAddress(account),
      amount: text(amount),
    }));
  },
  "/epochs/{number}/blocks": (oracle, { number }, query) =>
    hasBegun(oracle, number)
      ? paged(oracle.blocks.filter(({ epoch }) => epoch === Number(number)).map(({ hash }) => hash), query)
      : undefined,
  "/epochs/{number}/blocks/{pool_id}": (oracle, { number, pool_id }, query) => {
    const hash = findPool(oracle, pool_id!);
    if (!hasBegun(oracle, number) || hash === undefined) return undefined;
    return paged(
      oracle.blocks.filter(({ epoch, pool }) => epoch === Number(number) && pool === hash).map((one) => one.hash),
      query,
    );
  },
  "/epochs/{number}/parameters": (oracle, { number }) => parametersDocument(oracle, Number(number)),

  "/txs/{hash}": ofTx(txDocument),
  "/txs/{hash}/utxos": ofTx(txUtxos),
  "/txs/{hash}/stakes": ofTx(({ certificates }, oracle) =>
    certificates.flatMap((one, cert_index) =>
      one.kind === "register" || one.kind === "unregister"
        ? [{
          cert_index,
          address: oracle.stakeAddress(credentialKey(one.credential)),
          registration: one.kind === "register",
        }]
        : []
    )
  ),
  "/txs/{hash}/delegations": ofTx((tx, oracle) =>
    oracle.delegations.filter((one) => one.tx === tx).map(({ account, pool, index, epoch }) => ({
      index,
      cert_index: index,
      address: oracle.stakeAddress(account),
      pool_id: oracle.poolId(pool),
      active_epoch: epoch,
    }))
  ),
  "/txs/{hash}/withdrawals": ofTx(({ withdrawals }) =>
    withdrawals.map(([account, amount]) => ({ address: accountText(account), amount: text(amount) }))
  ),
  "/txs/{hash}/mirs": ofTx(() => []),
  "/txs/{hash}/pool_updates": ofTx((tx, oracle) =>
    oracle.poolEvents.filter((one) => one.tx === tx && one.kind === "update").map((one) =>
      poolUpdateDocument(oracle, one)
    )
  ),
  "/txs/{hash}/pool_retires": ofTx((tx, oracle) =>
    oracle.poolEvents.filter((one) => one.tx === tx && one.kind === "retire").map(({ pool, index, epoch }) => ({
      cert_index: index,
      pool_id: oracle.poolId(pool),
      retiring_epoch: epoch,
    }))
  ),
  "/txs/{hash}/metadata": ofTx(({ metadata }) =>
    metadata.map(([label, value]) => ({ label: text(label), json_metadata: metadatumJson(decode(value)) }))
  ),
  "/txs/{hash}/metadata/cbor": ofTx(({ metadata }) =>
    metadata.map(([label, value]) => ({ label: text(label), ...cborFields(label, value) }))
  ),
  "/txs/{hash}/redeemers": ofTx(({ redeemers }) => redeemers.map(redeemerDocument)),
  "/txs/{hash}/required_signers": ofTx(({ signers }) => signers.map((witness_hash) => ({ witness_hash }))),
  "/txs/{hash}/cbor": ofTx(({ cbor }) => ({ cbor: toHex(cbor) })),

  "/accounts/{stake_address}": ofAccount(accountDocument),
  "/accounts/{stake_address}/rewards": ofAccount((oracle, key, query) => {
    const kinds = ["leader", "member", "pool_deposit_refund"];
    const { order = "asc" } = query;
    const sign = order === "desc" ? -1 : 1;
    // by epoch, and then by kind in either direction
    const rows = oracle.rewards.filter(({ account }) => account === key).sort((a, b) =>
      sign * (a.earned - b.earned) || kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (a.pool < b.pool ? -1 : 1)
    );
    return paged(rows, { ...query, order: "asc" }).map(({ earned, amount, pool, kind }) => ({
      epoch: earned,
      amount: text(amount),
      pool_id: oracle.poolId(pool),
      type: kind,
    }));
  }),
  "/accounts/{stake_address}/history": ofAccount((oracle, key, query) =>
    paged(
      [...oracle.stakes].sort(([a], [b]) => a - b).flatMap(([epoch, stakes]) =>
        stakes.filter(({ account }) => account === key).map(({ pool, amount }) => ({
          active_epoch: epoch,
          amount: text(amount),
          pool_id: oracle.poolId(pool),
        }))
      ),
      query,
    )
  ),
  "/accounts/{stake_address}/delegations": ofAccount((oracle, key, query) =>
    paged(
      oracle.delegations.filter(({ account }) => account === key).map(({ tx, pool, epoch }) => ({
        active_epoch: epoch,
        // the sum of the transaction's outputs
        amount: text((tx ?? oracle.genesisTx(pool)).outSum),
        pool_id: oracle.poolId(pool),
        ...txPlace(oracle, tx, pool),
      })),
      query,
    )
  ),
  "/accounts/{stake_address}/registrations": ofAccount((oracle, key, query) =>
    paged(
      registrations(oracle, key).map(({ tx, registered, deposit, pool }) => ({
        ...txPlace(oracle, tx, pool),
        action: registered ? "registered" : "deregistered",
        deposit: deposit === undefined ? null : text(deposit),
      })),
      query,
    )
  ),
  "/accounts/{stake_address}/withdrawals": ofAccount((oracle, key, query) =>
    paged(withdrawalsOf(oracle, key).map(({ tx, amount }) => ({ ...txPlace(oracle, tx), amount: text(amount) })), query)
  ),
  "/accounts/{stake_address}/mirs": ofAccount(() => []),
  "/accounts/{stake_address}/addresses": ofAccount((oracle, key, query) =>
    paged([...new Set(outputsOf(oracle, key).map(({ address }) => address))].map((address) => ({ address })), query)
  ),
  "/accounts/{stake_address}/addresses/assets": ofAccount((oracle, key, query) => {
    const outputs = held(outputsOf(oracle, key));
    const desc = query.order === "desc";
    const units = amounts(outputs).slice(1).map((amount) => {
      const places = outputs.flatMap((one, at) => one.assets.some(([unit]) => unit === amount.unit) ? [at] : []);
      return { amount, at: desc ? -places.at(-1)! : places[0]! };
    });
    // by the first output that holds the asset, or by the last one, then by unit
    units.sort((a, b) => a.at - b.at || (a.amount.unit < b.amount.unit ? -1 : 1));
    return paged(units.map(({ amount }) => amount), { ...query, order: "asc" });
  }),
  "/accounts/{stake_address}/addresses/total": ofAccount((oracle, key) => ({
    stake_address: oracle.stakeAddress(key),
    ...totals(oracle, outputsOf(oracle, key)),
  })),
  "/accounts/{stake_address}/utxos": ofAccount((oracle, key, query) =>
    paged(held(outputsOf(oracle, key)), query).map((one) => utxoDocument(oracle, one))
  ),
  "/accounts/{stake_address}/transactions": ofAccount((oracle, key, query) => {
    // a row for each address in a transaction; those of one transaction are by the address's bytes in either direction
    const outputs = outputsOf(oracle, key);
    const rows = within(txsOf(oracle, outputs), query).flatMap((tx) => {
      const touched = outputs.filter((one) =>
        one.spentBy === tx || (one.tx ? one.tx === tx : one.ref.txHash === tx.hash)
      );
      const bytes = [...new Set(touched.map(({ output }) => output.address))].sort();
      if (query.order === "desc") bytes.reverse();
      return bytes.map((address) => ({ address: addressOf(address).text, ...txTransaction(tx) }));
    });
    return paged(rows, query);
  }),

  "/mempool": (oracle, _, query) => paged(oracle.mempool.map(({ hash }) => ({ tx_hash: hash })), query),
  "/mempool/{hash}": ({ mempool }, { hash }) => {
    const tx = mempool.find((one) => one.hash === hash);
    return tx && mempoolDocument(tx);
  },
  "/mempool/addresses/{address}": ({ mempool }, { address }, query) =>
    paged(
      mempool.filter(({ spent, created }) => [...spent, ...created].some((one) => one.address === address)),
      query,
    ).map(({ hash }) => ({ tx_hash: hash })),

  "/metadata/txs/labels": (oracle, _, query) => {
    const counts = new Map<bigint, number>();
    for (const { metadata } of oracle.txs) {
      for (const [label] of metadata) counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    return paged([...counts].sort(([a], [b]) => a < b ? -1 : 1), query).map(([label, count]) => ({
      label: text(label),
      cip10: LABELS[text(label)] ?? null,
      count: text(count),
    }));
  },
  "/metadata/txs/labels/{label}": (oracle, { label }, query) => {
    const rows = paged(labelled(oracle, label!), query);
    return rows.length === 0
      ? undefined
      : rows.map(({ hash, value }) => ({ tx_hash: hash, json_metadata: metadatumJson(decode(value)) }));
  },
  "/metadata/txs/labels/{label}/cbor": (oracle, { label }, query) => {
    const rows = paged(labelled(oracle, label!), query);
    return rows.length === 0
      ? undefined
      : rows.map(({ hash, label: one, value }) => ({ tx_hash: hash, ...cborFields(one, value) }));
  },

  "/addresses/{address}": ofAddress((found, oracle) => addressAnswer(oracle, found)),
  "/addresses/{address}/extended": ofAddress((found, oracle) => {
    const { amount, ...rest } = addressAnswer(oracle, found);
    return {
      ...rest,
      amount: amount.map(({ unit, quantity }) => {
        if (unit === "lovelace") return { unit, quantity, decimals: 6, has_nft_onchain_metadata: false };
        const { onchain_metadata, onchain_metadata_standard } = onchain(oracle, unit);
        const label = nameOf(unit).slice(0, 8);
        const { decimals } = (onchain_metadata ?? {}) as { decimals?: unknown };
        const fungible = (label === "0014df10" || label === "001bc280") &&
          String(onchain_metadata_standard).startsWith("CIP68");
        return {
          unit,
          quantity,
          decimals: fungible && typeof decimals === "number" ? decimals : null,
          has_nft_onchain_metadata: onchain_metadata !== null,
        };
      }),
    };
  }),
  "/addresses/{address}/total": ofAddress(({ text: address, outputs }, oracle) => ({
    address,
    ...totals(oracle, outputs),
  })),
  "/addresses/{address}/utxos": ofAddress(({ outputs }, oracle, query) =>
    paged(held(outputs), query).map((one) => utxoDocument(oracle, one))
  ),
  "/addresses/{address}/utxos/{asset}": ofAddress(({ outputs }, oracle, query, { asset }) =>
    paged(held(outputs).filter(({ assets }) => assets.some(([unit]) => unit === asset)), query)
      .map((one) => utxoDocument(oracle, one))
  ),
  "/addresses/{address}/txs": ofAddress(({ outputs }, oracle, query) =>
    paged(txsOf(oracle, outputs).map(({ hash }) => hash), query)
  ),
  "/addresses/{address}/transactions": ofAddress(({ outputs }, oracle, query) =>
    paged(within(txsOf(oracle, outputs), query), query).map(txTransaction)
  ),

  "/pools": (oracle, _, query) =>
    paged(poolsOf(oracle).filter((pool) => isActive(oracle, pool)).map((pool) => oracle.poolId(pool)), query),
  "/pools/extended": (oracle, _, query) =>
    paged(poolsOf(oracle).filter((pool) => isActive(oracle, pool)), query).map((pool) => {
      const update = poolCertificate(lastUpdate(oracle, pool));
      return {
        pool_id: oracle.poolId(pool),
        hex: pool,
        active_stake: text(activeStake(oracle, pool)),
        live_stake: text(liveStake(oracle, pool)),
        live_saturation: saturation(oracle, pool),
        blocks_minted: oracle.blocks.filter((block) => block.pool === pool).length,
        declared_pledge: text(update.pledge),
        margin_cost: Number(update.margin.numerator) / Number(update.margin.denominator),
        fixed_cost: text(update.cost),
        metadata: update.metadata ? metadataOf(oracle, update) : null,
      };
    }),
  "/pools/retired": (oracle, _, query) => leaving(oracle, query, true),
  "/pools/retiring": (oracle, _, query) => leaving(oracle, query, false),
  "/pools/{pool_id}": ofPool(poolDocument),
  "/pools/{pool_id}/history": ofPool(poolHistory),
  "/pools/{pool_id}/metadata": ofPool((oracle, pool) => {
    const update = poolCertificate(lastUpdate(oracle, pool));
    return update.metadata ? { pool_id: oracle.poolId(pool), hex: pool, ...metadataOf(oracle, update) } : {};
  }),
  "/pools/{pool_id}/relays": ofPool((oracle, pool) =>
    poolCertificate(lastUpdate(oracle, pool)).relays.map(relayDocument)
  ),
  "/pools/{pool_id}/delegators": ofPool((oracle, pool, query) =>
    paged(delegators(oracle, pool), query).map((account) => ({
      address: oracle.stakeAddress(account),
      live_stake: text(controlled(oracle, account)),
    }))
  ),
  "/pools/{pool_id}/blocks": ofPool((oracle, pool, query) =>
    paged(oracle.blocks.filter((block) => block.pool === pool).map(({ hash }) => hash), query)
  ),
  "/pools/{pool_id}/updates": ofPool((oracle, pool, query) =>
    paged(
      oracle.poolEvents.filter((event) => event.pool === pool).map(({ pool, tx, index, kind }) => ({
        tx_hash: (tx ?? oracle.genesisTx(pool)).hash,
        cert_index: index,
        action: kind === "update" ? "registered" : "deregistered",
      })),
      query,
    )
  ),
  "/pools/{pool_id}/votes": ofPool(() => []),

  "/assets": (oracle, _, query) => assetList([...mints(oracle)], query),
  "/assets/{asset}": ofAsset((oracle, unit, of) => ({
    asset: unit,
    policy_id: policyOf(unit),
    asset_name: nameOf(unit) === "" ? null : nameOf(unit),
    fingerprint: fingerprint(unit),
    quantity: quantityOf(of),
    initial_mint_tx_hash: of[0]!.tx.hash,
    mint_or_burn_count: of.length,
    ...onchain(oracle, unit),
    metadata: null,
  })),
  "/assets/{asset}/history": ofAsset((_, __, of, query) =>
    paged(of, query).map(({ tx, quantity }) => ({
      tx_hash: tx.hash,
      amount: text(quantity),
      action: quantity < 0n ? "burned" : "minted",
    }))
  ),
  // transactions that create outputs with the asset: what only spends them is not listed
  "/assets/{asset}/txs": ofAsset((oracle, unit, _, query) =>
    paged([...new Set(holding(oracle, unit).map(({ tx }) => tx!.hash))], query)
  ),
  "/assets/{asset}/transactions": ofAsset((oracle, unit, _, query) =>
    paged(within([...new Set(holding(oracle, unit).map(({ tx }) => tx!))], query), query).map(txTransaction)
  ),
  "/assets/{asset}/addresses": ofAsset((oracle, unit, _, query) => {
    const quantities = new Map<string, { at: number; quantity: bigint }>();
    for (const { address, assets, tx } of held(holding(oracle, unit))) {
      const quantity = assets.find(([one]) => one === unit)![1];
      const known = quantities.get(address);
      quantities.set(address, { at: known?.at ?? tx!.id, quantity: (known?.quantity ?? 0n) + quantity });
    }
    // by the first transaction, which may have made outputs at several addresses
    const rows = [...quantities].sort(([, a], [, b]) => a.at - b.at);
    return paged(rows, query).map(([address, { quantity }]) => ({ address, quantity: text(quantity) }));
  }),
  "/assets/{asset}/utxos": ofAsset((oracle, unit, _, query) => {
    const all = held(holding(oracle, unit));
    const txs = new Set(within([...new Set(all.map(({ tx }) => tx!))], query));
    return paged(all.filter(({ tx }) => txs.has(tx!)), query).map((one) => {
      const { tx_index: _, ...rest } = utxoDocument(oracle, one);
      return {
        ...rest,
        block_height: one.tx!.block.height,
        block_time: one.tx!.block.time,
        inline_datum_json: one.output.datum ? dataJson(decode(one.output.datum)) : null,
      };
    });
  }),
  "/assets/policy/{policy_id}": (oracle, { policy_id }, query) => {
    const all = [...mints(oracle)].filter(([unit]) => policyOf(unit) === policy_id);
    return all.length === 0 ? undefined : assetList(all, query);
  },

  "/scripts": (oracle, _, query) => paged([...scripts(oracle).keys()], query).map((script_hash) => ({ script_hash })),
  "/scripts/{script_hash}": ofScript(({ hash, type, bytes }) => ({
    script_hash: hash,
    type,
    serialised_size: type === "timelock" ? null : bytes.length,
  })),
  "/scripts/{script_hash}/json": ofScript(({ type, bytes }) => ({
    json: type === "timelock" ? nativeJson(readNative(decode(bytes))) : null,
  })),
  "/scripts/{script_hash}/cbor": ofScript(({ type, bytes }) => ({ cbor: type === "timelock" ? null : toHex(bytes) })),
  "/scripts/{script_hash}/redeemers": ofScript(({ hash }, { txs }, query) =>
    paged(
      txs.flatMap((tx) =>
        tx.redeemers.filter(({ script }) => script === hash).map((one) => {
          const { script_hash: _, ...rest } = redeemerDocument(one);
          return { tx_hash: tx.hash, ...rest };
        })
      ),
      query,
    )
  ),
  "/scripts/{script_hash}/utxos": ofScript(({ hash }, oracle, query) =>
    paged(oracle.unspent.filter(({ script }) => script?.hash === hash), query).map((one) => {
      const { tx_index: _, ...rest } = utxoDocument(oracle, one);
      return rest;
    })
  ),
  "/scripts/datum/{datum_hash}": (oracle, { datum_hash }) => {
    const datum = findDatum(oracle, datum_hash!);
    return datum && { json_value: dataJson(decode(datum)) };
  },
  "/scripts/datum/{datum_hash}/cbor": (oracle, { datum_hash }) => {
    const datum = findDatum(oracle, datum_hash!);
    return datum && { cbor: toHex(datum) };
  },

  "/": () => ({ url: "https://blockfrost.io/", version: new Matching(/^\d+\.\d+\.\d+/) }),
  "/health": () => ({ is_healthy: true }),
  "/health/clock": () => ({ server_time: new Now() }),

  "/utils/addresses/xpub/{xpub}/{role}/{index}": (oracle, { xpub, role, index }) => {
    // derived by another library
    const account = csl.Bip32PublicKey.from_bytes(fromHex(xpub!));
    const credential = (...path: readonly number[]) =>
      csl.Credential.from_keyhash(path.reduce((key, at) => key.derive(at), account).to_raw_key().hash());
    const { id } = oracle.genesis.network;
    const address = role === "2"
      ? csl.RewardAddress.new(id, credential(2, 0)).to_address()
      : csl.BaseAddress.new(id, credential(Number(role), Number(index)), credential(2, 0)).to_address();
    return { xpub, role: Number(role), index: Number(index), address: address.to_bech32() };
  },

  // as a node has it: seven eras, of which the last one lasts until the first epoch that begins after the safe zone
  "/network/eras": ({ genesis: { network, terms }, tip }) => {
    const { slotLength } = network.slots, safeZone = 3 * network.securityParameter;
    let epoch = 0;
    while (epoch * terms.epochLength < tip!.slot + 1 + safeZone) epoch++;
    const start = { time: 0, slot: 0, epoch: 0 };
    const slot = epoch * terms.epochLength;
    const parameters = { epoch_length: terms.epochLength, slot_length: slotLength / 1_000, safe_zone: safeZone };
    return [
      ...Array.from({ length: 6 }, () => ({ start, end: start, parameters })),
      { start, end: { time: slot * slotLength / 1_000, slot, epoch }, parameters },
    ];
  },
  "/network": (oracle) => {
    const { pots } = oracle.epochs.get(oracle.epoch)!;
    return {
      supply: {
        max: text(oracle.genesis.terms.maxSupply),
        total: text(oracle.genesis.terms.maxSupply - pots.reserves),
        circulating: text(circulating(oracle)),
        locked: text(lovelaceOf(oracle.unspent.filter(({ payment }) => payment?.kind === "script"))),
        treasury: text(pots.treasury),
        reserves: text(pots.reserves),
      },
      stake: {
        live: text(sum(poolsOf(oracle).map((pool) => liveStake(oracle, pool)))),
        active: text(activeStake(oracle, undefined)),
      },
    };
  },
};
