import { describe, expect, it } from "vitest";
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
