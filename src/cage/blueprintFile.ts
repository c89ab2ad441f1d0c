/** Reads the committed blueprint (CIP-57), so that a service need not build the contract. */
import { readFileSync } from "node:fs";
import { type Json, parseWritten } from "#src/base/json.ts";

let kept: Json | undefined;

/** The blueprint of the current version. */
export function committedBlueprint(): Json {
  return kept ??= parseWritten(readFileSync(new URL("./blueprint.json", import.meta.url), "utf8"));
}
