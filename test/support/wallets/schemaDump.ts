/**
 * The schemas of cardano-wallet's API in `test/vectors/wallet-schemas.txt`, read into a form that schemas of an OpenAPI
 * document can be compared with.
 */

/** A schema without descriptions and formats. */
export type Shape = {
  readonly nullable: boolean;
  readonly bounds: Readonly<Record<string, number>>;
} & Kind;

type Kind =
  | { readonly kind: "string"; readonly values: readonly string[] | undefined }
  | { readonly kind: "integer" | "number" | "boolean" | "any" | "never" }
  | { readonly kind: "array"; readonly items: Shape }
  | {
    readonly kind: "object";
    readonly properties: ReadonlyMap<string, { readonly required: boolean; readonly shape: Shape }>;
    /** The values of other properties; undefined if there may be none, or if nothing is said of them. */
    readonly others: Shape | undefined;
  }
  | { readonly kind: "union"; readonly alternatives: readonly (readonly [label: string, Shape])[] }
  | { readonly kind: "reference"; readonly name: string };

/** Reads the schemas of a dump by name. @throws Error at text of another form */
export function readDump(text: string): ReadonlyMap<string, Shape> {
  const schemas = new Map<string, Shape>();
  for (const part of text.split(/\n(?=\S+ = )/)) {
    const [, name, body] = /^(\S+) = ([\s\S]*)$/.exec(part.trim()) ?? [];
    if (name === undefined) throw new Error(`not a schema: ${part.slice(0, 80)}`);
    schemas.set(name, new Reader(body!).whole());
  }
  // the dump repeats a schema where it is used: its name again stands for it
  const names = new Map<string, string>();
  for (const [name, shape] of schemas) {
    const key = textOf(shape);
    if (isComposite(shape) && !names.has(key)) names.set(key, name);
  }
  return new Map([...schemas].map(([name, shape]) => [name, within(shape, (part) => named(part, names))]));
}

const isComposite = ({ kind }: Shape) => kind === "object" || kind === "union";

const textOf = (shape: Shape) => JSON.stringify(shape, (_, value) => value instanceof Map ? [...value] : value);

function named(shape: Shape, names: ReadonlyMap<string, string>): Shape {
  const name = isComposite(shape) ? names.get(textOf(shape)) : undefined;
  return name === undefined
    ? within(shape, (part) => named(part, names))
    : { kind: "reference", name, nullable: shape.nullable, bounds: {} };
}

/** A schema with each of its parts replaced. */
function within(shape: Shape, replace: (part: Shape) => Shape): Shape {
  switch (shape.kind) {
    case "array":
      return { ...shape, items: replace(shape.items) };
    case "union":
      return { ...shape, alternatives: shape.alternatives.map(([label, one]) => [label, replace(one)] as const) };
    case "object":
      return {
        ...shape,
        others: shape.others && replace(shape.others),
        properties: new Map(
          [...shape.properties].map(([name, { required, shape: one }]) => [name, { required, shape: replace(one) }]),
        ),
      };
    default:
      return shape;
  }
}

const PAIRS = [["minimum", "maximum"], ["minLength", "maxLength"], ["minItems", "maxItems"]] as const;
const BOUNDS: ReadonlySet<string> = new Set(PAIRS.flat());

