/** Blaze's builder as a second opinion of ours: with the same inputs and payments, the same transaction at the same fee. */
import { describe, expect, it } from "vitest";
import { refKey } from "#src/cardano/output.ts";
import { paymentKeyHash } from "#src/cardano/address.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { construct } from "#src/wallets/builds/construct.ts";
import { cases } from "../../../support/base/longTests.ts";
import { builtByBlaze, randomPayments } from "../../../support/wallets/blazePayments.ts";
import { judged, setting, signedBy, signedFor, walletFunds } from "../../../support/wallets/fundedWallet.ts";

const CASES = cases(20, 500);

describe("payments by Blaze's builder", () => {
  it("are valid as ours are, with the same outputs and a fee within 1 %", async () => {
    const apart: number[] = [];
    for (let seed = 1; apart.length < CASES; seed++) {
      // far fewer than half of the wallets have no change
      expect(seed, "seeds of wallets with change").toBeLessThan(3 * CASES);
      const { coins, intent } = randomPayments(seed);
      const built = construct({ ...setting, intent, funds: walletFunds(coins, { selection: "round-robin" }), seed });
      if (!built.ok) throw new Error(`seed ${seed}: ${built.error.code}: ${built.error.message}`);
      const known = coins.map(({ utxo }) => utxo);
      const theirs = await builtByBlaze(built.value, known);
      if (!theirs) continue;
      const ours = scanTransaction(built.value.transaction);
      const other = scanTransaction(theirs);
      const spent = new Set(ours.inputs.map(refKey));
      expect(other.inputs.map(refKey).sort(), `seed ${seed}`).toEqual([...spent].sort());
      const keys = known.filter(({ ref }) => spent.has(refKey(ref))).map(({ output }) =>
        paymentKeyHash(output.address)!
      );
      expect(await judged(signedFor(built.value), known), `ours of seed ${seed}`).toEqual([]);
      expect(await judged(signedBy(theirs, keys), known), `theirs of seed ${seed}`).toEqual([]);

      const plain = ({ outputs }: typeof ours) =>
        outputs.map(({ address, value: { assets } }) => ({ address, assets }));
      expect(plain(other), `seed ${seed}`).toEqual(plain(ours));
      const amounts = ({ outputs }: typeof ours) => outputs.slice(0, -1).map(({ value }) => value.lovelace);
      expect(amounts(other), `seed ${seed}`).toEqual(amounts(ours));
      const [fee, otherFee] = [Number(ours.fee), Number(other.fee)];
      expect(Math.abs(otherFee - fee) / fee, `seed ${seed}: ${fee} and ${otherFee}`).toBeLessThanOrEqual(0.01);
      apart.push(otherFee - fee);
    }
    console.warn(`Blaze's fees less ours, in lovelace: ${Math.min(...apart)} to ${Math.max(...apart)}`);
  });
});
