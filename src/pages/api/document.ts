/** The OpenAPI document of the service, as the API page reads it. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header" | "cookie";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

/** A body: its form, and one example of it, or several by the query that they answer. */
interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** Bodies by media type. */
export type Content = Readonly<Record<string, Media>>;

interface DescribedOperation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content; readonly required?: boolean };
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
}

interface Server {
  readonly url: string;
}

export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly servers?: readonly Server[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly security?: readonly unknown[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface Operation extends DescribedOperation {
  /** The method in capitals and the path of the document: `GET /token/{tokenId}`. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** What stands before the path in a URL of this service: `/v2`, or nothing. */
  readonly prefix: string;
  readonly title: string;
}

export interface OperationGroup {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

const METHODS = ["get", "post", "put", "patch", "delete"];
const OTHERS = "Operations";

/** The operations of a document in its groups: in the order of its tags, then those without one. */
export function groupsOf({ paths, tags = [], servers = [] }: ApiDocument): OperationGroup[] {
  const byName = new Map<string, Operation[]>();
  for (const [path, item] of Object.entries(paths)) {
    const [server = servers[0]] = (item["servers"] ?? []) as readonly Server[];
    for (const method of METHODS) {
      const described = item[method] as DescribedOperation | undefined;
      if (described === undefined) continue;
      const id = `${method.toUpperCase()} ${path}`;
      const prefix = (server?.url ?? "").replace(/\/$/, "");
      const operation = {
        ...described,
        id,
        method: method.toUpperCase(),
        path,
        prefix,
        title: described.summary ?? id,
      };
      const name = described.tags?.[0] ?? OTHERS;
      byName.set(name, [...byName.get(name) ?? [], operation]);
    }
  }
  const known = tags.map(({ name, description = "" }) => ({ name, description }));
  const rest = [...byName.keys()].filter((name) => !tags.some((tag) => tag.name === name));
  return [...known, ...rest.map((name) => ({ name, description: "" }))]
    .map((group) => ({ ...group, operations: byName.get(group.name) ?? [] }))
    .filter(({ operations }) => operations.length > 0);
}

/** The groups with the operations that have every word of a text in their method, path, texts or names of parameters. */
export function found(groups: readonly OperationGroup[], text: string): OperationGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [...groups];
  return groups.map((group) => ({
    ...group,
    operations: group.operations.filter(({ id, title, description = "", parameters = [] }) => {
      const names = parameters.map(({ name }) => name).join(" ");
      const all = `${group.name} ${id} ${title} ${description} ${names}`.toLowerCase();
      return words.every((word) => all.includes(word));
    }),
  })).filter(({ operations }) => operations.length > 0);
}

/** The schema behind a reference of the document; an unknown one is a schema without rules. */
export function resolved({ components }: ApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  return name === undefined ? schema : components?.schemas?.[name] ?? {};
}

/** The type of a value in one word or two: `string (date-time)`, `list of Token`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const branches = schema.oneOf ?? schema.anyOf;
  if (branches !== undefined) return [...new Set(branches.map(typeOf))].join(" | ");
  const types = typeof schema.type === "string" ? [schema.type] : schema.type ?? (schema.properties ? ["object"] : []);
  if (types.length === 0) return "any";
  const named = types.map((type) => type === "array" ? `list of ${typeOf(schema.items ?? {})}` : type).join(" | ");
  return schema.format === undefined ? named : `${named} (${schema.format})`;
}

/** The limits of a value as text; empty where it has none. */
export function limitsOf(schema: Schema): string {
  const between = (least: number | undefined, most: number | undefined, unit: string) =>
    least === undefined && most === undefined ? [] : [
      least === undefined
        ? `up to ${most}${unit}`
        : most === undefined
        ? `from ${least}${unit}`
        : `${least} to ${most}${unit}`,
    ];
  const shown = (bound: number | undefined) =>
    bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound;
  return [
    ...between(shown(schema.minimum), shown(schema.maximum), ""),
    ...between(schema.minLength, schema.maxLength, " characters"),
    ...between(schema.minItems, schema.maxItems, " items"),
    ...(schema.pattern === undefined ? [] : [`matches ${schema.pattern}`]),
    ...(schema.default === undefined ? [] : [`by default ${JSON.stringify(schema.default)}`]),
  ].join(", ");
}
