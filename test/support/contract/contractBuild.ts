/**
 * The versions of the contract that tests run on: those that the source builds, by default the current one. A test file
 * selects version 2 by importing `version2.ts` before any module that reads this one.
 */
import { buildScript, builtScripts } from "#src/contract/build.ts";
import type { CageScript } from "#src/contract/script.ts";
import type { BuildOptions } from "#src/contract/uplc/program.ts";

export type BuildName = "2.0.0" | "3.0.0";

export interface ContractBuild {
  readonly name: BuildName;
  readonly options: BuildOptions;
  readonly script: CageScript;
}

/** The names of the versions. */
export const BUILDS: readonly BuildName[] = ["2.0.0", "3.0.0"];

export function contractBuild(name: BuildName): ContractBuild {
  const options = { caseOnConstants: name === "3.0.0" };
  return { name, options, script: options.caseOnConstants ? builtScripts()[1] : buildScript() };
}

let chosen: ContractBuild | undefined;

/** The build that this test file (or thread) runs on. */
export function theBuild(): ContractBuild {
  return chosen ??= contractBuild("3.0.0");
}

/**
 * Selects the build.
 * @throws TypeError if another one is in use already
 */
export function chooseBuild(name: BuildName): void {
  if (chosen && chosen.name !== name) throw new TypeError(`the build ${chosen.name} is in use`);
  chosen = contractBuild(name);
}
