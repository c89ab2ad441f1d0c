/** Messages that Ogmios 7.0 wrote, with random content, and the schemas that they keep. */
import { Ajv, type ValidateFunction } from "ajv";
import { readFileSync } from "node:fs";
import { type Json, parseJson } from "#src/base/json.ts";
import { vectors } from "../base/vectors.ts";

const read = (file: string) => readFileSync(vectors(`ogmios/${file}`), "utf8");

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
  return { ...schema, $id: file };
}

/** A message with numbers for its large integers, without members that are undefined. */
function rounded(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message, (_, value) => typeof value === "bigint" ? Number(value) : value));
}
