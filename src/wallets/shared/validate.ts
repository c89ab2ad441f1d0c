/** Validation of scripts and templates of shared wallets, by cardano-wallet's rules. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Xpub } from "#src/cardano/keys/types.ts";
import { childrenOf, leavesOf } from "#src/wallets/shared/script.ts";
import type { CredentialType, ScriptForm, ScriptTemplate, ValidationLevel } from "#src/wallets/shared/types.ts";

/** Whether some signatures and times could satisfy the script. */
function satisfiable(script: ScriptForm): boolean {
  if (typeof script === "string") return true;
  if ("all" in script) return script.all.every(satisfiable);
  if ("any" in script) return script.any.some(satisfiable);
  if ("some" in script) return script.some.from.filter(satisfiable).length >= script.some.at_least;
  return true;
}

type Timelock = { readonly active_from: number | bigint } | { readonly active_until: number | bigint };

function isTimelock(script: ScriptForm): script is Timelock {
  return typeof script !== "string" && ("active_from" in script || "active_until" in script);
}

/** Slots of a list of one `active_from` and one `active_until`; `undefined` for other lists. */
function bounds(timelocks: readonly Timelock[]): { from: bigint; until: bigint } | undefined {
  if (timelocks.length !== 2) return undefined;
  const from = timelocks.find((one) => "active_from" in one);
  const until = timelocks.find((one) => "active_until" in one);
  return from && until && "active_from" in from && "active_until" in until
    ? { from: BigInt(from.active_from), until: BigInt(until.active_until) }
    : undefined;
}

/** Why a script is not recommended, or `undefined`. */
function notRecommended(script: ScriptForm): string | undefined {
  if (typeof script === "string" || isTimelock(script)) return undefined;
  const children = childrenOf(script);
  const timelocks = children.filter(isTimelock);
  const others = children.length - timelocks.length;
  const both = bounds(timelocks);
  const leaves = children.filter((one) => typeof one === "string");
  if ("all" in script && others === 0) {
    return "The list inside a script is empty or only contains timelocks (which is not recommended).";
  }
  if ("some" in script) {
    if (script.some.at_least === 0) return "At least's coefficient is 0 (which is not recommended).";
    if (others < script.some.at_least) {
      return "At least's coefficient is larger than the number of non-timelock elements in the list " +
        "(which is not recommended).";
    }
  }
  if (new Set(leaves).size < leaves.length) {
    return "The list inside a script has duplicate keys (which is not recommended).";
  }
  const always = "any" in script && (both ? both.until >= both.from : timelocks.length > 1);
  if (timelocks.length > 2 || always) return "Some timelocks used are redundant (which is not recommended).";
  if ("all" in script && both && both.until < both.from) {
    return "The timelocks used are contradictory when used with 'all' (which is not recommended).";
  }
  for (const child of children) {
    const why = notRecommended(child);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Why a script fails validation, in a sentence; `undefined` where it passes. `none` checks nothing. */
export function scriptFault(script: ScriptForm, level: ValidationLevel): string | undefined {
  if (level === "none") return undefined;
  if (!satisfiable(script)) return "The script is ill-formed and is not going to be accepted by the ledger.";
  return level === "recommended" ? notRecommended(script) : undefined;
}

/** Why names and keys of a template contradict each other; missing keys are allowed. */
function keysFault({ script, keys }: ScriptTemplate): string | undefined {
  const names = new Set(leavesOf(script));
  const given = Object.values(keys);
  if (names.size === 0) return "The script of a template must have at least one cosigner defined.";
  if (given.length === 0) {
    return "The script template must have at least one cosigner with an extended public key.";
  }
  if (new Set(given).size < given.length) {
    return "The cosigners in a script template must stand behind an unique extended public key.";
  }
  return Object.keys(keys).every((name) => names.has(name))
    ? undefined
    : "The specified cosigner must be present in the script of the template.";
}

/** Most bytes of JSON of a wallet's templates with all keys: they are in its actor's snapshot, which is limited. */
const MOST_TEXT = 12_000;
/** Bytes of a name and its key in it. */
const KEY_TEXT = 150;

/** Validates the templates of a new wallet. */
export function validateTemplates(
  templates: { readonly payment: ScriptTemplate; readonly delegation?: ScriptTemplate | undefined },
  own: Xpub,
  level: ValidationLevel,
): Result<null, Failure<"shared_wallet_script_template_invalid">> {
  const wrong = (type: CredentialType, why: string) =>
    fail(
      "shared_wallet_script_template_invalid",
      `It looks like you've tried to create a shared wallet with a template script for ${type} credential that does ` +
        `not pass validation. The problem is: ${why}`,
    );
  let text = 0;
  for (const type of ["payment", "delegation"] as const) {
    const template = templates[type];
    if (!template) continue;
    const why = scriptFault(template.script, level) ?? keysFault(template) ??
      (Object.values(template.keys).includes(own)
        ? undefined
        : "The wallet's account key must be always present for the script template.");
    if (why !== undefined) return wrong(type, why);
    text += JSON.stringify(template.script, (_, value) => typeof value === "bigint" ? String(value) : value).length +
      leavesOf(template.script).length * KEY_TEXT;
    if (text > MOST_TEXT) return wrong(type, "The scripts of the wallet are too large.");
  }
  return ok(null);
}
