// @ts-check
/** What a document says, as text: types of values in the manner of TypeScript, endpoints in groups. */

/**
 * A schema of the document.
 * @typedef {{
 *   $ref?: string, type?: string | string[], enum?: unknown[], const?: unknown, items?: Schema, properties?: Record<string, Schema>,
 *   required?: string[], additionalProperties?: Schema | boolean, anyOf?: Schema[], oneOf?: Schema[], allOf?: Schema[], format?: string,
 *   description?: string, minimum?: number, maximum?: number, maxLength?: number, minItems?: number, default?: unknown, contentMediaType?: string
 * }} Schema
 * @typedef {Record<string, Schema>} Schemas
 */

/** Schemas within schemas that are written out; deeper ones have their name alone. */
const DEPTH = 6;

/**
 * A schema as text of several lines. One with a name is written out where it comes first; within itself, and deeper than that, it has its name.
 * @param {Schema | undefined} schema @param {Schemas} schemas @param {string} [indent] @param {readonly string[]} [within]
 * @returns {string}
 */
export function shapeOf(schema, schemas, indent = "", within = []) {
  if (schema === undefined) return "anything";
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    if (within.includes(name) || within.length >= DEPTH || schemas[name] === undefined) return name;
    return shapeOf(schemas[name], schemas, indent, [...within, name]);
  }
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts !== undefined) return union(parts.map((one) => shapeOf(one, schemas, indent, within)));
  if (schema.allOf !== undefined) return schema.allOf.map((one) => shapeOf(one, schemas, indent, within)).join(" & ");
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return union(types.map((type) => typed(type, schema, schemas, indent, within)));
}

/** @param {string[]} parts */
const union = (parts) => [...new Set(parts)].join(" | ");

/**
 * @param {string | undefined} type @param {Schema} schema @param {Schemas} schemas @param {string} indent @param {readonly string[]} within
 * @returns {string}
 */
function typed(type, schema, schemas, indent, within) {
  switch (type) {
    case "array":
      return `[${shapeOf(schema.items, schemas, indent, within)}]`;
    case "object":
      return object(schema, schemas, indent, within);
    case undefined:
      return schema.properties === undefined ? "anything" : object(schema, schemas, indent, within);
    case "string":
      return schema.format === undefined ? "string" : `string (${schema.format})`;
    default:
      return type;
  }
}

/** @param {Schema} schema @param {Schemas} schemas @param {string} indent @param {readonly string[]} within */
function object({ properties = {}, required = [], additionalProperties }, schemas, indent, within) {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, one]) => {
    const mark = required.includes(name) ? "" : "?";
    const note = one.description === undefined ? "" : `  // ${one.description.replace(/\s+/g, " ")}`;
    return `${inner}${name}${mark}: ${shapeOf(one, schemas, inner, within)}${note}`;
  });
  if (typeof additionalProperties === "object") {
    lines.push(`${inner}[name]: ${shapeOf(additionalProperties, schemas, inner, within)}`);
  }
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n${indent}}`;
}

/**
 * @typedef {{ in: string, name: string, required?: boolean, description?: string, schema?: Schema }} Parameter
 * @typedef {{ description?: string, content?: Record<string, { schema?: Schema }> }} Content
 * @typedef {{
 *   summary?: string, description?: string, operationId?: string, parameters?: Parameter[], requestBody?: Content & { required?: boolean },
 *   responses: Record<string, Content>
 * }} Operation
 * @typedef {{ method: string, path: string, group: string, operation: Operation }} Endpoint
 */

/**
 * All endpoints of a document, in its order, each with its group: the first part of its path.
 * @param {Record<string, Record<string, Operation>>} paths @returns {Endpoint[]}
 */
export function endpointsOf(paths) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, group: path.split("/")[1] ?? "", operation }))
  );
}

/** Whether an endpoint has every word of a filter, in its path, its name or what is said of it. @param {Endpoint} endpoint @param {string} filter */
export function fits({ method, path, operation }, filter) {
  const { summary, description, operationId, responses } = operation;
  const said = Object.entries(responses).map(([status, of]) => `${status} ${of.description ?? ""}`);
  const text = [method, path, operationId, summary, description, ...said].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
