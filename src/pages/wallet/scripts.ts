/** Scripts of shared wallets and policies, in words and as rules. */
import type { Template } from "./ownKeys.ts";

/** Names of the owners in a script, each once. */
export function ownersIn(script: Template): readonly string[] {
  if (typeof script === "string") return [script];
  return [...new Set(partsOf(script).flatMap(ownersIn))];
}

function partsOf(script: Exclude<Template, string>): readonly Template[] {
  if ("all" in script) return script.all;
  if ("any" in script) return script.any;
  return "some" in script ? script.some.from : [];
}

/** `cosigner#0` is `Owner 1`: people count from one. */
export const ownerName = (cosigner: string): string => `Owner ${Number(cosigner.replace("cosigner#", "")) + 1}`;

/** A script in words: `2 of 3: Owner 1, Owner 2, Owner 3`. */
export function scriptWords(script: Template): string {
  if (typeof script === "string") return ownerName(script);
  if ("active_from" in script) return `from slot ${script.active_from}`;
  if ("active_until" in script) return `before slot ${script.active_until}`;
  const parts = partsOf(script);
  const list = parts.map((part) =>
    typeof part === "string" || !isCompound(part) ? scriptWords(part) : `(${scriptWords(part)})`
  );
  if ("all" in script) return parts.length === 1 ? list.join() : `all of: ${list.join(", ")}`;
  if ("any" in script) return `any of: ${list.join(", ")}`;
  return `${script.some.at_least} of ${parts.length}: ${list.join(", ")}`;
}

const isCompound = (script: Template) =>
  typeof script !== "string" && ("all" in script || "any" in script || "some" in script);

/** Whether the signatures of some owners are enough. Times are left to the ledger. */
export function isSatisfied(script: Template, signed: ReadonlySet<string>): boolean {
  if (typeof script === "string") return signed.has(script);
  if ("active_from" in script || "active_until" in script) return true;
  const parts = partsOf(script);
  const met = parts.filter((part) => isSatisfied(part, signed)).length;
  if ("all" in script) return met === parts.length;
  return met >= ("any" in script ? 1 : script.some.at_least);
}

/** The rule that `needed` of `owners` sign. */
export function ruleOf(owners: number, needed: number): Template {
  const names = Array.from({ length: owners }, (_, i) => `cosigner#${i}`);
  if (needed >= owners) return { all: names };
  return needed === 1 ? { any: names } : { some: { at_least: needed, from: names } };
}
