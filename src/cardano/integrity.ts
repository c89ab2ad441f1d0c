/** The script data hash of a transaction body: over its redeemers, its datums and the cost models that its scripts run with. */
import { compareBytes, concat } from "#src/base/bytes.ts";
import { type Encodable, encode, head, Indefinite } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Parameters } from "#src/cardano/parameters.ts";

/** The hashed parts. The bytes are taken from the witness set and never re-encoded. */
interface IntegrityParts {
  /** CBOR of witness set field 5, where there are redeemers. */
  readonly redeemers?: Uint8Array | undefined;
  /** CBOR of witness set field 4, where there are datums. */
  readonly datums?: Uint8Array | undefined;
  /** Languages of the Plutus scripts that run: 0 Plutus V1, 1 V2, 2 V3. */
  readonly languages: Iterable<number>;
  readonly parameters: Pick<Parameters, "costModels">;
}

/** The empty map, hashed in place of absent redeemers (Conway CDDL, `script_data_hash`). */
const NO_REDEEMERS = encode(new Map());

/**
 * `script_data_hash` in hexadecimal, or undefined for a transaction that has neither redeemers nor datums and runs no script
 * (ledger: `hashScriptIntegrity`).
 */
export function scriptDataHash(parts: IntegrityParts): string | undefined {
  const preimage = scriptIntegrity(parts);
  return preimage && hash256(preimage);
}

/** What `script_data_hash` is the hash of (ledger: `ScriptIntegrity`); undefined where there is none. */
export function scriptIntegrity(parts: IntegrityParts): Uint8Array | undefined {
  const languages = [...new Set(parts.languages)];
  if (!parts.redeemers && !parts.datums && languages.length === 0) return undefined;
  return concat(
    parts.redeemers ?? NO_REDEEMERS,
    parts.datums ?? new Uint8Array(),
    languageViews(parts.parameters.costModels, languages),
  );
}

/**
 * CBOR of the language views (ledger: `getLanguageView`, `encodeLangViews`), keys in canonical order: shorter first. Plutus V1
 * has its key and its cost model wrapped once more in byte strings, the model as a list of indefinite length; a language
 * without a cost model has null.
 */
export function languageViews(costModels: Parameters["costModels"], languages: Iterable<number>): Uint8Array {
  const views = [...new Set(languages)].map((language) => view(language, costModels.get(language)));
  views.sort(([a], [b]) => a.length - b.length || compareBytes(a, b));
  return concat(head(5, views.length), ...views.flat());
}

/** Views by cost model: a model has some 300 numbers and is the same for every transaction. */
const known = new WeakMap<readonly bigint[], Map<number, readonly [key: Uint8Array, value: Uint8Array]>>();

function view(language: number, model: readonly bigint[] | undefined): readonly [key: Uint8Array, value: Uint8Array] {
  if (!model) return written(language, model);
  let views = known.get(model);
  if (!views) known.set(model, views = new Map());
  let found = views.get(language);
  if (!found) views.set(language, found = written(language, model));
  return found;
}

function written(language: number, model: readonly bigint[] | undefined): readonly [Uint8Array, Uint8Array] {
  const twice = (value: Encodable) => encode(encode(value));
  if (language === 0) return [twice(0), twice(model ? new Indefinite(model) : null)];
  return [encode(language), encode(model ?? null)];
}
