/** Transactions of real chains: each has a summary, and every unknown part is listed. */
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { concat } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { created, type ScannedTransaction } from "#src/cardano/block.ts";
import { head } from "#src/cardano/cbor.ts";
import { initHash } from "#src/cardano/hash.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { summarize } from "#src/client/summary.ts";
import { vectors } from "../../../support/base/vectors.ts";

beforeAll(initHash);

const folder = vectors("blocks/single");

/** A transaction of a block in its submitted form. */
function whole({ body, witnesses, valid, auxiliaryData }: ScannedTransaction): Uint8Array {
  const flag = Uint8Array.of(valid ? 0xf5 : 0xf4);
  return concat(head(4, 4), body, witnesses, flag, auxiliaryData ?? Uint8Array.of(0xf6));
}

describe("transactions of blocks", () => {
  const names = folder === undefined
    ? []
    : readdirSync(folder).filter((name) => /^(?!.*(byron|dijkstra)).*\.cbor$/.test(name));

  test.each(names)("%s", async (name) => {
    const { transactions, era } = scanBlock(new Uint8Array(readFileSync(`${folder}/${name}`)));
    for (const transaction of transactions) {
      const read = await summarize(whole(transaction), { resolve: () => new Map() });
      if (!read.ok) throw new Error(`${transaction.hash}: ${read.error.message}`);
      const summary = read.value;
      const codes = summary.unknown.map(({ code }) => code);
      expect(summary).toMatchObject({ hash: transaction.hash, valid: transaction.valid, balanced: null, net: null });
      expect(summary.pays.map(({ amount }) => amount.lovelace)).toEqual(
        created(transaction).map(({ output }) => output.value.lovelace),
      );
      if (transaction.valid) expect(codes).toContain("input_unknown");
      const said = (code: string) => codes.filter((one) => one === code).length;
      expect(said("certificate")).toBe(transaction.certificates.length);
      expect(said("withdrawal")).toBe(transaction.withdrawals.size);
      expect(summary.mints).toHaveLength(transaction.valid ? transaction.mint.size : 0);
      // a set could contain duplicates before Conway
      if (era === 7) expect(codes).not.toContain("encoding");
      expect(toJson(summary).length).toBeGreaterThan(100);
    }
  });
});
