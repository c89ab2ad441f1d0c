/**
 * The ledger queries of the port that a Blockfrost service supports: accounts, the epoch, eras, genesis.
 *
 * Pools are in `pools.ts`. Their ranking is not among them: it needs what the ledger has seen of each pool's blocks.
 */
import { addressText, type Credential, rewardAddress } from "#src/cardano/address.ts";
import { toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import { UnknownEraError } from "#src/cardano/scan.ts";
import { type Epoch, epochTimes, type EraBound, ERAS, type Eras } from "#src/cardano/eras.ts";
import {
  accountDocument,
  epochDocument,
  erasDocument,
  genesisDocument,
  parse,
} from "#src/chain/provider/blockfrost/documents.ts";
import { blockfrostError } from "#src/chain/provider/blockfrost/errors.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import type { KnownNetwork } from "#src/chain/provider/blockfrost/network.ts";
import { mapParallel } from "#src/base/parallel.ts";
import { publicGenesis } from "#src/chain/provider/genesisHash.ts";
import type { NetworkGenesis, StakeAccount } from "#src/chain/provider/ledgerPort.ts";

const PARALLEL = 4;
const PICOSECONDS = 1_000_000_000_000;

/** The accounts of stake credentials, one each, in order of first mention. Throws `BlockfrostError`. */
export async function readAccounts(
  http: BlockfrostHttp,
  { network }: KnownNetwork,
  wanted: readonly Credential[],
): Promise<readonly StakeAccount[]> {
  const distinct = [...new Map(wanted.map((one) => [`${one.kind} ${one.hash}`, one])).values()];
  return await mapParallel(distinct, PARALLEL, async (credential): Promise<StakeAccount> => {
    const text = addressText(rewardAddress(network.id, credential));
    const answer = await http.find(`/accounts/${text}`);
    const none = { credential, registered: false, rewards: 0n, deposit: undefined, pool: undefined, drep: undefined };
    // an account that was never registered is absent
    if (answer === undefined) return none;
    const account = parse(accountDocument, answer, "an account");
    if (!(account.registered ?? account.active)) return none;
    return {
      credential,
      registered: true,
      rewards: account.withdrawable_amount,
      deposit: undefined,
      pool: account.pool_id ? poolOf(account.pool_id) : undefined,
      drep: account.drep_id ? drepOf(account.drep_id) : undefined,
    };
  });
}

export function poolOf(text: string): string {
  const parsed = fromBech32(text);
  if (parsed?.prefix === "pool" && parsed.bytes.length === 28) return toHex(parsed.bytes);
  throw blockfrostError("unusable", `The service returned an invalid pool id: ${text.slice(0, 100)}.`);
}

/** First byte of a DRep id as of CIP-129. */
const DREP_KEY = 0x22;
const DREP_SCRIPT = 0x23;

/**
 * The DRep that an id names, in the form of CIP-129 or the older one of CIP-105. Throws `BlockfrostError` for anything
 * else.
 */
export function drepOf(text: string): DRep {
  if (text === "drep_always_abstain") return { kind: "abstain" };
  if (text === "drep_always_no_confidence") return { kind: "no confidence" };
  const { prefix, bytes } = fromBech32(text) ?? { prefix: "", bytes: new Uint8Array(0) };
  if (prefix === "drep" && bytes.length === 29 && (bytes[0] === DREP_KEY || bytes[0] === DREP_SCRIPT)) {
    return { kind: bytes[0] === DREP_KEY ? "key" : "script", hash: toHex(bytes.subarray(1)) };
  }
  if (bytes.length === 28 && /^drep(_vkh)?$/.test(prefix)) return { kind: "key", hash: toHex(bytes) };
  if (bytes.length === 28 && prefix === "drep_script") return { kind: "script", hash: toHex(bytes) };
  throw blockfrostError("unusable", `The service returned an invalid DRep id: ${text.slice(0, 100)}.`);
}

/**
 * The mapping of slots to times; `slot` is the newest block's. Throws `BlockfrostError`: `lacking` if the service does
 * not support it.
 */
export async function readEras(http: BlockfrostHttp, known: KnownNetwork, slot: number): Promise<Eras> {
  const { system_start } = parse(genesisDocument, await http.get("/genesis"), "the genesis");
  const eras = parse(erasDocument, await http.get("/network/eras"), "the eras");
  const current = eraOf(known, slot);
  return {
    systemStart: system_start * 1_000,
    current,
    history: eras.map(({ start, end, parameters }) => ({
      start: boundOf(start),
      end: boundOf(end),
      terms: {
        epochLength: parameters.epoch_length,
        slotLength: Math.round(parameters.slot_length * 1_000),
        safeZone: parameters.safe_zone,
        // the same in every era so far: 2k in Byron, 3k/f since
        genesisWindow: parameters.safe_zone,
      },
    })),
  };
}

/** The era of a slot. Throws `ApiError` if it is unknown to this release. */
function eraOf(known: KnownNetwork, slot: number): Eras["current"] {
  try {
    // a block's era tag is one more than the era's index
    return ERAS[known.eraAt(slot) - 1] ?? ERAS[0];
  } catch (error) {
    if (error instanceof UnknownEraError) throw blockfrostError("unusable", `era_unknown: ${error.message}.`);
    throw error;
  }
}

const boundOf = (bound: { time: number; slot: number; epoch: number }): EraBound => ({
  time: BigInt(Math.round(bound.time * 1_000)) * BigInt(PICOSECONDS / 1_000),
  slot: bound.slot,
  epoch: bound.epoch,
});

/** The epoch of the newest block. Throws `BlockfrostError`. */
export async function readEpoch(http: BlockfrostHttp, known: KnownNetwork, slot: number): Promise<Epoch> {
  const { epoch } = parse(epochDocument, await http.get("/epochs/latest"), "the epoch");
  const times = epochTimes(await readEras(http, known, slot), epoch);
  if (times.ok) return times.value;
  throw blockfrostError(
    "unusable",
    `The service's eras do not cover its current epoch: ${times.error.message}`,
  );
}

/** The network's genesis; its hash is known only for public networks. Throws `BlockfrostError`. */
export async function readGenesis(http: BlockfrostHttp): Promise<NetworkGenesis> {
  const genesis = parse(genesisDocument, await http.get("/genesis"), "the genesis");
  return {
    hash: publicGenesis(genesis.network_magic),
    systemStart: genesis.system_start * 1_000,
    activeSlots: genesis.active_slots_coefficient,
    securityParameter: genesis.security_param,
    epochLength: genesis.epoch_length,
    slotLength: Math.round(genesis.slot_length * 1_000),
    maxSupply: genesis.max_lovelace_supply,
  };
}
