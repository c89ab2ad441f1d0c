/** Blueprints (CIP-57) of the versions of the contract that new tokens have. */
import blueprint from "#src/contract/blueprint.json" with { type: "json" };
import secondVersion from "#src/contract/blueprint-2.0.0.json" with { type: "json" };
import type { CageScript } from "#src/contract/script.ts";

const blueprints = [secondVersion, blueprint];

/** The blueprint of a version. @throws {TypeError} for version 1.0.0, which no new token has. */
export function blueprintOf({ version }: CageScript): (typeof blueprints)[number] {
  const found = blueprints.find(({ preamble }) => preamble.version === version);
  if (found === undefined) throw new TypeError(`no blueprint of version ${version} of the contract`);
  return found;
}
