/** Random bytes as programs: every one of them has a verdict. */
import { expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { evaluate, type Rules } from "#src/plutus/machine/evaluate.ts";
import { conformancePrograms, mainnetCostModels } from "../../../support/plutus/conformancePrograms.ts";
import { dice } from "../../../support/contract/proofFuzz.ts";
import { cases } from "../../../support/base/longTests.ts";

const models = mainnetCostModels();
const LIMIT = { memory: 1_000_000n, steps: 1_000_000_000n };
const RULES: readonly Rules[] = ([1, 2, 3] as const).flatMap((language) =>
  [9, 10, 11].map((protocolMajor) => ({ language, protocolMajor, costModel: models[language] }))
);

it("a program with some bits changed succeeds or fails, and spends no more than its budget", () => {
  const roll = dice(11);
  // points of curves take milliseconds each
  const programs = conformancePrograms().filter(({ name, flat }) => flat && !/bls|Signature/.test(name));
  const kinds = new Map<string, number>();
  for (let i = 0; i < cases(10_000, 20_000); i++) {
    const bytes = fromHex(programs[roll(programs.length)]!.flat!);
    for (let flips = roll(4); flips >= 0; flips--) {
      // the first bits are the version
      const bit = 16 + roll(8 * bytes.length - 16);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
    const outcome = evaluate(bytes, [], RULES[roll(RULES.length)]!, LIMIT);
    const kind = outcome.ok ? "ok" : outcome.kind;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if (outcome.ok) {
      expect(outcome.spent.memory).toBeLessThanOrEqual(LIMIT.memory);
      expect(outcome.spent.steps).toBeLessThanOrEqual(LIMIT.steps);
    }
  }
  for (const kind of ["ok", "decoding", "open-term", "budget", "error", "type", "builtin", "branch", "version"]) {
    expect(kinds.get(kind), kind).toBeGreaterThan(0);
  }
});
