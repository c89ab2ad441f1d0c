import { describe, expect, it } from "vitest";
import { AddressPool } from "#src/wallets/index/addressPool.ts";
import { seeded } from "../../../support/base/seededRandom.ts";

describe("a pool", () => {
  it("keeps its gap beyond the last used index", () => {
    const pool = new AddressPool(10, -1, 10);
    pool.use([3]);
    expect([pool.size, pool.used]).toEqual([14, 3]);
    pool.use([1]);
    expect([pool.size, pool.used]).toEqual([14, 3]);
    pool.use([13]);
    expect([pool.size, pool.used]).toEqual([24, 13]);
  });

  it("does not detect indices beyond it", () => {
    const pool = new AddressPool(10, -1, 10);
    pool.use([10, 11, 500]);
    expect([pool.size, pool.used]).toEqual([10, -1]);
  });

  it("grows by one index after the other, in any order", () => {
    const pool = new AddressPool(20, -1, 20);
    pool.use([59, 39, 19, 80]);
    expect([pool.size, pool.used]).toEqual([80, 59]);
    pool.use([80]);
    expect([pool.size, pool.used]).toEqual([80, 59]);
    pool.use([79, 80]);
    expect([pool.size, pool.used]).toEqual([101, 80]);
  });

  it("is the fixed point of repeated extension", () => {
    const random = seeded(7);
    for (let run = 0; run < 300; run++) {
      const gap = 1 + Math.floor(random() * 12);
      const indices = Array.from({ length: Math.floor(random() * 12) }, () => Math.floor(random() * 80));
      let size = gap;
      let used = -1;
      for (let before = -1; before !== size;) {
        before = size;
        used = Math.max(used, ...indices.filter((index) => index < size));
        size = Math.max(size, used + 1 + gap);
      }
      const pool = new AddressPool(gap, -1, gap);
      pool.use(indices);
      expect([indices, pool.size, pool.used]).toEqual([indices, size, used]);
    }
  });
});
