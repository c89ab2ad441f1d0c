/**
 * What wallets ask of a network's ledger, as far as a Blockfrost service tells it: accounts, the epoch, how time runs, how it began.
 *
 * Pools are not among it: their relays, owners and keys are told one pool at a time, so that thousands of questions would make an answer that
 * holds at no point. Nor is a ranking, which needs them.
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
  read,
} from "#src/chain/provider/blockfrost/documents.ts";
import { apiError } from "#src/chain/provider/blockfrost/errors.ts";
import type { Http } from "#src/chain/provider/blockfrost/http.ts";
import type { Known } from "#src/chain/provider/blockfrost/network.ts";
import { eachOf } from "#src/chain/provider/blockfrost/pace.ts";
import { publicGenesis } from "#src/chain/provider/genesisHash.ts";
import type { NetworkGenesis, StakeAccount } from "#src/chain/provider/ledgerPort.ts";

const AT_ONCE = 4;
const PICOSECONDS = 1_000_000_000_000;

/** The accounts of stake credentials, one for each, in the order of the first mention. Throws `ApiError`. */
export async function readAccounts(
  http: Http,
  { network }: Known,
  wanted: readonly Credential[],
): Promise<readonly StakeAccount[]> {
  const distinct = [...new Map(wanted.map((one) => [`${one.kind} ${one.hash}`, one])).values()];
  return await eachOf(distinct, AT_ONCE, async (credential): Promise<StakeAccount> => {
    const text = addressText(rewardAddress(network.id, credential));
    const answer = await http.find(`/accounts/${text}`);
    const none = { credential, registered: false, rewards: 0n, deposit: undefined, pool: undefined, drep: undefined };
    // one that was never registered is not known at all
    if (answer === undefined) return none;
    const told = read(accountDocument, answer, "an account");
    if (!(told.registered ?? told.active)) return none;
    return {
      credential,
      registered: true,
      rewards: told.withdrawable_amount,
      deposit: undefined,
      pool: told.pool_id ? poolOf(told.pool_id) : undefined,
      drep: told.drep_id ? drepOf(told.drep_id) : undefined,
    };
  });
}

function poolOf(text: string): string {
  const parsed = fromBech32(text);
  if (parsed?.prefix === "pool" && parsed.bytes.length === 28) return toHex(parsed.bytes);
  throw apiError("unusable", `What was told as the id of a pool is none: ${text.slice(0, 100)}.`);
}

/** First bytes of the id of a DRep since CIP-129. */
const DREP_KEY = 0x22;
const DREP_SCRIPT = 0x23;

/** Whom votes are delegated to, out of the text of CIP-129 or of CIP-105 before it. Throws `ApiError` on anything else. */
export function drepOf(text: string): DRep {
  if (text === "drep_always_abstain") return { kind: "abstain" };
  if (text === "drep_always_no_confidence") return { kind: "no confidence" };
  const parsed = fromBech32(text);
  const bytes = parsed?.bytes ?? new Uint8Array(0);
  if (parsed?.prefix === "drep" && bytes.length === 29 && (bytes[0] === DREP_KEY || bytes[0] === DREP_SCRIPT)) {
    return { kind: bytes[0] === DREP_KEY ? "key" : "script", hash: toHex(bytes.subarray(1)) };
  }
  if (bytes.length === 28 && /^drep(_vkh)?$/.test(parsed!.prefix)) return { kind: "key", hash: toHex(bytes) };
  if (bytes.length === 28 && parsed!.prefix === "drep_script") return { kind: "script", hash: toHex(bytes) };
  throw apiError("unusable", `What was told as the id of a DRep is none: ${text.slice(0, 100)}.`);
}

/** How time runs; `slot` is the newest block's. Throws `ApiError`: `lacking` where the service does not tell. */
export async function readEras(http: Http, known: Known, slot: number): Promise<Eras> {
  const { system_start } = read(genesisDocument, await http.get("/genesis"), "the genesis");
  const told = read(erasDocument, await http.get("/network/eras"), "the eras");
  const current = eraOf(known, slot);
  return {
    systemStart: system_start * 1_000,
    current,
    history: told.map(({ start, end, parameters }) => ({
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

/** The era of a slot. Throws `ApiError` where it is none that is known here. */
function eraOf(known: Known, slot: number): Eras["current"] {
  try {
    // a block's tag is one more than its era's index
    return ERAS[known.eraAt(slot) - 1] ?? ERAS[0];
  } catch (error) {
    if (error instanceof UnknownEraError) throw apiError("unusable", `era_unknown: ${error.message}.`);
    throw error;
  }
}

const boundOf = (told: { time: number; slot: number; epoch: number }): EraBound => ({
  time: BigInt(Math.round(told.time * 1_000)) * BigInt(PICOSECONDS / 1_000),
  slot: told.slot,
  epoch: told.epoch,
});

/** The epoch of the newest block. Throws `ApiError`. */
export async function readEpoch(http: Http, known: Known, slot: number): Promise<Epoch> {
  const { epoch } = read(epochDocument, await http.get("/epochs/latest"), "the epoch");
  const times = epochTimes(await readEras(http, known, slot), epoch);
  if (times.ok) return times.value;
  throw apiError("unusable", `The eras that the service tells do not reach its own epoch: ${times.error.message}`);
}

/** What the network began with. The hash is known of public networks alone. Throws `ApiError`. */
export async function readGenesis(http: Http): Promise<NetworkGenesis> {
  const told = read(genesisDocument, await http.get("/genesis"), "the genesis");
  return {
    hash: publicGenesis(told.network_magic),
    systemStart: told.system_start * 1_000,
    activeSlots: told.active_slots_coefficient,
    securityParameter: told.security_param,
    epochLength: told.epoch_length,
    slotLength: Math.round(told.slot_length * 1_000),
    maxSupply: told.max_lovelace_supply,
  };
}
