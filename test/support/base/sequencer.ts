/** Order of the test files of a run. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, longest first: whichever of them began last would run alone at the end. */
const LONGEST = [
  "system/together/on_request",
  "system/operator/pages",
  "system/tokens/page",
  "system/together/blocks",
  "system/docs/docs",
  "system/wallets/page",
  "system/devnet/page",
  "system/app/first_contact",
  "system/cardano-wallet/suite",
  "system/cli/arbor",
  "system/app/docs",
  "system/runtime/faults",
];

/** Unit tests that load all modules again, for themselves and for what follows: first, while few are loaded. */
const LOADING_AGAIN = ["unit/base/trace", "unit/plutus/context-opinions", "unit/cage/version2"];

const FIRST = [...LONGEST, ...LOADING_AGAIN];

const rank = ({ moduleId }: TestSpecification) => {
  const place = FIRST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return place < 0 ? FIRST.length : place;
};

/** Those files first, then as vitest orders them: by what they took before, or by size. */
export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
