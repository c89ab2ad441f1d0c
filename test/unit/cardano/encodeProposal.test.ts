/** Proposals in our encoding, read back by our strict reader and by another library. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { expect, test } from "vitest";
import { decode, decodeAll, entry } from "#src/cardano/cbor.ts";
import { type Action, readProposal } from "#src/cardano/conway/governance.ts";
import { encodeProposal } from "#src/cardano/encodeProposal.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { changeParameters, changesOf, protocolParameters } from "#src/ledger/governance/parameters.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { newRef } from "../../support/wallets/person.ts";

const previous = { txHash: "01".repeat(32), index: 3 };
const anchor = { url: "https://example.org/why.jsonld", hash: "44".repeat(32) };
const policy = "55".repeat(28);
const hex = "e0" + "66".repeat(28);
const [key, script] = [{ kind: "key", hash: "11".repeat(28) }, { kind: "script", hash: "22".repeat(28) }] as const;
// in lowest terms, as they are read
const all = { ...protocolParameters(mainnetParameters), treasuryGrowth: { numerator: 1n, denominator: 5n } };
const { protocolVersion: _, ...others } = all;
const names = Object.keys(others) as (keyof typeof others)[];

const actions: readonly (readonly [string, Action])[] = [
  ["every parameter", { kind: "parameters", previous, changes: changesOf(all, names), policy }],
  ["a parameter, the first", { kind: "parameters", changes: changesOf(all, ["desiredPools"]) }],
  ["a hard fork", { kind: "hard fork", previous, version: { major: 11n, minor: 0n } }],
  ["payments", {
    kind: "treasury",
    payments: [[{ hex, network: 0, credential: { kind: "key", hash: "66".repeat(28) } }, 5n]],
    policy,
  }],
  ["no confidence", { kind: "no confidence" }],
  ["a committee", {
    kind: "committee",
    previous,
    removed: [script],
    added: [{ member: key, until: 7n }],
    quorum: { numerator: 2n, denominator: 3n },
  }],
  ["a constitution", { kind: "constitution", script: policy, anchor }],
  ["information", { kind: "info" }],
];

test.each(actions)("a proposal of %s is read back", (_name, action) => {
  const cbor = encodeProposal({ deposit: 100_000_000_000n, account: hex, action, anchor });
  expect(readProposal(decode(cbor))).toMatchObject({ deposit: 100_000_000_000n, account: { hex }, action, anchor });
  const transaction = encodeTransaction({ inputs: [newRef()], outputs: [], fee: 0n, proposals: [cbor] });
  expect(entry(decodeAll(scanTransaction(transaction).body), 20)).toBeDefined();
  const read = csl.Transaction.from_bytes(transaction).body().voting_proposals()!;
  expect(read.len()).toBe(1);
  expect(read.get(0).governance_action().kind()).toBe(
    ["parameters", "hard fork", "treasury", "no confidence", "committee", "constitution", "info"].indexOf(action.kind),
  );
});

test("changes of every parameter give these parameters", () => {
  const { protocolVersion } = mainnetParameters;
  const plain = { ...protocolParameters(mainnetParameters), desiredPools: 1, protocolVersion };
  expect(changeParameters(plain, changesOf(all, names))).toEqual(all);
});
