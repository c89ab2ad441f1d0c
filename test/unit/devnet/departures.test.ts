import { describe, expect, it } from "vitest";
import { DepartureWriter } from "#src/devnet/blocks/departureRows.ts";
import { type Departure, Departures } from "#src/devnet/blocks/departures.ts";

const departure = (hash: string, bytes = 10): Departure => ({
  hash,
  cbor: new Uint8Array(bytes),
  kind: "refused",
  why: "",
  failures: [],
  at: 0,
  slot: 0,
});

describe("the record of departed transactions", () => {
  const hashes = (departures: Departures) => departures.newestFirst().map(({ hash }) => hash);

  it("forgets the oldest beyond its number", () => {
    const departures = new Departures(2);
    for (const hash of ["a", "b", "c"]) departures.add(departure(hash));
    expect(hashes(departures)).toEqual(["c", "b"]);
    expect(departures.get("a")).toBeUndefined();
    expect(departures.get("c")?.hash).toBe("c");
  });

  it("forgets the oldest beyond its bytes, and counts those of a replaced one once", () => {
    const departures = new Departures(10, 25);
    departures.add(departure("a"));
    departures.add(departure("b"));
    departures.add(departure("b"));
    expect(hashes(departures)).toEqual(["b", "a"]);
    departures.add(departure("c"));
    expect(hashes(departures)).toEqual(["c", "b"]);
    departures.add(departure("d", 30));
    expect(hashes(departures)).toEqual([]);
  });

  it("moves a transaction that departs again to the front", () => {
    const departures = new Departures();
    for (const hash of ["a", "b", "a"]) departures.add(departure(hash));
    expect(hashes(departures)).toEqual(["a", "b"]);
  });
});

describe("the writer of departed transactions", () => {
  it("writes those of some time together, what waits at its end at once, and goes on after a failure", async () => {
    const written: string[][] = [];
    const failed: unknown[] = [];
    const away = new Error("away");
    const writer = new DepartureWriter(async (departures) => {
      if (departures[0]?.hash === "lost") throw away;
      written.push(departures.map(({ hash }) => hash));
    }, (error) => failed.push(error));
    for (const hash of ["a", "b"]) writer.add(departure(hash));
    expect(written).toEqual([]);
    await writer.end();
    expect(written).toEqual([["a", "b"]]);
    writer.add(departure("lost"));
    await writer.end();
    writer.add(departure("c"));
    await writer.end();
    expect([written, failed]).toEqual([[["a", "b"], ["c"]], [away]]);
  });

  it("keeps no more waiting than are kept at all", async () => {
    const written: Departure[] = [];
    const writer = new DepartureWriter(async (departures) => void written.push(...departures), () => {});
    for (let i = 0; i < 700; i++) writer.add(departure(String(i)));
    await writer.end();
    expect(written.map(({ hash }) => hash)).toEqual(Array.from({ length: 500 }, (_, i) => String(i + 200)));
  });
});
