/** Scripts by hash: whether one is the contract, and in which version. */
import { concat } from "#src/base/bytes.ts";
import { as, asInt, CborError, decode, raw } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";
import type { SummaryScript } from "#src/contract/summary/schema.ts";
// without the code, which is most of what a client of the token service would load
import published from "#src/contract/versions.json" with { type: "json" };

const versions: ReadonlyMap<string, string> = new Map(published.map(({ hash, version }) => [hash, version]));
const LANGUAGES = ["native", "PlutusV1", "PlutusV2", "PlutusV3"] as const;

/** The contract version with this hash; undefined for another script. */
export function versionOf(hash: string): string | undefined {
  return versions.get(hash);
}

/** Script hash in the payment part of an address (bytes in hexadecimal); undefined for a key (CIP-19: types 1, 3, 5, 7). */
export function paymentScript(address: string): string | undefined {
  const type = parseInt(address[0] ?? "f", 16);
  return type < 8 && type % 2 === 1 && address.length >= 58 ? address.slice(2, 58) : undefined;
}

/** A script from its bytes in a witness set. */
export function scriptOf(language: SummaryScript["language"], bytes: Uint8Array): SummaryScript {
  const hash = hash224(concat(Uint8Array.of(LANGUAGES.indexOf(language)), bytes));
  return { hash, language, version: language === "PlutusV3" ? versionOf(hash) ?? null : null };
}

const standIns = new WeakMap<Uint8Array, SummaryScript>();

/**
 * What an output carries in place of a version of the contract, for a client without the contract's code:
 * `carriedScript` gives its hash. Undefined where no version has the hash.
 */
export function contractStandIn(hash: string): Uint8Array | undefined {
  const version = versionOf(hash);
  if (version === undefined) return undefined;
  const standIn = new Uint8Array();
  standIns.set(standIn, { hash, language: "PlutusV3", version });
  return standIn;
}

/** The script that an output carries (CBOR of `[language, script]`); undefined where it is in no form that is known. */
export function carriedScript(cbor: Uint8Array): SummaryScript | undefined {
  const contract = standIns.get(cbor);
  if (contract) return contract;
  try {
    const [number, script] = as(decode(cbor), "array").value;
    const language = LANGUAGES[Number(asInt(number))];
    if (!language || !script) return undefined;
    return scriptOf(language, language === "native" ? raw(script) : as(script, "bytes").value);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return undefined;
  }
}
