import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { compareBytes, concat, fromHex, toHex } from "#src/base/bytes.ts";
import { blake2b256, initHash } from "#src/cardano/hash.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { outputKey } from "#src/csmt/key.ts";
import { type Node, rootOf } from "#src/csmt/node.ts";
import { canonicalOutput } from "#src/csmt/output.ts";
import {
  decodeCompleteness,
  decodeExclusion,
  decodeInclusion,
  encodeCompleteness,
  encodeExclusion,
  encodeInclusion,
  type InclusionProof,
} from "#src/csmt/proof.ts";
import { proveCompleteness, proveExclusion, proveInclusion } from "#src/csmt/prove.ts";
import { insert } from "#src/csmt/tree.ts";
import { type ShownOutput, verifyAddress, verifyNoOutput, verifyOutput } from "#src/csmt/verify.ts";
import { addressPrefix } from "#src/csmt/key.ts";
import { foldCompleteness } from "#src/csmt/fold.ts";

beforeAll(initHash);

const hashOf = (n: number) => toHex(blake2b256(Uint8Array.of(n >> 8, n & 255)));
const addressOf = (n: number) => `70${hashOf(1_000 + n).slice(0, 56)}`;

interface Placed extends ShownOutput {
  readonly address: string;
}
const outputOf = (n: number, address: number): Placed => ({
  ref: { txHash: hashOf(n >> 2), index: [0, 1, 24, 256][n & 3]! },
  address: addressOf(address),
  cbor: canonicalOutput({ address: addressOf(address), value: { lovelace: BigInt(n), assets: new Map() } }),
});

/** Outputs at few addresses; `n` names an output, whose address is the last given. */
const sets = fc.array(fc.tuple(fc.nat(200), fc.nat(6)), { minLength: 1, maxLength: 60 }).map((pairs) =>
  [...new Map(pairs)].map(([n, address]) => outputOf(n, address))
);
const treeOf = (outputs: readonly Placed[]) =>
  outputs.reduce<Node | undefined>(
    (top, { address, ref, cbor }) => insert(top, { key: outputKey(address, ref), value: blake2b256(cbor) }),
    undefined,
  );
const same = (a: OutRef, b: OutRef) => a.txHash === b.txHash && a.index === b.index;

describe("proofs of a set", () => {
  it("show each output that is there, and the absence of others", () => {
    fc.assert(fc.property(sets, fc.nat(200), fc.nat(8), (set, n, address) => {
      const top = treeOf(set);
      const root = rootOf(top)!;
      for (const one of set) {
        const proof = encodeInclusion(proveInclusion(top, outputKey(one.address, one.ref))!);
        const verified = verifyOutput(root, one, proof);
        expect(verified).toMatchObject({ ok: true, value: { address: one.address } });
        expect(proveExclusion(top, outputKey(one.address, one.ref))).toBeUndefined();
        const other = { ...one, cbor: outputOf(999, 0).cbor };
        expect(verifyOutput(root, other, proof)).toMatchObject({ error: { code: "wrong_entry" } });
        expect(verifyOutput(blake2b256(root), one, proof)).toMatchObject({ error: { code: "wrong_root" } });
        expect(verifyOutput(null, one, proof)).toMatchObject({ error: { code: "wrong_root" } });
      }
      const wanted = outputOf(n, address);
      const isThere = set.some((one) => one.address === wanted.address && same(one.ref, wanted.ref));
      const proof = proveExclusion(top, outputKey(wanted.address, wanted.ref));
      expect(proof === undefined).toBe(isThere);
      if (!proof) return;
      const bytes = encodeExclusion(proof);
      expect(verifyNoOutput(root, wanted, bytes)).toMatchObject({ ok: true });
      expect(verifyNoOutput(root, { ...wanted, address: set[0]!.address, ref: set[0]!.ref }, bytes)).toMatchObject({
        error: { code: "wrong_entry" },
      });
      expect(verifyNoOutput(null, wanted, bytes)).toMatchObject({ error: { code: "wrong_root" } });
    }));
  });

  it("show all outputs of an address, and refuse any other list", () => {
    fc.assert(fc.property(sets, fc.nat(8), fc.nat(60), (set, n, at) => {
      const top = treeOf(set);
      const root = rootOf(top)!;
      const address = addressOf(n);
      const outputs = set.filter((one) => one.address === address);
      const { proof, elements } = proveCompleteness(top, addressPrefix(address));
      const bytes = encodeCompleteness(proof);
      expect(elements.map(({ path }) => toHex(path)).sort()).toEqual(
        outputs.map(({ ref }) => toHex(outputKey(address, ref))).sort(),
      );
      const verify = (outputs: readonly ShownOutput[]) => verifyAddress(root, { address, outputs }, bytes).ok;
      expect(verify(outputs)).toBe(true);
      expect(verify([...outputs].reverse())).toBe(true);
      expect(verify([...outputs, outputOf(999, n)])).toBe(false);
      expect(verify([...outputs, outputOf(0, n + 1)])).toBe(false);
      const one = outputs[at % Math.max(1, outputs.length)];
      if (!one) return;
      expect(verify([...outputs, one])).toBe(false);
      expect(verify(outputs.filter((other) => other !== one))).toBe(false);
      expect(verify([])).toBe(false);
      const changed = { ...one, cbor: outputOf(998, n).cbor };
      expect(verify(outputs.map((other) => other === one ? changed : other))).toBe(false);
    }));
  });

  it("of one address do not pass for a part of it, or for a larger sub-tree", () => {
    const set = Array.from({ length: 40 }, (_, n) => outputOf(n, 3));
    const top = treeOf([...set, outputOf(100, 4), outputOf(101, 5)]);
    const root = rootOf(top)!;
    const keys = set.map((one) => ({ key: outputKey(one.address, one.ref), value: blake2b256(one.cbor) }))
      .sort((a, b) => compareBytes(a.key, b.key));
    // the outputs of one branch below the address, with the true steps from there on
    for (let bits = 264; bits < 288; bits += 8) {
      for (const { key } of keys) {
        const { proof, elements } = proveCompleteness(top, key.subarray(0, (bits + 24) / 8));
        if (!("merges" in proof) || elements.length === set.length) continue;
        const part = elements.map(({ path, value }) => ({ key: path, value }));
        expect(foldCompleteness(key.subarray(0, 32), part, proof)).toBeUndefined();
        expect(toHex(foldCompleteness(key.subarray(0, (bits + 24) / 8), part, proof)!)).toBe(toHex(root));
      }
    }
  });
});

