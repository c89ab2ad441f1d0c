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

/**
 * A script in words: `2 of 3: Owner 1, Owner 2, Owner 3`. `timeText` says when a slot is, where that is known.
 */
export function scriptWords(
  script: Template,
  timeText: (slot: number) => string | undefined = () => undefined,
): string {
  if (typeof script === "string") return ownerName(script);
  if ("active_from" in script) return `from ${slotWords(script.active_from, timeText)} on`;
  if ("active_until" in script) return `before ${slotWords(script.active_until, timeText)}`;
  const parts = partsOf(script);
  const words = (part: Template) => scriptWords(part, timeText);
  const list = parts.map((part) => isCompound(part) ? `(${words(part)})` : words(part));
  if ("all" in script) {
    const times = parts.filter(isTime);
    const others = parts.filter((part) => !isTime(part));
    const [first, ...more] = others;
    if (times.length > 0 && first !== undefined) {
      return `${words(more.length === 0 ? first : { all: others })}; only ${times.map(words).join(", ")}`;
    }
    return parts.length === 1 ? list.join() : `all of: ${list.join(", ")}`;
  }
  if ("any" in script && parts.length > 1 && parts.every(isCompound)) return list.join(" or ");
  if ("any" in script) return `any of: ${list.join(", ")}`;
  return `${script.some.at_least} of ${parts.length}: ${list.join(", ")}`;
}

function slotWords(slot: number | bigint, timeText: (slot: number) => string | undefined): string {
  const time = timeText(Number(slot));
  return time ?? `slot ${slot}`;
}

const isTime = (script: Template) =>
  typeof script !== "string" && ("active_from" in script || "active_until" in script);

const isCompound = (script: Template) =>
  typeof script !== "string" && ("all" in script || "any" in script || "some" in script);

/** The slots in which a transaction is valid: the first one, and the first one in which it is no longer. */
export interface ValidSlots {
  readonly validFrom?: number | undefined;
  readonly validTo?: number | undefined;
}

/** Whether the signatures of some owners are enough for a transaction, as the ledger judges. */
export function isSatisfied(script: Template, signed: ReadonlySet<string>, slots: ValidSlots = {}): boolean {
  if (typeof script === "string") return signed.has(script);
  const { validFrom, validTo } = slots;
  if ("active_from" in script) return validFrom !== undefined && validFrom >= Number(script.active_from);
  if ("active_until" in script) return validTo !== undefined && validTo <= Number(script.active_until);
  const parts = partsOf(script);
  const met = parts.filter((part) => isSatisfied(part, signed, slots)).length;
  if ("all" in script) return met === parts.length;
  return met >= ("any" in script ? 1 : script.some.at_least);
}

/** The rule that `needed` of `owners` sign. */
export function ruleOf(owners: number, needed: number): Template {
  const names = Array.from({ length: owners }, (_, i) => `cosigner#${i}`);
  if (needed >= owners) return { all: names };
  return needed === 1 ? { any: names } : { some: { at_least: needed, from: names } };
}

/** What a rule says of times; `needed` signatures are enough from the slot on. */
export type RuleTime =
  | { readonly kind: "from" | "until"; readonly slot: number }
  | { readonly kind: "fewer"; readonly slot: number; readonly needed: number };

/** A rule that `needed` of `owners` sign, at a time; see `RuleTime`. */
export function timedRule(owners: number, needed: number, time: RuleTime | undefined): Template {
  const rule = ruleOf(owners, needed);
  if (time === undefined) return rule;
  const { slot } = time;
  const within = (of: Template, bound: Template): Template => ({
    // "all" within "all" says nothing more
    all: typeof of !== "string" && "all" in of ? [...of.all, bound] : [of, bound],
  });
  if (time.kind !== "fewer") return within(rule, time.kind === "from" ? { active_from: slot } : { active_until: slot });
  return { any: [rule, within(ruleOf(owners, time.needed), { active_from: slot })] };
}
