/** Votes in wallets' encoding, decoded by our strict reader and by another library. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { expect, test } from "vitest";
import { decodeAll, entry } from "#src/cardano/cbor.ts";
import { readVotes, type Voter } from "#src/cardano/conway/governance.ts";
import { encodeVotes } from "#src/cardano/encodeVotes.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { newRef } from "../../support/wallets/person.ts";

const [first, second] = [{ txHash: "01".repeat(32), index: 3 }, { txHash: "02".repeat(32), index: 0 }];
const anchor = { url: "https://example.org/why.jsonld", hash: "44".repeat(32) };
const voters: readonly Voter[] = [
  { role: "committee", credential: { kind: "script", hash: "11".repeat(28) }, votes: [{ action: first, vote: "no" }] },
  {
    role: "drep",
    credential: { kind: "key", hash: "22".repeat(28) },
    votes: [{ action: first, vote: "yes", anchor }, { action: second, vote: "abstain" }],
  },
  { role: "pool", credential: { kind: "key", hash: "33".repeat(28) }, votes: [{ action: second, vote: "yes" }] },
];

test("votes of every role are in the body, with their anchors, actions in order", () => {
  const [committee, drep, pool] = voters;
  const votes = encodeVotes([committee!, { ...drep!, votes: [...drep!.votes].reverse() }, pool!]);
  const transaction = encodeTransaction({ inputs: [newRef()], outputs: [], fee: 0n, votes });
  const scanned = scanTransaction(transaction);
  expect(scanned.governs).toBe(true);
  expect(readVotes(entry(decodeAll(scanned.body), 19)!)).toEqual(voters);
  const read = csl.Transaction.from_bytes(transaction).body().voting_procedures()!;
  expect(read.to_bytes()).toEqual(votes);
  expect(read.get_voters().len()).toBe(3);
});
