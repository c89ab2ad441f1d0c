/** Operations of the groups Network and Ledger. */
import type { EraBound } from "#src/cardano/eras.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { readNetworkSums } from "#src/devnet/index/reads/network.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import { readPoolFigures } from "#src/devnet/index/reads/pools.ts";
import { eraHistory, nodeGenesis } from "#src/devnet/serve/nodeGenesis.ts";
import { get, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";

const PICOSECONDS = 1_000_000_000_000;

/**
 * The operations. Blockfrost knows only slots of whole seconds; those of a devnet may be shorter, and their length is
 * then a fraction.
 */
export function networkOperations({ devnet: { genesis, network }, store }: BlockfrostService): Operation[] {
  const { maxSupply } = genesis.terms;
  return [
    get("/network", async () => {
      const { sums: { reserves, treasury, circulating, locked, active }, live } = await atOneState(
        store,
        // the live stake is that of all pools together
        async (sql) => ({ sums: await readNetworkSums(sql), live: (await readPoolFigures(sql, [])).totals.liveStake }),
      );
      return {
        supply: {
          max: String(maxSupply),
          total: String(maxSupply - reserves),
          circulating: String(circulating),
          locked: String(locked),
          treasury: String(treasury),
          reserves: String(reserves),
        },
        stake: { live: String(live), active: String(active) },
      };
    }),
    get("/network/eras", async () =>
      eraHistory(genesis, await readTip(store.sql)).map(({ start, end, terms }) => ({
        start: boundDocument(start),
        end: boundDocument(end ?? start),
        parameters: {
          epoch_length: terms.epochLength,
          slot_length: terms.slotLength / 1_000,
          safe_zone: terms.safeZone ?? 0,
        },
      }))),
    get("/genesis", async () => {
      const { activeSlots, updateQuorum, epochLength, slotsPerKesPeriod, maxKesEvolutions } = nodeGenesis(genesis);
      return {
        active_slots_coefficient: Number(activeSlots.numerator) / Number(activeSlots.denominator),
        update_quorum: updateQuorum,
        max_lovelace_supply: String(maxSupply),
        network_magic: network.magic,
        epoch_length: epochLength,
        system_start: Math.floor(network.slots.zeroTime / 1_000),
        slots_per_kes_period: slotsPerKesPeriod,
        slot_length: network.slots.slotLength / 1_000,
        max_kes_evolutions: maxKesEvolutions,
        security_param: network.securityParameter,
      };
    }),
  ];
}

/** `time` in seconds since the start of the system. */
function boundDocument({ time, slot, epoch }: EraBound) {
  return { time: Number(time) / PICOSECONDS, slot, epoch };
}
