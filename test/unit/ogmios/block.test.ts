import { beforeAll, describe, expect, it } from "vitest";
import { initHash } from "#src/cardano/hash.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { blockJson } from "#src/ogmios/block.ts";
import { blockFile, blocksOf, capturedBlocks, chunks, singles } from "../../support/chain/vectorBlocks.ts";
import { schemaFault } from "../../support/ogmios/golden.ts";

beforeAll(initHash);

/** All blocks of the vectors: real ones of each era, and synthetic ones. */
const blocks = [
  ...singles.map(({ file }) => ({ name: file, bytes: blockFile(file) })),
  ...capturedBlocks(),
  ...chunks.flatMap((chunk) => blocksOf(chunk).map((bytes, index) => ({ name: `${chunk.file} ${index}`, bytes }))),
];

describe("blocks", () => {
  it.each([false, true])("of every era keep the schema (with CBOR: %s)", (cbor) => {
    const faults = new Map<string, string>();
    for (const { name, bytes } of blocks) {
      const json = blockJson(bytes, { version: 7, cbor });
      const fault = schemaFault("cardano/Block", json);
      if (fault) faults.set(name, fault);
      expect(json.transactions ?? []).toHaveLength(scanBlock(bytes).transactions.length);
    }
    // an action of an early test network, before the ledger bounded the parameter
    expect([...faults.keys()]).toEqual(["single/conway4.cbor"]);
    expect(faults.get("single/conway4.cbor")).toContain("constitutionalCommitteeMinSize");
  });
});
