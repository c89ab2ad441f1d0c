/** Messages that Ogmios 7.0 wrote, with random content, and the schemas that they keep. */
import { Ajv, type ValidateFunction } from "ajv";
import { readdirSync, readFileSync } from "node:fs";
import { type Json, parseJson } from "#src/base/json.ts";
import { vectors } from "../base/vectors.ts";

const read = (file: string) => readFileSync(vectors(`ogmios/${file}`), "utf8");

/** The directories of messages, each with the property of the schema that they keep. */
export const directories: readonly (readonly [directory: string, property: string])[] = readdirSync(vectors("ogmios"))
  .flatMap((file) => file.endsWith(".jsonl") ? [file.slice(0, -".jsonl".length)] : [])
  .map((name) => [name, propertyOf(name)]);

function propertyOf(directory: string): string {
  // queries' directories hold answers
  const [name = ""] = directory.split("_");
  return /^Query/.test(name)
    ? `${name}Response`
    : name.replace(/(Acquire|Release)(LedgerState|Mempool)Request$/, "$1$2");
}

/** The messages of a directory of Ogmios' test vectors, with exact integers. Directories that begin with Query hold answers. */
export function golden(directory: string): Json[] {
  return read(`${directory}.jsonl`).trimEnd().split("\n").map(parseJson);
}

let ajv: Ajv | undefined;
const validators = new Map<string, ValidateFunction>();

/**
 * Why a message breaks the schema of version 7: of a property of `ogmios.json`, such as `NextBlockResponse`, or of a definition of
 * `cardano.json`, such as `cardano/Block`. Undefined if it keeps it. Integers beyond 2^53 are rounded before, which no rule sees.
 */
export function schemaFault(name: string, message: unknown): string | undefined {
  ajv ??= new Ajv({ strict: false, validateFormats: false, schemas: ["cardano.json", "ogmios.json"].map(schemaOf) });
  let validate = validators.get(name);
  if (!validate) {
    const [file, definition] = name.split("/");
    validate = ajv.compile({
      $ref: definition
        ? `${file}.json#/definitions/${encodeURIComponent(definition)}`
        : `ogmios.json#/properties/${name}`,
    });
    validators.set(name, validate);
  }
  if (validate(rounded(message))) return undefined;
  return JSON.stringify(validate.errors?.slice(0, 5), undefined, 1);
}

function schemaOf(file: string): object {
  const { $schema: _, ...schema } = JSON.parse(read(file));
  const { Value, RewardTransfer, ProjectedRewards } = schema.definitions;
  // as published these forbid what every message of Ogmios has
  if (Value) Value.propertyNames.pattern = "^(ada|[0-9a-f]{56})$";
  if (RewardTransfer) RewardTransfer.propertyNames.pattern = "^([0-9a-f]{56}|stake(_test)?1[0-9a-z]+)$";
  if (ProjectedRewards) ProjectedRewards.additionalProperties.propertyNames.pattern = "^pool1[0-9a-z]+$";
  return { ...schema, $id: file };
}

/** A message with numbers for its large integers, without members that are undefined. */
function rounded(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message, (_, value) => typeof value === "bigint" ? Number(value) : value));
}

/** A message with another value at a path, whose numbers choose among the members of each level. */
export function replaced(json: Json, [step = 0, ...path]: readonly number[], value: Json): Json {
  if (typeof json !== "object" || json === null) return value;
  const keys = Object.keys(json);
  const key = keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return value;
  const inner = path.length === 0 ? value : replaced((json as { [key: string]: Json })[key]!, path, value);
  return Array.isArray(json) ? json.with(Number(key), inner) : { ...json, [key]: inner };
}
