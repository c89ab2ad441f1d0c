/** A wallet's balances in responses. */
import { expect, it } from "vitest";
import { lovelace } from "#src/cardano/value.ts";
import { isWithdrawing } from "#src/wallets/walletReads.ts";
import { balanceView } from "#src/wallets/http/walletView.ts";
import type { WalletAccount } from "#src/wallets/delegation/read.ts";

const stake = "ab".repeat(28);
const account = { credential: { kind: "key", hash: stake }, rewards: 5n } as unknown as WalletAccount;
const ada = (quantity: bigint) => ({ quantity: Number(quantity), unit: "lovelace" });

it("counts rewards once while their withdrawal is pending", () => {
  const holdings = { available: lovelace(10n), total: lovelace(12n) };
  expect(balanceView({ holdings, account, withdrawing: false })).toEqual({
    available: ada(10n),
    reward: ada(5n),
    total: ada(17n),
  });
  expect(balanceView({ holdings, account, withdrawing: true }).total).toEqual(ada(12n));
  expect(balanceView({ holdings, account: undefined, withdrawing: false }).total).toEqual(ada(12n));
});

it("detects who withdraws", () => {
  const from = (address: string) => ({ withdrawals: new Map([[address, 5n]]) });
  expect(isWithdrawing(undefined, account, 0)).toBe(false);
  expect(isWithdrawing([from(`e0${"cd".repeat(28)}`), from(`e1${stake}`)], account, 0)).toBe(false);
  expect(isWithdrawing([from(`e0${"cd".repeat(28)}`), from(`e0${stake}`)], account, 0)).toBe(true);
});
