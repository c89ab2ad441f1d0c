/** The schemas of the wallet service beside those of cardano-wallet, field by field. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { differences, readDump, readSchema, type Shape } from "../../../support/wallets/schemaDump.ts";
import { vectors } from "../../../support/base/vectors.ts";
import { edgeAlone } from "../../../support/service/walletEdge.ts";
import { ENDPOINTS } from "../../../support/wallets/walletEndpoints.ts";

type Content = { readonly content?: Record<string, { readonly schema: object }> };
interface Operation {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Record<string, Content>;
}

const document = await (await edgeAlone().request("/v2/openapi.json")).json() as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
const operations = new Map(
  Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((operation) => [operation.operationId, operation] as const)
  ),
);
const known = {
  theirs: readDump(readFileSync(vectors("wallet-schemas.txt"), "utf8")),
  ours: new Map(Object.entries(document.components.schemas).map(([name, schema]) => [name, readSchema(schema)])),
};

const schemaOf = (content: Content | undefined): Shape | undefined => {
  const schema = content?.content?.["application/json"]?.schema;
  return schema && readSchema(schema);
};

const named = (name: string): Shape => {
  const found = known.theirs.get(name.replace(/^\[|\]$/g, ""));
  if (found === undefined) throw new Error(`no schema ${name}`);
  return found;
};
/** What a list consists of. */
const items = (name: string, shape: Shape): Shape =>
  !name.startsWith("[") ? shape : shape.kind === "array" ? shape.items : { kind: "never", nullable: false, bounds: {} };

/** All differences; those of requests begin with ">", those of answers with "<". */
const found = new Set(ENDPOINTS.flatMap(({ operation, status, request, answer }) => {
  const { requestBody, responses } = operations.get(operation)!;
  const [body, success] = [schemaOf(requestBody), schemaOf(responses[status])];
  if ((body === undefined) !== (request.length === 0)) return [`> ${operation}: ${body ? "a" : "no"} body`];
  if ((success === undefined) !== (answer === undefined)) return [`< ${operation}: ${success ? "a" : "no"} body`];
  return [
    ...request.flatMap((name) => differences(named(name), body!, `> ${name}`, known)),
    ...(answer === undefined
      ? []
      : differences(named(answer), items(answer, success!), `< ${answer.replace(/^\[|\]$/g, "")}`, known)),
  ];
}));

/** Differences that are meant, each with its reason; `*` stands for any text. */
const reasons = readFileSync(new URL("schemas.reasons.txt", import.meta.url), "utf8").trim().split("\n\n").map(
  (block) => {
    const [reason, ...lines] = block.split("\n");
    return { reason: reason!, lines };
  },
);
const matches = (line: string, difference: string) =>
  new RegExp(`^${line.split("*").map(RegExp.escape).join(".*")}$`).test(difference);

test("every difference has a reason", () => {
  const meant = reasons.flatMap(({ lines }) => lines);
  expect([...found].filter((one) => !meant.some((line) => matches(line, one))).sort()).toEqual([]);
});

test("every reason has differences", () => {
  for (const { reason, lines } of reasons) {
    expect(reason).toMatch(/^# .+\.$/);
    expect(lines, reason).not.toEqual([]);
    expect(lines.filter((line) => ![...found].some((one) => matches(line, one))), reason).toEqual([]);
  }
});

test("the comparison finds what a schema lacks, adds and bounds differently", () => {
  const theirs = readDump("A = {\n  a: string<enum=['x', 'y']>\n  b?: [<minItems=1>integer<minimum=0>]\n}").get("A")!;
  const ours = readSchema({
    type: "object",
    properties: { a: { type: "string", enum: ["x", "z"] }, c: { type: ["boolean", "null"] } },
    required: ["c"],
  });
  const none = { theirs: new Map(), ours: new Map() };
  expect(differences(theirs, ours, "A", none)).toEqual([
    "A.a: optional",
    "A.a: without y",
    "A.a: also z",
    "A.b: absent",
    "A.c: added, required",
  ]);
  const list = readSchema({ type: ["array", "null"], items: { type: "number", minimum: 1 } });
  expect(differences(theirs.kind === "object" ? theirs.properties.get("b")!.shape : theirs, list, "b", none)).toEqual([
    "b: nullable",
    "b: items 0– instead of 1–",
    "b[]: number instead of integer",
  ]);
});
