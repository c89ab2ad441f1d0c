/** Byte for byte the files that another implementation made of 300 entries. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { parseCheckpoint, signCheckpoint } from "#src/tlog/checkpoint.ts";
import { leafHash } from "#src/tlog/hash.ts";
import { cosignText, LOG_KEY, noteSigner, noteText, vkeyOf, WITNESS_KEY } from "#src/tlog/note.ts";
import { acceptCheckpoint, parsePolicy } from "#src/tlog/policy.ts";
import { logProofText, parseLogProof, verifyLogProof } from "#src/tlog/proofFile.ts";
import { appendedTiles, decodeEntries, encodeEntries, tilePath } from "#src/tlog/tiles.ts";
import { consistencyProof, inclusionProof, treeRoot } from "#src/tlog/tree.ts";
import { addCheckpointText, decideCheckpoint, parseAddCheckpoint, type WitnessState } from "#src/tlog/witness.ts";
import { subtreesOf } from "../../support/tlog/plainTree.ts";
import { vectors } from "../../support/base/vectors.ts";

const bytes = (name: string) => new Uint8Array(readFileSync(vectors(`tlog/${name}`)));
const text = (name: string) => readFileSync(vectors(`tlog/${name}`), "utf8");

interface Keys {
  readonly log: { readonly vkey: string; readonly seed: string };
  readonly witnesses: readonly { readonly vkey: string; readonly seed: string }[];
  readonly time: number;
}
const keys = JSON.parse(text("keys.json")) as Keys;
const expected = JSON.parse(text("expected.json")) as { roots_hex: Record<string, string> };
const entries = text("entries.jsonl").trimEnd().split("\n").map(utf8);
const hashOf = subtreesOf(entries);
const log = noteSigner("log.arbor.example/preview", LOG_KEY, fromHex(keys.log.seed));
const witnesses = keys.witnesses.map(({ seed }, i) =>
  noteSigner(`w${i + 1}.arbor.example`, WITNESS_KEY, fromHex(seed))
);
const rootAt = (size: number) => treeRoot(size, hashOf);
const signedAt = (size: number) => signCheckpoint(log, { origin: log.name, size, root: rootAt(size) });

function valueOf<T>(result: { ok: true; value: T } | { ok: false; error: unknown }): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

describe("the vectors of a log", () => {
  it("have our roots", () => {
    for (const [size, root] of Object.entries(expected.roots_hex)) expect(toHex(rootAt(Number(size)))).toBe(root);
  });

  it("have our keys", () => {
    expect(vkeyOf(log)).toBe(keys.log.vkey);
    expect(witnesses.map(vkeyOf)).toEqual(keys.witnesses.map(({ vkey }) => vkey));
  });

  it.each([0, 5, 256, 300])("have our checkpoint of %i entries", (size) => {
    expect(signedAt(size)).toBe(text(`checkpoint-${size}`));
  });

  it("have our cosignatures", () => {
    const { note } = valueOf(parseCheckpoint(signedAt(300)));
    const cosigned = witnesses.slice(0, 2).map((witness, i) => cosignText(witness, note.text, keys.time + i));
    expect(noteText({ ...note, signatures: [...note.signatures, ...cosigned] })).toBe(text("checkpoint"));
  });

  it("have our tiles and bundles", () => {
    const tiles = appendedTiles(0, entries.map(leafHash), () => new Uint8Array());
    expect(tiles).toHaveLength(3);
    for (const { level, index, hashes } of tiles) {
      expect(hashes).toEqual(bytes(tilePath({ level, index, width: hashes.length / 32 })));
    }
    expect(encodeEntries(entries.slice(0, 256))).toEqual(bytes("tile/entries/000"));
    expect(encodeEntries(entries.slice(256))).toEqual(bytes("tile/entries/001.p/44"));
    expect(valueOf(decodeEntries(bytes("tile/entries/001.p/44")))).toEqual(entries.slice(256));
  });

  it.each([7, 299])("have our proof of entry %i, which the policy accepts", (index) => {
    const file = text(`proof-${index}.tlog-proof`);
    const proof = { index, hashes: inclusionProof(index, 300, hashOf), checkpoint: text("checkpoint") };
    expect(logProofText(proof)).toBe(file);
    const policy = valueOf(parsePolicy(text("policy.txt")));
    const accepted = valueOf(verifyLogProof(policy, entries[index]!, valueOf(parseLogProof(file))));
    expect(accepted.witnesses.map(({ name, seconds }) => [name, seconds])).toEqual([["w1", keys.time], [
      "w2",
      keys.time + 1,
    ]]);
    const other = verifyLogProof(policy, entries[index - 1]!, valueOf(parseLogProof(file)));
    expect(other).toMatchObject({ ok: false, error: { code: "not_included" } });
  });

  it("have a policy that the checkpoint without cosignatures does not meet", () => {
    const policy = valueOf(parsePolicy(text("policy.txt")));
    expect(acceptCheckpoint(policy, text("checkpoint-300"))).toMatchObject({ ok: false, error: { code: "no_quorum" } });
  });

  const holding = (size?: number): WitnessState => ({
    keys: (origin) => origin === log.name ? [log] : [],
    latest: () => size === undefined ? undefined : { size, root: rootAt(size) },
  });

  it.each([[0, 5], [5, 300], [256, 300]])("have our request to sign from %i to %i", (before, size) => {
    const file = text(`add-checkpoint-${before}-${size}.txt`);
    expect(addCheckpointText({ before, proof: consistencyProof(before, size, hashOf), checkpoint: signedAt(size) }))
      .toBe(file);
    expect(addCheckpointText(valueOf(parseAddCheckpoint(file)))).toBe(file);
    expect(decideCheckpoint(file, holding(before || undefined))).toMatchObject({ type: "sign" });
    expect(decideCheckpoint(file, holding(17))).toEqual({ type: "conflict", status: 409, size: 17 });
    expect(decideCheckpoint(file, { ...holding(before), keys: () => [] })).toMatchObject({ status: 404 });
  });

  it("have a request with a wrong proof", () => {
    expect(decideCheckpoint(text("bad-add-checkpoint-5-300.txt"), holding(5))).toMatchObject({ status: 422 });
  });
});
