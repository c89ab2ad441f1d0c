import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { decode, type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { encodeRef, outputKey } from "#src/csmt/key.ts";
import { canonicalOutput } from "#src/csmt/output.ts";

const address = `70${"ab".repeat(28)}`;
const canonical = (cbor: Uint8Array | Encodable) =>
  toHex(canonicalOutput(readOutput(decode(cbor instanceof Uint8Array ? cbor : encode(cbor)))));
const head = `581d${address}`;
const hash = "cd".repeat(32);
const policy = (digit: string) => fromHex(digit.repeat(56));

describe("the encoding of an output in the tree", () => {
  it("is an array without datum and script, in whatever form it came", () => {
    const plain = `82${head}1864`;
    expect(canonical([fromHex(address), 100])).toBe(plain);
    expect(canonical(new Map<Encodable, Encodable>([[0, fromHex(address)], [1, 100]]))).toBe(plain);
    expect(canonical(new Map<Encodable, Encodable>([[1, 100], [0, fromHex(address)]]))).toBe(plain);
    // indefinite lengths, and a coin that is not in the shortest form
    expect(canonical(fromHex(`bf00${head}011a00000064ff`))).toBe(plain);
    expect(canonical([fromHex(address), [100, new Map()]])).toBe(plain);
  });

  it("is an array of three with a datum hash alone", () => {
    const hashed = `83${head}18645820${hash}`;
    expect(canonical([fromHex(address), 100, fromHex(hash)])).toBe(hashed);
    const datum = [0, fromHex(hash)];
    expect(canonical(new Map<Encodable, Encodable>([[0, fromHex(address)], [1, 100], [2, datum]]))).toBe(hashed);
  });

  it("is a map with an inline datum or a script; the datum's bytes stay", () => {
    const datum = fromHex("9f01ff");
    const base: [Encodable, Encodable][] = [[0, fromHex(address)], [1, 100]];
    expect(canonical(new Map([...base, [2, [1, new Tagged(24, datum)]]]))).toBe(
      `a300${head}01186402` + "8201d818439f01ff",
    );
    const script = new Tagged(24, fromHex("82034101"));
    expect(canonical(new Map([...base, [3, script]]))).toBe(`a300${head}01186403d8184482034101`);
    // a script's bytes in pieces, and a hash beside it
    const pieces = new Tagged(24, fromHex("9f035f4101ffff"));
    expect(canonical(new Map([...base, [2, [0, fromHex(hash)]], [3, pieces]]))).toBe(
      `a400${head}0118640282005820${hash}03d8184482034101`,
    );
    // a native script keeps its own bytes
    const native = new Tagged(24, fromHex("82009f0400ff"));
    expect(canonical(new Map([...base, [3, native]]))).toBe(`a300${head}01186403d8184682009f0400ff`);
  });

  it("has assets in the order of their bytes, without zeros", () => {
    const assets = new Map<Encodable, Encodable>([
      [policy("b"), new Map([[fromHex("ff"), 1], [fromHex("00ff"), 2], [fromHex(""), 3], [fromHex("01"), 0]])],
      [policy("a"), new Map([[fromHex("00"), 0]])],
      [policy("0"), new Map([[fromHex("00"), 5]])],
    ]);
    expect(canonical([fromHex(address), [100, assets]])).toBe(
      `82${head}821864a2` + `581c${"0".repeat(56)}a1410005` + `581c${"b".repeat(56)}a340034200ff0241ff01`,
    );
  });

  it("has a map of more than 23 entries of indefinite length", () => {
    const names = (count: number) =>
      new Map<Encodable, Encodable>(Array.from({ length: count }, (_, i) => [Uint8Array.of(i), 1]));
    const of = (count: number) => canonical([fromHex(address), [100, new Map([[policy("a"), names(count)]])]]);
    const written = (count: number) =>
      Array.from({ length: count }, (_, i) => `41${i.toString(16).padStart(2, "0")}01`).join("");
    expect(of(23)).toBe(`82${head}821864a1581c${"a".repeat(56)}b7${written(23)}`);
    expect(of(24)).toBe(`82${head}821864a1581c${"a".repeat(56)}bf${written(24)}ff`);
    const policies = new Map<Encodable, Encodable>(
      Array.from({ length: 24 }, (_, i) => [fromHex(i.toString(16).padStart(56, "0")), names(1)]),
    );
    expect(canonical([fromHex(address), [100, policies]])).toMatch(/^82581d.{58}821864bf581c0{56}a1410001.*ff$/);
  });

  it("of Byron has its address as bytes, and its key the address's own", () => {
    const byron = "82d818582183581cba970ad36654d8dd8f74274b733452ddeab9a62a397746be3c42ccdda0001a9026da5b";
    const cbor = encode([new Encoded(fromHex(byron)), 7]);
    expect(canonical(cbor)).toBe(`82582b${byron}07`);
    expect(readOutput(decode(cbor)).address).toBe(byron);
  });
});

describe("the key of an output", () => {
  it("has a reference in the shortest form", () => {
    const ref = (index: number) => toHex(encodeRef({ txHash: hash, index }));
    expect([0, 23, 24, 255, 256].map(ref)).toEqual(
      ["00", "17", "1818", "18ff", "190100"].map((index) => `825820${hash}${index}`),
    );
    expect([0, 24, 256].map((index) => outputKey(address, { txHash: hash, index }).length * 8)).toEqual([
      544,
      552,
      560,
    ]);
  });
});
