/** No transaction that does anything else is accepted for an intent; the built ones are. */
import { beforeAll, describe, expect, test } from "vitest";
import { toJson } from "#src/base/json.ts";
import { initHash } from "#src/cardano/hash.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import { type Intent, type Limits, type NotIntended, requireIntent, type Summary } from "#src/client/summary.ts";
import { attacks } from "../../../support/tokens/attacks.ts";
import { bound, taken } from "../../../support/ledger/editableTransactions.ts";
import { meantTransactions } from "../../../support/tokens/summaries.ts";

const all = meantTransactions();

async function reasons(
  transaction: Uint8Array,
  intent: Intent,
  known: ReadonlyMap<string, Output>,
): Promise<readonly string[]> {
  const checked = await requireIntent(transaction, intent, { resolve: () => known });
  if (checked.ok) return [];
  const { code, details } = checked.error;
  if (code !== "not_as_intended") return [code];
  return (details as NotIntended["details"]).reasons.map((one) => one.code);
}

beforeAll(initHash);

describe.each(all)("$name", (meant) => {
  test("is accepted for its intent", async () => {
    expect(await reasons(meant.transaction, meant.intent, meant.known)).toEqual([]);
    expect(await reasons(bound(taken(meant.transaction)), meant.intent, meant.known)).toEqual([]);
  });

  test.each(attacks.filter(({ on }) => on?.(meant) ?? true))("is refused when it $name", async (attack) => {
    const edited = taken(meant.transaction);
    const more = attack.run(edited, meant) ?? [];
    const known = new Map([...meant.known, ...more.map(({ ref, output }) => [refKey(ref), output] as const)]);
    expect(await reasons(bound(edited), meant.intent, known)).toContain(attack.why);
  });

  test("is refused for every other intent", async () => {
    for (const other of all) {
      if (toJson(other.intent) === toJson(meant.intent)) continue;
      expect([other.name, await reasons(meant.transaction, other.intent, meant.known)]).not.toEqual([other.name, []]);
    }
  });

  test("is refused under stricter limits", async () => {
    const { fee, collateral } = meant.summary;
    const tight: Partial<Limits>[] = [
      { maxFee: fee - 1n },
      { validUntil: meant.built.validTo - 1 },
      { policy: "00".repeat(28) },
      ...(collateral ? [{ maxCollateral: collateral.total! - 1n }] : []),
    ];
    for (const limits of tight) {
      const found = await reasons(meant.transaction, { ...meant.intent, ...limits } as Intent, meant.known);
      expect([limits, found]).not.toEqual([limits, []]);
    }
    const exact = { maxFee: fee, validUntil: meant.built.validTo };
    expect(await reasons(meant.transaction, { ...meant.intent, ...exact }, meant.known)).toEqual([]);
  });

  test("is refused if its inputs are unknown", async () => {
    for (const { outputRef } of inputsOf(meant.summary)) {
      const known = new Map(meant.known);
      known.delete(outputRef.replace("-", "#"));
      expect(await reasons(meant.transaction, meant.intent, known)).not.toEqual([]);
    }
  });
});

function inputsOf({ spends, references, collateral }: Summary) {
  return [...spends, ...references, ...collateral?.inputs ?? []];
}
