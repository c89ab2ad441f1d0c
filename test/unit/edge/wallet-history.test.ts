/** A wallet's transactions as clients are told them. */
import { expect, it } from "vitest";
import { initHash } from "#src/cardano/hash.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { transactionView } from "#src/edge/wallets/history.ts";
import type { WalletTransaction } from "#src/wallet/index/types.ts";
import { transactionOf } from "../../support/wallet_index_model.ts";

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

/** How a transaction's scripts are said to have been judged. */
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

it("says how the ledger judged scripts, as soon as it did and where it could", () => {
  expect(judged(true, { era: 7 })).toBe("valid");
  expect(judged(false, { era: 5 })).toBe("invalid");
  // of an era before, and not in the ledger yet
  expect(judged(true, { era: 4 })).toBeNull();
  expect(judged(true, { status: "pending" })).toBeNull();
});
