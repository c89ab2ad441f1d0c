/** A wallet's transactions in responses to clients. */
import { expect, it } from "vitest";
import { initHash } from "#src/cardano/hash.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { transactionView } from "#src/wallets/http/history.ts";
import type { WalletTransaction } from "#src/wallets/index/types.ts";
import { transactionOf } from "../../../support/wallets/walletIndexModel.ts";

await initHash();

const eras: Eras = {
  systemStart: 0,
  current: "Byron",
  history: [{
    start: { time: 0n, slot: 0, epoch: 0 },
    end: undefined,
    terms: { epochLength: 100, slotLength: 1_000, safeZone: 300, genesisWindow: 300 },
  }],
};
const telling = {
  eras,
  networkId: 0,
  height: 9,
  form: "tagged",
  own: { account: undefined, policyKey: undefined },
} as const;

/** The reported script validity of a transaction. */
function judged(valid: boolean, more: Partial<WalletTransaction>) {
  const ref = { txHash: "11".repeat(32), index: 0 };
  const output = { address: `60${"ee".repeat(28)}`, value: lovelace(2_000_000n) };
  const transaction = scanTransaction(
    transactionOf({ inputs: [ref], outputs: [output], fee: 1n, valid, collateral: [ref] }),
  );
  const one: WalletTransaction = {
    hash: transaction.hash,
    status: "in_ledger",
    transaction,
    slot: 5,
    height: 3,
    direction: "outgoing",
    amount: 1n,
    depositTaken: 0n,
    depositReturned: 0n,
    known: new Map(),
    own: new Map(),
    ...more,
  };
  return transactionView(one, telling).script_validity;
}

it("states how the ledger judged scripts, as soon as it did and if it can be known", () => {
  expect(judged(true, { era: 7 })).toBe("valid");
  expect(judged(false, { era: 5 })).toBe("invalid");
  // of an earlier era, and not in the ledger yet
  expect(judged(true, { era: 4 })).toBeNull();
  expect(judged(true, { status: "pending" })).toBeNull();
});
