/** Order of the test files of a run. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, longest first: whichever of them began last would run alone at the end. */
const LONGEST = [
  "test/system/together/onRequest",
  "test/system/operators/pages",
  "test/system/tokens/page",
  "test/system/together/blocks",
  "test/system/docs/docs",
  "test/system/wallets/page",
  "test/system/devnet/page",
  "test/system/app/firstContact",
  "test/system/cardano-wallet/suite",
  "test/system/cli/arbor",
  "test/system/app/docs",
  "test/system/runtime/faults",
];

/** Unit tests that load all modules again, for themselves and for what follows: first, while few are loaded. */
const LOADING_AGAIN = ["test/unit/base/trace", "test/unit/plutus/contextOpinions", "test/unit/contract/version2"];

/** All of them, in their order. */
export const FIRST = [...LONGEST, ...LOADING_AGAIN];

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
