/** The genesis, parameters and eras that a node of this devnet's network would report. A hard fork within Conway begins no era. */
import type { Tip } from "#src/cardano/block.ts";
import type { EraBound, EraHistory, EraTerms } from "#src/cardano/eras.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import type { ShelleyGenesis as NodeGenesis } from "#src/node/queries/genesis.ts";
import { systemStart } from "#src/node/queries/history.ts";

const PICOSECONDS = 1_000_000_000n;

/** The Shelley genesis. */
export function nodeGenesis(
  { network, terms, parameters }: Pick<Genesis, "network" | "terms" | "parameters">,
): NodeGenesis {
  return {
    systemStart: systemStart(network.slots.zeroTime),
    networkMagic: network.magic,
    networkId: network.id,
    activeSlots: terms.activeSlots,
    securityParameter: network.securityParameter,
    epochLength: terms.epochLength,
    slotsPerKesPeriod: 129_600,
    maxKesEvolutions: 62,
    slotLength: network.slots.slotLength * 1_000,
    updateQuorum: 1,
    maxSupply: terms.maxSupply,
    parameters: {
      ...parameters,
      decentralisation: { numerator: 0n, denominator: 1n },
      extraEntropy: Uint8Array.of(0x81, 0),
      minUtxo: 0n,
    },
    delegates: [],
    initialFunds: [],
    staking: { pools: [], delegations: [] },
    extra: undefined,
  };
}

/** Number of eras before Conway; each begins and ends in slot 0. */
const ERAS_BEFORE = 6;

/**
 * The eras up to Conway, which begins with slot 0. At a tip, Conway's known end is that of the epoch that contains the
 * safe zone's end.
 */
export function eraHistory({ network, terms: { epochLength } }: Genesis, tip: Pick<Tip, "slot">): EraHistory {
  const { slots: { slotLength }, securityParameter } = network;
  const safeZone = 3 * securityParameter;
  const terms: EraTerms = { epochLength, slotLength, safeZone, genesisWindow: safeZone };
  const begin: EraBound = { time: 0n, slot: 0, epoch: 0 };
  const epoch = Math.ceil((tip.slot + 1 + safeZone) / epochLength);
  const slot = epoch * epochLength;
  const end: EraBound = { time: BigInt(slot) * BigInt(slotLength) * PICOSECONDS, slot, epoch };
  return [
    ...Array.from({ length: ERAS_BEFORE }, () => ({ start: begin, end: begin, terms })),
    { start: begin, end, terms },
  ];
}