describe("mutated proofs", () => {
  const set = Array.from({ length: 25 }, (_, n) => outputOf(n * 3, n % 4));
  const top = treeOf(set);
  const root = rootOf(top)!;
  const one = set[7]!;
  const absent = outputOf(77, 2);
  const empty = addressOf(50);
  const proofs = {
    inclusion: encodeInclusion(proveInclusion(top, outputKey(one.address, one.ref))!),
    exclusion: encodeExclusion(proveExclusion(top, outputKey(absent.address, absent.ref))!),
    all: encodeCompleteness(proveCompleteness(top, addressPrefix(one.address)).proof),
    none: encodeCompleteness(proveCompleteness(top, addressPrefix(empty)).proof),
  };
  const outputs = set.filter(({ address }) => address === one.address);
  const verify = {
    inclusion: (proof: Uint8Array) => verifyOutput(root, one, proof),
    exclusion: (proof: Uint8Array) => verifyNoOutput(root, absent, proof),
    all: (proof: Uint8Array) => verifyAddress(root, { address: one.address, outputs }, proof),
    none: (proof: Uint8Array) => verifyAddress(root, { address: empty, outputs: [] }, proof),
  };
  const decode = {
    inclusion: decodeInclusion,
    exclusion: decodeExclusion,
    all: decodeCompleteness,
    none: decodeCompleteness,
  };
  const kinds = ["inclusion", "exclusion", "all", "none"] as const;

  it.each(kinds)("of %s are refused, whatever byte is changed, left out or added", (kind) => {
    const proof = proofs[kind];
    expect(verify[kind](proof).ok).toBe(true);
    fc.assert(
      fc.property(fc.nat(proof.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const changed = proof.slice();
        changed[at]! ^= by;
        expect(verify[kind](changed).ok).toBe(false);
        expect(verify[kind](proof.subarray(0, at)).ok).toBe(false);
        expect(verify[kind](concat(proof, changed.subarray(at))).ok).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(kinds)("of %s that are no proof are malformed, and nothing is thrown", (kind) => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      expect(verify[kind](bytes)).toMatchObject({ error: { code: "malformed_proof" } });
    }));
    for (
      const bytes of ["", "9fff", "9b7fffffffffffffff", "849a7fffffff", "8400", "83009a7fffffff80", "8201830199040000"]
    ) {
      expect(verify[kind](fromHex(bytes)), bytes).toMatchObject({ error: { code: "malformed_proof" } });
    }
    expect(decode[kind](new Uint8Array(16_000_001))).toMatchObject({ error: { code: "malformed_proof" } });
  });

  it("with a witness of another tree, or one that shares the target's branch, are refused", () => {
    const witness = proveInclusion(top, outputKey(one.address, one.ref))!;
    const sibling = set.find(({ address }) => address !== one.address)!;
    const target = decodeInclusion(proofs.inclusion).ok ? absentBits(sibling) : new Uint8Array();
    const forged = encodeExclusion({ target, witness });
    expect(verifyNoOutput(root, sibling, forged)).toMatchObject({ error: { code: "wrong_root" } });
  });

  it("with nonsense for an output are refused with its reference", () => {
    for (const cbor of ["", "ff", "82", "a0", `82581d${one.address}`, `${toHex(one.cbor)}00`]) {
      expect(verifyOutput(root, { ref: one.ref, cbor: fromHex(cbor) }, proofs.inclusion)).toMatchObject({
        error: { code: "malformed_output", message: expect.stringContaining(`${one.ref.txHash}#${one.ref.index}`) },
      });
    }
  });

  /** The key of an output that is in the set, as bits. */
  function absentBits({ address, ref }: Placed): InclusionProof["key"] {
    return proveInclusion(top, outputKey(address, ref))!.key;
  }
});
