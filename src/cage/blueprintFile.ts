/** The contract's blueprint (CIP-57) as it is committed: no service has to build the contract to tell it. */
import { readFileSync } from "node:fs";
import { type Json, parseWritten } from "#src/base/json.ts";

let kept: Json | undefined;

/** The blueprint of the current version. */
export function committedBlueprint(): Json {
  return kept ??= parseWritten(readFileSync(new URL("./blueprint.json", import.meta.url), "utf8"));
}