class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  whole(): Shape {
    const shape = this.shape();
    this.space();
    if (this.at !== this.text.length) this.fail();
    return shape;
  }

  private shape(): Shape {
    this.space();
    if (this.take("[")) return this.array();
    if (this.take("{")) return this.object();
    const name = this.match(/[A-Za-z]+/y);
    if (["oneOf", "anyOf", "allOf"].includes(name) && this.take("(")) return this.union();
    const attributes = this.attributes();
    if (name === "string" || name === "None") {
      return { kind: "string", values: attributes.values, ...attributes.common };
    }
    if (name === "integer" || name === "number" || name === "boolean") return { kind: name, ...attributes.common };
    return { kind: "reference", name, ...attributes.common };
  }

  private array(): Shape {
    const { common } = this.attributes();
    const items = this.shape();
    this.expect("]");
    return { kind: "array", items, ...common };
  }

  private object(): Shape {
    const { common } = this.attributes();
    const properties = new Map<string, { required: boolean; shape: Shape }>();
    let others: Shape | undefined;
    for (;;) {
      this.space();
      if (this.take("}")) return { kind: "object", properties, others, ...common };
      if (this.take("[additional=")) {
        if (!this.take("False")) others = this.shape();
        this.expect("]");
        continue;
      }
      const name = this.match(/[\w-]+/y);
      const required = !this.take("?");
      this.expect(":");
      properties.set(name, { required, shape: this.shape() });
    }
  }

  private union(): Shape {
    const alternatives: [string, Shape][] = [];
    do {
      this.space();
      const [label] = /^[^|:{}[\]<>\n]*:(?=\S)/.exec(this.text.slice(this.at)) ?? [""];
      this.at += label.length;
      alternatives.push([label.slice(0, -1), this.shape()]);
      this.space();
    } while (this.take("|"));
    this.expect(")");
    const [only] = alternatives;
    if (alternatives.length === 1) return only![1];
    return { kind: "union", alternatives, nullable: false, bounds: {} };
  }

  private attributes() {
    let values: string[] | undefined;
    const common = { nullable: false, bounds: {} as Record<string, number> };
    if (this.take("<")) {
      // no attribute contains a ">" or, outside of brackets, a comma
      const end = this.text.indexOf(">", this.at);
      for (const [, name, value] of this.text.slice(this.at, end).matchAll(/(\w+)=(\[[^\]]*\](?=,|$)|[^,]*)/g)) {
        if (name === "enum") values = [...value!.matchAll(/'([^']*)'/g)].map(([, one]) => one!);
        else if (name === "nullable") common.nullable = value === "True";
        else if (BOUNDS.has(name!)) common.bounds[name!] = Number(value);
      }
      this.at = end + 1;
    }
    return { values, common };
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at += 1;
  }
  private take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }
  private expect(text: string): void {
    if (!this.take(text)) this.fail();
  }
  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? this.fail();
    this.at += found.length;
    return found;
  }
  private fail(): never {
    throw new Error(`not a schema at ${this.text.slice(this.at, this.at + 60)}`);
  }
}

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly pattern?: string;
  readonly minimum?: number;
}

/** Reads a schema of an OpenAPI 3.1 document. */
export function readSchema(schema: JsonSchema): Shape {
  const plain = { nullable: false, bounds: {} };
  if (schema.$ref !== undefined) return { kind: "reference", name: schema.$ref.split("/").at(-1)!, ...plain };
  if (schema.allOf?.length === 1) return readSchema(schema.allOf[0]!);
  const all = schema.anyOf ?? schema.oneOf;
  if (all !== undefined) {
    const others = all.filter(({ type }) => type !== "null");
    const nullable = others.length < all.length;
    if (others.length === 1) return { ...readSchema(others[0]!), ...(nullable ? { nullable } : {}) };
    return { kind: "union", alternatives: others.map((one, n) => [`${n}`, readSchema(one)]), nullable, bounds: {} };
  }
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  const values = schema.const === undefined ? schema.enum?.filter((one) => one !== null) : [schema.const];
  const common = {
    nullable: [schema.type].flat().includes("null"),
    bounds: Object.fromEntries(Object.entries(schema).filter(([name]) => BOUNDS.has(name))) as Record<string, number>,
  };
  const [type] = types;
  if (type === undefined) return { kind: values ? "string" : "any", values: values?.map(String), ...common };
  if (type === "string") return { kind: type, values: values?.map(String), ...common, bounds: lengths(schema, common) };
  if (type === "array") return { kind: type, items: readSchema(schema.items ?? {}), ...common };
  if (type !== "object") return { kind: type as "integer" | "number" | "boolean", ...common };
  const required = new Set(schema.required);
  const { additionalProperties } = schema;
  return {
    kind: "object",
    properties: new Map(
      Object.entries(schema.properties ?? {}).map(([name, one]) =>
        [name, { required: required.has(name), shape: readSchema(one) }] as const
      ),
    ),
    others: typeof additionalProperties === "object" ? readSchema(additionalProperties) : undefined,
    ...common,
  };
}

