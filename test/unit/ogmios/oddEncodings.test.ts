/** Transactions of every encoding that the ledger's decoder accepts have the same JSON, save bytes and hashes. */
import { beforeAll, expect, it } from "vitest";
import type { Json } from "#src/base/json.ts";
import { readTransaction as readStrictly } from "#src/cardano/conway/transaction.ts";
import { initHash } from "#src/cardano/hash.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readTransaction } from "#src/ogmios/readTransaction.ts";
import { transactionJson } from "#src/ogmios/transaction.ts";
import { oddEncodings } from "../../support/ledger/oddEncodings.ts";
import type { RefusedDraft } from "../../support/ledger/refusedDrafts.ts";
import { furtherRefusals, refusals, worldOf } from "../../support/ledger/refusals.ts";
import { schemaFault } from "../../support/ogmios/golden.ts";
import { membersOf } from "../../support/ogmios/transactions.ts";

beforeAll(initHash);

/** Members that are bytes of the transaction, or hashes of them. */
const OF_BYTES: ReadonlySet<string> = new Set(["id", "scripts", "datums", "redeemer", "datum", "script", "cbor"]);

function withoutBytes(json: Json): Json {
  if (Array.isArray(json)) return json.map(withoutBytes);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).filter(([name]) => !OF_BYTES.has(name)).map(([name, of]) => [name, withoutBytes(of)]),
  );
}

/** Drafts that use many members: scripts of each kind, certificates, proposals, votes, metadata. */
const drafts: readonly RefusedDraft[] = [
  ...Object.values(refusals).filter((row): row is RefusedDraft => typeof row !== "string"),
  ...furtherRefusals.map(([, row]) => row),
].filter((_, index) => index % 6 === 0);

it("have the same JSON", () => {
  let count = 0;
  for (const draft of drafts) {
    const world = worldOf(draft);
    const bytes = world.write(draft.draft(world));
    if (!readStrictly(bytes, { stored: true }).ok) continue;
    const plain = withoutBytes(transactionJson(scanTransaction(bytes), { version: 7 }));
    for (const { name, bytes: odd } of oddEncodings(bytes)) {
      if (!readStrictly(odd, { stored: true }).ok) continue;
      count++;
      const scanned = scanTransaction(odd);
      const json = transactionJson(scanned, { version: 7 });
      expect(withoutBytes(json), name).toEqual(plain);
      if (count % 50 === 0) expect(schemaFault("cardano/Transaction", json), name).toBeUndefined();
      if (count % 50 === 1) expect(membersOf(readTransaction(json)), name).toEqual(membersOf(scanned));
    }
  }
  expect(count).toBeGreaterThan(2_000);
});
