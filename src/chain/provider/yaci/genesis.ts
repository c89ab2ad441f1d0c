/**
 * The genesis of a network, and its eras, for a service that gives neither. Yaci Store's own API has no request for
 * them. The admin host of Yaci DevKit gives the genesis files of its network, on which each era up to Conway begins and
 * ends in slot 0. Those of the public networks are constants, as their published configurations state them.
 */
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { type EraBound, ERAS, type Eras } from "#src/cardano/eras.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { count, decimal, parse, seconds, whole } from "#src/chain/provider/blockfrost/documents.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { z } from "zod";

/** A network's constants. */
export interface KnownGenesis {
  readonly magic: number;
  /** Time of slot 0, in ms since 1970. */
  readonly systemStart: number;
  readonly activeSlots: Ratio;
  readonly securityParameter: number;
  /** Slots per epoch, and milliseconds per slot, since Shelley. */
  readonly epochLength: number;
  readonly slotLength: number;
  readonly maxSupply: bigint;
  /** First epochs of the eras from Shelley to Conway. */
  readonly forks: readonly [number, number, number, number, number, number];
}

/** Byron's slots on the public networks: 10k of them an epoch. */
const BYRON_SLOT_MS = 20_000;
const PICOSECONDS = 1_000_000_000n;

const publicNetwork = {
  activeSlots: { numerator: 1n, denominator: 20n },
  securityParameter: 2_160,
  epochLength: 432_000,
  slotLength: 1_000,
  maxSupply: 45_000_000_000_000_000n,
};

const PUBLIC: readonly KnownGenesis[] = [
  {
    ...publicNetwork,
    magic: MAINNET_MAGIC,
    systemStart: Date.parse("2017-09-23T21:44:51Z"),
    forks: [208, 236, 251, 290, 365, 507],
  },
  { ...publicNetwork, magic: 1, systemStart: Date.parse("2022-06-01T00:00:00Z"), forks: [4, 5, 6, 7, 12, 163] },
  {
    ...publicNetwork,
    magic: 2,
    systemStart: Date.parse("2022-10-25T00:00:00Z"),
    securityParameter: 432,
    epochLength: 86_400,
    forks: [0, 0, 0, 0, 3, 646],
  },
];

/** The genesis of a public network; undefined for any other magic. */
export function publicNetworkGenesis(magic: number): KnownGenesis | undefined {
  return PUBLIC.find((one) => one.magic === magic);
}

/** The Shelley genesis file, as far as it is used. */
const shelleyGenesis = z.object({
  networkMagic: count,
  systemStart: z.iso.datetime({ offset: true }),
  activeSlotsCoeff: decimal,
  securityParam: count,
  epochLength: count,
  slotLength: seconds,
  maxLovelaceSupply: whole,
});

/** The genesis that an admin host gives. Throws `BlockfrostError`. */
export async function readAdminGenesis(admin: BlockfrostHttp, signal?: AbortSignal): Promise<KnownGenesis> {
  const answer = await admin.get("/local-cluster/api/admin/devnet/genesis/shelley", signal);
  const file = parse(shelleyGenesis, answer, "the Shelley genesis");
  return {
    magic: file.networkMagic,
    systemStart: Date.parse(file.systemStart),
    activeSlots: file.activeSlotsCoeff,
    securityParameter: file.securityParam,
    epochLength: file.epochLength,
    slotLength: Math.round(file.slotLength * 1_000),
    maxSupply: file.maxLovelaceSupply,
    forks: [0, 0, 0, 0, 0, 0],
  };
}

/**
 * The eras that have begun at a slot. The last one's known end is that of the epoch that contains the end of the safe
 * zone (3k/f slots) after it, as a node states it.
 */
export function erasAt(genesis: KnownGenesis, tipSlot: number): Eras {
  const { forks: [shelley], securityParameter: k, epochLength, slotLength } = genesis;
  const { numerator, denominator } = genesis.activeSlots;
  const byronEpoch = 10 * k;
  const bound = (epoch: number): EraBound => {
    const [before, after] = [Math.min(epoch, shelley), Math.max(0, epoch - shelley)];
    const ms = BigInt(before * byronEpoch) * BigInt(BYRON_SLOT_MS) + BigInt(after * epochLength) * BigInt(slotLength);
    return { epoch, slot: before * byronEpoch + after * epochLength, time: ms * PICOSECONDS };
  };
  const zone = (f: bigint, per: bigint) => Number((f * BigInt(k) + per - 1n) / per);
  const terms = (era: number) => {
    const safeZone = era === 0 ? 2 * k : zone(3n * denominator, numerator);
    return era === 0
      ? { epochLength: byronEpoch, slotLength: BYRON_SLOT_MS, safeZone, genesisWindow: safeZone }
      : { epochLength, slotLength, safeZone, genesisWindow: safeZone };
  };
  const starts = [0, ...genesis.forks].map(bound);
  const begun = starts.filter(({ slot }) => slot <= Math.max(0, tipSlot));
  const last = begun.length - 1;
  const start = begun[last] ?? bound(0);
  const { safeZone, epochLength: length } = terms(last);
  const surely = Math.max(0, tipSlot) + 1 + safeZone - start.slot;
  return {
    systemStart: genesis.systemStart,
    current: ERAS[last] ?? ERAS[0],
    history: begun.map((one, era) => ({
      start: one,
      end: begun[era + 1] ?? bound(start.epoch + Math.ceil(surely / length)),
      terms: terms(era),
    })),
  };
}
