/** Certificates and withdrawals in wallets' encoding, decoded by our scanner and by another library. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { describe, expect, test } from "vitest";
import { rewardAddress } from "#src/cardano/address.ts";
import { type Certificate, walkCertificate } from "#src/cardano/certificates.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { encodeTransaction, redeemerIndices } from "#src/cardano/transaction.ts";
import { Walk } from "#src/cardano/walk.ts";
import { type AccountCertificate, type DRepCertificate, encodeCertificate } from "#src/cardano/encodeCertificate.ts";
import { newRef } from "../../support/wallets/person.ts";

const key = { kind: "key", hash: "11".repeat(28) } as const;
const script = { kind: "script", hash: "22".repeat(28) } as const;
const pool = "33".repeat(28);

const anchor = { url: "https://example.org/drep.jsonld", hash: "44".repeat(32) };

const certificates: readonly (readonly [string, AccountCertificate | DRepCertificate])[] = [
  ["registration of Shelley", { kind: "register", credential: key }],
  ["registration with a deposit", { kind: "register", credential: script, deposit: 2_000_000n }],
  ["end of Shelley", { kind: "unregister", credential: script }],
  ["end with a refund", { kind: "unregister", credential: key, refund: 2_000_000n }],
  ["delegation to a pool", { kind: "delegate", credential: key, to: { pool } }],
  ["vote of a key", { kind: "delegate", credential: key, to: { drep: key } }],
  ["vote of a script", { kind: "delegate", credential: script, to: { drep: script } }],
  ["abstention", { kind: "delegate", credential: key, to: { drep: { kind: "abstain" } } }],
  ["no confidence, and a pool", { kind: "delegate", credential: key, to: { pool, drep: { kind: "no confidence" } } }],
  ["registration at a pool", { kind: "register", credential: key, deposit: 5n, to: { pool } }],
  ["registration with a vote", { kind: "register", credential: key, deposit: 5n, to: { drep: { kind: "abstain" } } }],
  ["registration with both", { kind: "register", credential: key, deposit: 5n, to: { pool, drep: key } }],
  ["registration of a representative", { kind: "register drep", credential: key, deposit: 500_000_000n }],
  ["registration with metadata", { kind: "register drep", credential: script, deposit: 5n, anchor }],
  ["other metadata", { kind: "update drep", credential: key, anchor }],
  ["no metadata any more", { kind: "update drep", credential: script }],
  ["end of a representative", { kind: "unregister drep", credential: key, refund: 5n }],
];

describe("certificates", () => {
  test.each(certificates)("%s", (_, certificate) => {
    const bytes = encodeCertificate(certificate);
    expect(walkCertificate(new Walk(bytes))).toEqual(certificate satisfies Certificate);
    expect(csl.Certificate.from_bytes(bytes).to_bytes()).toEqual(bytes);
  });

  test("are not encoded if meaningless", () => {
    expect(() => encodeCertificate({ kind: "delegate", credential: key, to: {} })).toThrow(TypeError);
    expect(() => encodeCertificate({ kind: "register", credential: key, to: { pool } })).toThrow(TypeError);
  });
});

test("withdrawals are in the ledger's order: scripts before keys", () => {
  const [ofKey, ofScript] = [rewardAddress(0, key).hex, rewardAddress(0, script).hex];
  const withdrawals = [{ account: ofKey, amount: 5n }, { account: ofScript, amount: 7n }];
  const transaction = encodeTransaction({ inputs: [newRef()], outputs: [], fee: 0n, withdrawals });
  expect([...scanTransaction(transaction).withdrawals]).toEqual([[ofScript, 7n], [ofKey, 5n]]);
  expect(csl.Transaction.from_bytes(transaction).body().withdrawals()!.len()).toBe(2);
  const indexOf = redeemerIndices({ inputs: [], withdrawals });
  expect([ofScript, ofKey].map((account) => indexOf({ purpose: "reward", account }))).toEqual([0, 1]);
});