/** Bounds of a text; a pattern of hexadecimal digits has its lengths in it. */
function lengths({ pattern }: JsonSchema, { bounds }: { bounds: Record<string, number> }): Record<string, number> {
  const [, pair, from, , to] = /^\^\(?\[0-9a-fA-F\](\{2\}\))?\{(\d+)(,(\d+))?\}\$$/.exec(pattern ?? "") ?? [];
  if (from === undefined) return bounds;
  const each = pair === undefined ? 1 : 2;
  const least = Number(from) * each;
  return { ...(least > 0 ? { minLength: least } : {}), maxLength: Number(to ?? from) * each, ...bounds };
}

/**
 * The differences of a schema from another one, each with the path to it.
 *
 * @param theirs - the schema compared with
 * @param ours - the schema whose differences are listed
 * @param lookUp - the schemas behind references of both
 */
export function differences(
  theirs: Shape,
  ours: Shape,
  path: string,
  lookUp: { readonly theirs: ReadonlyMap<string, Shape>; readonly ours: ReadonlyMap<string, Shape> },
): readonly string[] {
  const under = new Set<string>();
  return compare(theirs, ours, path);

  function compare(theirs: Shape, ours: Shape, path: string): string[] {
    if (theirs.kind === "reference" || ours.kind === "reference") {
      // a schema that contains itself is compared once
      const pair = `${theirs.kind === "reference" ? theirs.name : path} ${
        ours.kind === "reference" ? ours.name : path
      }`;
      if (under.has(pair)) return [];
      under.add(pair);
      // differences inside a named schema are those of the name, wherever it is used
      const where = theirs.kind === "reference" ? path.replace(/^(\W*).*/, `$1${theirs.name}`) : path;
      const found = compare(behind(theirs, lookUp.theirs), behind(ours, lookUp.ours), where);
      under.delete(pair);
      return found;
    }
    const [left, right] = [simplified(theirs), simplified(ours)];
    const nullable = left.nullable === right.nullable
      ? []
      : [`${path}: ${right.nullable ? "nullable" : "not nullable"}`];
    return [...nullable, ...inside(left, right, path)];
  }

  function inside(theirs: Shape, ours: Shape, path: string): string[] {
    if (ours.kind === "any") return [`${path}: not described`];
    if (theirs.kind === "union" || ours.kind === "union") return alternatives(theirs, ours, path);
    if (theirs.kind !== ours.kind) return [`${path}: ${ours.kind} instead of ${theirs.kind}`];
    const found = bounds(theirs, ours, path);
    if (theirs.kind === "string" && ours.kind === "string") return [...found, ...values(theirs, ours, path)];
    if (theirs.kind === "array" && ours.kind === "array") {
      return [...found, ...compare(theirs.items, ours.items, `${path}[]`)];
    }
    if (theirs.kind === "object" && ours.kind === "object") return [...found, ...members(theirs, ours, path)];
    return found;
  }

  function members(theirs: Shape & { kind: "object" }, ours: Shape & { kind: "object" }, path: string): string[] {
    const names = new Set([...theirs.properties.keys(), ...ours.properties.keys()]);
    const found = [...names].flatMap((name) => {
      const [left, right] = [theirs.properties.get(name), ours.properties.get(name)];
      const where = `${path}.${name}`;
      if (right === undefined) return [`${where}: absent`];
      if (left === undefined) return [`${where}: added, ${right.required ? "required" : "optional"}`];
      const required = left.required === right.required
        ? []
        : [`${where}: ${right.required ? "required" : "optional"}`];
      return [...required, ...compare(left.shape, right.shape, where)];
    });
    if (theirs.others && ours.others) return [...found, ...compare(theirs.others, ours.others, `${path}.*`)];
    if (theirs.others) return [...found, `${path}.*: not described`];
    return found;
  }

  function alternatives(theirs: Shape, ours: Shape, path: string): string[] {
    const left = theirs.kind === "union"
      ? flat(theirs, lookUp.theirs)
      : [["", { ...theirs, nullable: false }] as const];
    const right = ours.kind === "union" ? flat(ours, lookUp.ours) : [["", { ...ours, nullable: false }] as const];
    const used = new Set<Shape>();
    const found = left.flatMap(([label, one]) => {
      const where = label === "" ? path : `${path}|${label}`;
      const [best] = right.map(([, other]) => ({ other, found: compare(one, other, where) }))
        .sort((a, b) => distance(one, a.other) - distance(one, b.other) || a.found.length - b.found.length);
      used.add(best!.other);
      return best!.found;
    });
    const unused = right.filter(([, one]) => !used.has(one)).map(([label]) => `${path}|${label}: added`);
    return [...found, ...unused];
  }
}

