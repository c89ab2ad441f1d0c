/**
 * The builds of the contract that tests run on: the published one, and the unpublished one for protocol version 11,
 * which uses `case` on constants. A test file selects the second one by importing `cased_build.ts` before any module
 * that reads this one.
 */
import { buildScript } from "#src/cage/build.ts";
import { type CageScript, cageScript } from "#src/cage/script.ts";
import type { BuildOptions } from "#src/cage/uplc/program.ts";

export type BuildName = "published" | "cased";

export interface ContractBuild {
  readonly name: BuildName;
  readonly options: BuildOptions;
  readonly script: CageScript;
}

const BUILDS: Readonly<Record<BuildName, () => ContractBuild>> = {
  published: () => ({ name: "published", options: {}, script: cageScript }),
  cased: () => {
    const options = { caseOnConstants: true };
    return { name: "cased", options, script: buildScript(options) };
  },
};

export function contractBuild(name: BuildName): ContractBuild {
  return BUILDS[name]();
}

let chosen: ContractBuild | undefined;

/** The build that this test file (or thread) runs on. */
export function theBuild(): ContractBuild {
  return chosen ??= contractBuild("published");
}

/**
 * Selects the build.
 * @throws TypeError if another one is in use already
 */
export function chooseBuild(name: BuildName): void {
  if (chosen && chosen.name !== name) throw new TypeError(`the build ${chosen.name} is in use`);
  chosen = contractBuild(name);
}
