/** How often a transaction is drafted until coins, change and fee agree: no wish may hold a builder for long. */
import { expect, it } from "vitest";
import { drafting } from "#src/wallet/build/draft.ts";
import { settle } from "#src/wallet/build/feeBalance.ts";
import { lovelace } from "#src/cardano/value.ts";
import { addressAt, meansOf, ownCoin, setting } from "../../../support/wallet_means.ts";

const { parameters } = setting;

/** Drafts for payments of an ada each, out of 732 coins of which others were offered some. */
function drafts(count: number, selection: "round-robin" | "per-output", offered: number) {
  const coins = Array.from(
    { length: 732 },
    (_, i) => ownCoin(i, i < 231 ? 6_000_000n : 1_100_000n, undefined, i < offered ? 2 + i : 0),
  );
  const payment = { address: addressAt(1), value: lovelace(1_000_000n) };
  const outputs = Array.from({ length: count }, () => payment);
  const draft = drafting({ parameters, parts: {}, keys: [], scripts: [], known: new Map(), referenceBytes: 0 });
  let times = 0;
  const outcome = settle(
    meansOf(coins, { selection }),
    { payments: outputs.map(({ value }) => value), surplus: lovelace(0n) },
    parameters,
    (chosen, change, fee) => {
      times++;
      return draft(chosen, [...outputs, ...change], fee);
    },
    5,
  );
  return { times, found: "settled" in outcome ? "settled" : outcome.failure.code };
}

it.each(
  [
    [100, "round-robin", 0, "settled"],
    [150, "round-robin", 300, "settled"],
    [200, "round-robin", 300, "transaction_is_too_big"],
    [100, "per-output", 300, "settled"],
    [200, "per-output", 300, "transaction_is_too_big"],
  ] as const,
)("%i payments %s, %i coins offered to others", (count, selection, offered, found) => {
  const tried = drafts(count, selection, offered);
  expect(tried.found).toBe(found);
  expect(tried.times).toBeLessThan(400);
});
