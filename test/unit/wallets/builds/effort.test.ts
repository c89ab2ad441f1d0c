/** How often a transaction is drafted until coins, change and fee agree: no intent may occupy a builder for long. */
import { expect, it } from "vitest";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { drafting } from "#src/transaction/drafting.ts";
import { balanceFee } from "#src/transaction/feeBalance.ts";
import { addressAt, ownCoin, setting } from "../../../support/wallets/fundedWallet.ts";

const { parameters } = setting;

/** Drafts for payments of an ada each, from 732 coins, some of them reserved. */
function drafts(count: number, selection: "round-robin" | "per-output", reserved: number) {
  const coins = Array.from(
    { length: 732 },
    (_, i) => ownCoin(i, i < 231 ? 6_000_000n : 1_100_000n, undefined, i < reserved ? 2 + i : 0),
  );
  const payment = { address: addressAt(1), value: lovelace(1_000_000n) };
  const outputs = Array.from({ length: count }, () => payment);
  let times = 0;
  const write = drafting({
    parameters,
    inputs: [],
    references: [],
    redeemers: [],
    keys: [],
    scripts: [],
    known: new Map(),
    write: ({ inputs, change, fee }) => {
      times++;
      return encodeTransaction({ inputs, outputs: [...outputs, ...change], fee });
    },
  });
  const { failure } = balanceFee(
    { coins, change: [addressAt(9)], strategy: selection, seed: 5 },
    { payments: outputs.map(({ value }) => value), surplus: lovelace(0n) },
    parameters,
    write,
  );
  return { times, found: failure?.reason ?? "balanced" };
}

it.each(
  [
    [100, "round-robin", 0, "balanced"],
    [150, "round-robin", 300, "balanced"],
    [200, "round-robin", 300, "too_large"],
    [100, "per-output", 300, "balanced"],
    [200, "per-output", 300, "too_large"],
  ] as const,
)("%i payments %s, %i coins reserved", (count, selection, reserved, found) => {
  const tried = drafts(count, selection, reserved);
  expect(tried.found).toBe(found);
  expect(tried.times).toBeLessThan(400);
});
