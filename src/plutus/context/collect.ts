/** The Plutus scripts that a transaction runs, with their arguments (ledger: `collectPlutusScriptsWithContext`). */
import { mustGet } from "#src/base/maps.ts";
import { ok, type Result } from "#src/base/result.ts";
import { type PlutusScript, readScript, referenceScriptHash, type Script } from "#src/cardano/conway/script.ts";
import type { Redeemer } from "#src/cardano/conway/witnesses.ts";
import type { Data } from "#src/cardano/data.ts";
import type { CollectError } from "#src/cardano/failure.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { ContextError } from "#src/plutus/context/error.ts";
import { allTargets, scriptHashOf } from "#src/plutus/purpose.ts";
import { type ScriptArguments, translate } from "#src/plutus/context/translate.ts";
import type { ContextInput } from "#src/plutus/context/txInfo.ts";

/** One script run: the redeemer that causes it, and the script's arguments. */
export interface ScriptRun {
  readonly redeemer: Redeemer;
  readonly script: PlutusScript;
  readonly costModel: readonly bigint[];
  readonly args: readonly Data[];
}

/**
 * Collects the script runs in the ledger's order: spends, withdrawals, certificates, policies, votes, proposals.
 *
 * The errors are every missing redeemer, then the first language without a cost model or without a script context. A missing
 * script is an error only if a redeemer is for it; otherwise it may be a native script, which other rules require.
 *
 * @throws {CborError} if an output that the transaction refers to has a malformed address, datum or script.
 */
export function collectScripts(
  input: ContextInput & Pick<Parameters, "costModels">,
): Result<readonly ScriptRun[], readonly CollectError[]> {
  const { transaction: { body, witnesses }, resolved, costModels } = input;
  const redeemers = new Map(witnesses.redeemers.map((redeemer) => [`${redeemer.purpose} ${redeemer.index}`, redeemer]));
  const provided = scriptsBy(input);
  const languages = new Map<number, Result<ScriptArguments, CollectError>>();
  const runs: ScriptRun[] = [];
  const missing: CollectError[] = [];
  let first: CollectError | undefined;
  for (const [{ purpose, index }, target] of allTargets(body)) {
    const redeemer = redeemers.get(`${purpose} ${index}`);
    if (redeemer && target.purpose === "spend" && !resolved.has(refKey(target.ref))) {
      first ??= { kind: "BadTranslation", reason: "TranslationLogicMissingInput" };
    }
    const hash = scriptHashOf(target, resolved);
    if (hash === undefined) continue;
    const script = provided(hash);
    if (!script) {
      if (redeemer) missing.push({ kind: "NoWitness", script: hash });
      continue;
    }
    if (script.language === 0) continue;
    if (!redeemer) {
      missing.push({ kind: "NoRedeemer", purpose, index });
      continue;
    }
    if (first) continue;
    const { language } = script;
    let translated = languages.get(language);
    if (!translated) languages.set(language, translated = shownTo(language, input));
    const args = translated.ok ? named(language, translated.value(redeemer)) : translated;
    if (args.ok) runs.push({ redeemer, script, costModel: mustGet(costModels, language - 1), args: args.value });
    else first = args.error;
  }
  const errors = first ? [...missing, first] : missing;
  return errors.length > 0 ? { ok: false, error: errors } : ok(runs);
}

function shownTo(
  language: 1 | 2 | 3,
  input: ContextInput & Pick<Parameters, "costModels">,
): Result<ScriptArguments, CollectError> {
  if (!input.costModels.has(language - 1)) return { ok: false, error: { kind: "NoCostModel", language } };
  return named(language, translate(language, input));
}

function named<T>(language: 1 | 2 | 3, result: Result<T, ContextError>): Result<T, CollectError> {
  if (result.ok) return result;
  const { reason, detail } = result.error;
  return { ok: false, error: { kind: "BadTranslation", language, reason, ...(detail ? { detail } : {}) } };
}

/** Finds scripts by hash: those in the witness set, and reference scripts of inputs and reference inputs. */
export function scriptsBy(
  { transaction: { body, witnesses }, resolved }: ContextInput,
): (hash: string) => Script | undefined {
  const held = new Map<string, Uint8Array>();
  const read = new Map<string, Script>(witnesses.scripts);
  for (const ref of [...body.inputs, ...body.references]) {
    const script = resolved.get(refKey(ref))?.script;
    if (script) held.set(referenceScriptHash(script), script);
  }
  return (hash) => {
    const known = read.get(hash);
    const script = held.get(hash);
    if (known || !script) return known;
    const found = readScript(script);
    read.set(hash, found);
    return found;
  };
}
