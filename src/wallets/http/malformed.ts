/**
 * Refusals of malformed requests, in the form that clients of cardano-wallet know: `Error in $.name: …`, with the path
 * from the top of the body. The value is never part of it: it may be a secret.
 */
import type { z } from "zod";
import { HttpFailure } from "#src/http/failure.ts";
import type { RequestPart } from "#src/http/route.ts";

type Issue = z.core.$ZodIssue;
type Key = PropertyKey;

/** The refusal of a part of a request. */
export function malformed(issues: readonly Issue[], where: RequestPart, value: unknown): HttpFailure {
  const sentences = issues.map((issue) =>
    where === "body"
      ? inBody(issue, value, [])
      // without a value it is not a parameter of the endpoint
      : where === "query" && value !== undefined
      ? `Error parsing query parameter ${String(issue.path[0])} failed: ${issue.message}`
      : issue.message
  );
  return new HttpFailure(400, "bad_request", [...new Set(sentences)].join("; "));
}

function inBody(issue: Issue, value: unknown, above: readonly Key[]): string {
  const path = [...above, ...issue.path];
  const found = at(value, path);
  if (issue.code === "invalid_union") {
    const nearest = nearestOf(issue.errors, found);
    if (nearest !== undefined) return nearest.map((one) => inBody(one, value, path)).join("; ");
  }
  if (issue.code === "invalid_type" || found === undefined) {
    if (found === undefined && path.length > 0) {
      return said(
        path.slice(0, -1),
        issue.message.startsWith("Invalid input") ? `key '${String(path.at(-1))}' not found` : issue.message,
      );
    }
    if (issue.code === "invalid_type") {
      const parsing = issue.message.startsWith("parsing ") ? `${issue.message}, ` : "";
      return said(
        path,
        `${parsing}expected ${JSON_TYPES[issue.expected] ?? issue.expected}, but encountered ${typeOf(found)}`,
      );
    }
  }
  if (issue.code === "invalid_value" && issue.message.startsWith("Invalid")) {
    const tags = issue.values.map((tag) => `'${String(tag)}'`).join(",");
    return said(
      path,
      typeof found === "string"
        ? `expected one of the tags [${tags}]`
        : `expected String, but encountered ${typeOf(found)}`,
    );
  }
  if (issue.message === "Invalid input") return said(path, `unexpected ${typeOf(found)}`);
  return said(path, issue.message);
}

/**
 * Of the alternatives of a union, the one that the value is closest to: the one whose problem is deepest, then one of
 * which no member is missing, then the first.
 */
function nearestOf(errors: readonly (readonly Issue[])[], value: unknown): readonly Issue[] | undefined {
  const depth = (issues: readonly Issue[]) => Math.max(0, ...issues.map((issue) => issue.path.length));
  const nearness = (issues: readonly Issue[]) =>
    2 * depth(issues) + (issues.every((issue) => at(value, issue.path) !== undefined) ? 1 : 0);
  return errors.reduce<readonly Issue[] | undefined>(
    (best, issues) => issues.length > 0 && (best === undefined || nearness(issues) > nearness(best)) ? issues : best,
    undefined,
  );
}

/** `$.name`, `$['address_pool_gap']`, `$.payments[0].amount`. */
function said(path: readonly Key[], sentence: string): string {
  const place = path.map((key) =>
    typeof key === "number"
      ? `[${key}]`
      : /^\p{L}[\p{L}\p{N}]*$/u.test(String(key))
      ? `.${String(key)}`
      : `['${String(key)}']`
  );
  return `Error in $${place.join("")}: ${sentence}`;
}

const JSON_TYPES: Readonly<Record<string, string>> = {
  string: "String",
  number: "Number",
  int: "Number",
  bigint: "Number",
  boolean: "Bool",
  array: "Array",
  tuple: "Array",
  object: "Object",
  record: "Object",
  null: "Null",
};

function typeOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "Null";
  if (Array.isArray(value)) return "Array";
  return JSON_TYPES[typeof value] ?? typeof value;
}

function at(value: unknown, path: readonly Key[]): unknown {
  return path.reduce<unknown>(
    (found, key) => typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined,
    value,
  );
}
