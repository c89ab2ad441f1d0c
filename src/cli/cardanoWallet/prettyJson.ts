/** JSON as cardano-wallet prints it: four spaces a level, members by name. */
import { toJson } from "#src/base/json.ts";

/** Text of a JSON value; integers keep every digit. Members that are `undefined` are left out. */
export function prettyJson(value: unknown, indent = ""): string {
  const inner = `${indent}    `;
  const within = (open: string, parts: readonly string[], close: string) =>
    parts.length === 0 ? open + close : `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
  if (Array.isArray(value)) return within("[", value.map((one) => prettyJson(one, inner)), "]");
  if (typeof value !== "object" || value === null) return toJson(value);
  const members = Object.entries(value).filter(([, one]) => one !== undefined).sort(([a], [b]) => a < b ? -1 : 1);
  return within("{", members.map(([name, one]) => `${toJson(name)}: ${prettyJson(one, inner)}`), "}");
}
