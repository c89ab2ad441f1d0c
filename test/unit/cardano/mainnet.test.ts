/**
 * Mainnet: how its slots, epochs and times map over the change from Byron to Shelley, and its recorded blocks. The
 * expected times are those that its explorers and genesis files state.
 */
import { describe, expect, it } from "vitest";
import { addressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { epochsOf } from "#src/cardano/epochs.ts";
import { epochTimes, ERAS, eraStart, slotAt, timeAt } from "#src/cardano/eras.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { blockFile, singles } from "../../support/chain/vectorBlocks.ts";
import { mainnetEras } from "../../support/chain/mainnetEras.ts";

describe("slots of mainnet", () => {
  const eras = mainnetEras();
  const time = (slot: number) => {
    const at = timeAt(eras, slot);
    return at.ok ? new Date(at.value).toISOString() : at.error.code;
  };

  it("take 20 s before Shelley and 1 s from it on", () => {
    expect(time(0)).toBe("2017-09-23T21:44:51.000Z");
    expect(time(4_492_799)).toBe("2020-07-29T21:44:31.000Z");
    expect(time(4_492_800)).toBe("2020-07-29T21:44:51.000Z");
    expect(time(4_492_801)).toBe("2020-07-29T21:44:52.000Z");
    for (const slot of [0, 1, 4_492_798, 4_492_799, 4_492_800, 4_492_801, 159_835_207]) {
      const at = timeAt(eras, slot);
      expect(at.ok && slotAt(eras, at.value)).toEqual({ ok: true, value: slot });
      expect(epochsOf(eras).time(slot)).toBe(at.ok && at.value);
    }
    // the last Byron slot lasts until Shelley begins
    expect(slotAt(eras, Date.parse("2020-07-29T21:44:50.999Z"))).toEqual({ ok: true, value: 4_492_799 });
  });

  it("from Shelley on are at their Unix time less 1591566291 s", () => {
    for (const slot of [4_492_800, 16_588_800, 72_316_800, 133_660_800, 159_835_207]) {
      expect(timeAt(eras, slot)).toEqual({ ok: true, value: (slot + 1_591_566_291) * 1_000 });
    }
  });

  it("belong to epochs of five days in every era", () => {
    const epochs = epochsOf(eras);
    expect([0, 21_599, 21_600, 4_492_799, 4_492_800, 4_924_799, 4_924_800].map((slot) => epochs.of(slot)))
      .toEqual([0, 0, 1, 207, 208, 208, 209]);
    expect([0, 207, 208, 209].map((epoch) => epochs.first(epoch))).toEqual([0, 4_471_200, 4_492_800, 4_924_800]);
    for (const epoch of [0, 207, 208, 507]) {
      const found = epochTimes(eras, epoch);
      expect(found.ok && found.value.end - found.value.start).toBe(5 * 86_400_000);
    }
    expect(eraStart(eras, "Shelley")).toEqual({ epoch: 208, time: Date.parse("2020-07-29T21:44:51Z") });
    expect(eraStart(eras, "Conway")).toEqual({ epoch: 507, time: Date.parse("2024-09-01T21:44:51Z") });
  });
});

describe("recorded blocks of mainnet", () => {
  const blocks = [
    ...["byron1", "byron2", "byron4", "byron5", "byron-gouroboros-mainnet", "shelley1", "alonzo15", "alonzo16"],
    ...["shelley-gouroboros-mainnet", "allegra1", "alonzo11", "mary1", "alonzo13", "alonzo9", "alonzo21", "babbage9"],
    ...["u5c1", "conway-gouroboros-mainnet"],
  ].map((name) => singles.find(({ file }) => file === `single/${name}.cbor`)!);

  it("lie in the era of their tag", () => {
    const { history } = mainnetEras();
    for (const { era, slot } of blocks) {
      const index = history.findLastIndex(({ start }) => start.slot <= slot);
      expect([slot, ERAS[index]]).toEqual([slot, ERAS[era - 1]]);
    }
  });

  it("pay to addresses of mainnet only, with its prefixes", () => {
    const kinds = new Map<string, number>();
    for (const { file } of blocks) {
      for (const { outputs } of scanBlock(blockFile(file)).transactions) {
        for (const { address: hex } of outputs) {
          const read = readAddressHex(hex);
          if (!read.ok) throw new Error(`${file}: ${read.error.message}`);
          const text = addressText(read.value);
          const start = read.value.kind === "byron" ? /^(Ddz|Ae2)/ : /^addr1/;
          expect(text).toMatch(start);
          expect(parseAddress(text, 1)).toEqual(read);
          expect(parseAddress(text, 0)).toMatchObject({ ok: false, error: { details: { reason: "network" } } });
          kinds.set(read.value.kind, (kinds.get(read.value.kind) ?? 0) + 1);
        }
      }
    }
    expect([...kinds].filter(([, count]) => count > 50).map(([kind]) => kind).sort())
      .toEqual(["base", "byron", "enterprise"]);
  });
});
