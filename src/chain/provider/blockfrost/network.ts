/** The network behind a Blockfrost service. */
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { blockDocument, erasDocument, genesisDocument, parse } from "#src/chain/provider/blockfrost/documents.ts";
import { unless } from "#src/chain/provider/blockfrost/errors.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import type { Network } from "#src/chain/provider/port.ts";
import { UnknownEraError } from "#src/cardano/scan.ts";

/** Era tags of Conway and Byron, as in `[era, block]`. */
const CONWAY = 7;
const BYRON = 1;

/** The network and its eras. */
export interface KnownNetwork {
  readonly network: Network;
  /** Average milliseconds between two blocks. */
  readonly blockMs: number;
  /** Era tag of the block in a slot. Throws `UnknownEraError` in an era after those that are known here. */
  eraAt(slot: number): number;
}

/**
 * Reads the network. Slots are counted from the start of the newest era; if the service does not give the eras, from
 * its newest block, whose time is the start of its slot. (`getSlotConfig` of `@blaze-cardano/query` only knows three
 * networks, and its `unixToSlot` gives fractions.)
 */
export async function readNetwork(http: BlockfrostHttp, signal?: AbortSignal): Promise<KnownNetwork> {
  const genesis = parse(genesisDocument, await http.get("/genesis", signal), "the genesis");
  const eras = await readEras(http, genesis.system_start, signal);
  const { numerator, denominator } = genesis.active_slots_coefficient;
  const slots = eras?.at(-1) ?? await slotsOfNewest(http, genesis, signal);
  return {
    network: {
      magic: genesis.network_magic,
      id: genesis.network_magic === MAINNET_MAGIC ? 1 : 0,
      slots,
      securityParameter: genesis.security_param,
    },
    blockMs: slots.slotLength * Number(denominator) / Math.max(1, Number(numerator)),
    eraAt: (slot) => {
      if (!eras) return CONWAY;
      // Byron, Shelley, …: eras that a test network skipped begin and end in slot 0
      const index = eras.findLastIndex(({ zeroSlot }) => zeroSlot <= slot);
      const era = BYRON + Math.max(0, index);
      if (era > CONWAY) throw new UnknownEraError(era);
      return era;
    },
  };
}

async function readEras(
  http: BlockfrostHttp,
  start: number,
  signal?: AbortSignal,
): Promise<readonly SlotConfig[] | undefined> {
  const answer = await unless(http.get("/network/eras", signal), "absent", "lacking");
  const eras = answer === undefined ? [] : parse(erasDocument, answer, "the eras");
  return eras.length === 0 ? undefined : eras.map((era) => ({
    zeroTime: Math.round((start + era.start.time) * 1_000),
    zeroSlot: era.start.slot,
    slotLength: Math.round(era.parameters.slot_length * 1_000),
  }));
}

async function slotsOfNewest(
  http: BlockfrostHttp,
  { system_start, slot_length }: { system_start: number; slot_length: number },
  signal?: AbortSignal,
): Promise<SlotConfig> {
  const slotLength = slot_length * 1_000;
  const newest = await http.find("/blocks/latest", signal);
  if (newest === undefined) return { zeroTime: system_start * 1_000, zeroSlot: 0, slotLength };
  const { slot, time } = parse(blockDocument, newest, "the newest block");
  return { zeroTime: time * 1_000, zeroSlot: slot, slotLength };
}
