/** Collateral: what a transaction forfeits when its scripts fail (rule UTXO, `validateTotalCollateral`). */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { lovelace, subtractValues, type Value } from "#src/cardano/value.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { type Input, paymentCredential } from "#src/ledger/inputs.ts";
import { boundedSum } from "#src/ledger/rules/sums.ts";

/** What would be forfeited: the collateral inputs that are there, minus the return. */
export async function forfeit(body: Body, collateral: readonly Input[]): Promise<Value> {
  const back = body.collateralReturn?.output.value ?? lovelace(0n);
  return subtractValues(await boundedSum(collateral.map(({ output }) => output.value), back.assets), back);
}

/** Checks the collateral of a transaction that has redeemers. */
export async function checkCollateral(
  body: Body,
  collateral: readonly Input[],
  parameters: Parameters,
): Promise<LedgerFailure[]> {
  const failures: LedgerFailure[] = [];
  const locked = collateral.filter(({ address }) => paymentCredential(address)?.kind === "script");
  if (locked.length > 0) failures.push({ name: "ScriptsNotPaidUTxO", inputs: locked.map(({ ref }) => ref) });
  const value = await forfeit(body, collateral);
  if (value.assets.size > 0) failures.push({ name: "CollateralContainsNonADA", value });
  const percent = body.fee * BigInt(parameters.collateralPercentage);
  if (value.lovelace * 100n < percent) {
    failures.push({ name: "InsufficientCollateral", supplied: value.lovelace, expected: (percent + 99n) / 100n });
  }
  if (body.totalCollateral !== undefined && body.totalCollateral !== value.lovelace) {
    failures.push({
      name: "IncorrectTotalCollateralField",
      supplied: body.totalCollateral,
      expected: value.lovelace,
    });
  }
  if (collateral.length === 0) failures.push({ name: "NoCollateralInputs" });
  return failures;
}