/** How far two alternatives are apart: another kind, then members that only one of them has. */
function distance(one: Shape, other: Shape): number {
  if (one.kind !== other.kind) return 1_000;
  if (one.kind !== "object" || other.kind !== "object") return 0;
  const [left, right] = [one, other].map(({ properties }) => new Set(properties.keys()));
  return left!.symmetricDifference(right!).size;
}

function flat(
  shape: Shape & { kind: "union" },
  known: ReadonlyMap<string, Shape>,
): readonly (readonly [string, Shape])[] {
  return shape.alternatives.flatMap(([label, one]) => {
    const found = behind(one, known);
    return found.kind === "union"
      ? flat(found, known).map(([inner, other]) => [`${label}|${inner}`, other] as const)
      : [[label, one] as const];
  });
}

function behind(shape: Shape, known: ReadonlyMap<string, Shape>): Shape {
  if (shape.kind !== "reference") return shape;
  const found = known.get(shape.name);
  if (found === undefined) throw new Error(`no schema ${shape.name}`);
  return shape.nullable ? { ...found, nullable: true } : found;
}

/**
 * A union of texts is a text, because their patterns are not compared. A union with an alternative that may be null is
 * itself nullable.
 */
function simplified(shape: Shape): Shape {
  if (shape.kind !== "union") return shape;
  const nullable = shape.nullable || shape.alternatives.some(([, one]) => one.nullable);
  const texts = shape.alternatives.map(([, one]) => one).filter((one) => one.kind === "string");
  if (texts.length < shape.alternatives.length) {
    return {
      ...shape,
      nullable,
      alternatives: shape.alternatives.map(([label, one]) => [label, { ...one, nullable: false }] as const),
    };
  }
  const closed = texts.every(({ values }) => values !== undefined);
  return {
    kind: "string",
    values: closed ? texts.flatMap(({ values }) => values ?? []) : undefined,
    nullable,
    bounds: {},
  };
}

function bounds(theirs: Shape, ours: Shape, path: string): string[] {
  const [left, right] = [theirs, ours].map(({ bounds }) =>
    PAIRS.map(([least, most]) => {
      const from = bounds[least] ?? (least === "minimum" ? "" : 0);
      return `${from}–${bounds[most] ?? ""}`;
    })
  );
  return PAIRS.flatMap(([least], n) =>
    left![n] === right![n]
      ? []
      : [`${path}: ${least === "minimum" ? "range" : least.slice(3).toLowerCase()} ${right![n]} instead of ${left![n]}`]
  );
}

function values(theirs: Shape & { kind: "string" }, ours: Shape & { kind: "string" }, path: string): string[] {
  if (theirs.values === undefined && ours.values === undefined) return [];
  if (theirs.values === undefined) return [`${path}: only ${ours.values!.join(", ")}`];
  if (ours.values === undefined) return [`${path}: any text instead of ${theirs.values.join(", ")}`];
  const missing = theirs.values.filter((one) => !ours.values!.includes(one)).map((one) => `${path}: without ${one}`);
  return [
    ...missing,
    ...ours.values.filter((one) => !theirs.values!.includes(one)).map((one) => `${path}: also ${one}`),
  ];
}
