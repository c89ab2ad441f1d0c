/** Amounts in requests to the wallet service. */
import { expect, it } from "vitest";
import { assetHeld, assetToPay } from "#src/wallets/api/amounts.ts";
import { constructBody } from "#src/wallets/api/transactions.ts";

const MOST = 2n ** 64n - 1n;
const asset = (quantity: bigint | number) => ({ policy_id: "ab".repeat(28), asset_name: "", quantity });

it("accepts amounts beyond what an output can hold, which are refused by name later, and no other number of that size", () => {
  expect(assetToPay.parse(asset(MOST + 1n)).quantity).toBe(MOST + 1n);
  expect(assetHeld.safeParse(asset(MOST + 1n)).success).toBe(false);
  expect(assetHeld.parse(asset(MOST)).quantity).toBe(MOST);
  for (const bad of [-1n, 1.5]) expect(assetToPay.safeParse(asset(bad)).success).toBe(false);
  const mint = (quantity: bigint) => ({
    mint_burn: [{ policy_script_template: "cosigner#0", operation: { mint: { quantity } } }],
  });
  expect(constructBody.safeParse(mint(MOST + 1n)).success).toBe(true);
  expect(constructBody.safeParse(mint(-1n)).success).toBe(false);
});
