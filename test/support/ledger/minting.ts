/** Transactions of Alice that mint with Plutus scripts of all versions. */
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { blake2b256, hash224 } from "#src/cardano/hash.ts";
import { scriptIntegrity } from "#src/cardano/integrity.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { person } from "../wallets/person.ts";

const alice = person("alice");

/** Units of a redeemer, as Ogmios names them. */
export interface Budget {
  readonly memory: number;
  readonly steps: number;
}

/** Fields of the witness set for scripts of Plutus V1 to V3. */
const SCRIPT_FIELDS = [3, 6, 7] as const;
/** The name of the tokens, and the argument of the scripts. */
export const NAME = utf8("token");
export const DATA = encodeData(constr(0, 42n));

/** What is minted. */
export interface Minting {
  readonly input: OutRef;
  readonly lovelace: bigint;
  /** Scripts of Plutus V1, V2 and V3 that mint one token each. */
  readonly scripts: readonly (Uint8Array | undefined)[];
  readonly units?: Readonly<Record<string, Budget>>;
  /** Without: neither fee, signature, script data hash nor collateral. */
  readonly complete?: { readonly parameters: Parameters; readonly fee: bigint };
  /** First slot in which it is no longer valid. */
  readonly validTo?: number;
  /** Whether the scripts are in the witness set; true by default. */
  readonly provided?: boolean;
}

/** A transaction that mints with scripts of all versions, complete or as clients have it before they balance. */
export function minting(
  { input, lovelace, scripts, units = {}, complete, validTo, provided = true }: Minting,
): Uint8Array {
  const used = scripts.flatMap((script, language) =>
    script ? [{ language, script, policy: hash224(Uint8Array.of(language + 1, ...script)) }] : []
  );
  const policies = used.map(({ policy }) => policy).sort();
  const tokens = () => new Map(policies.map((policy) => [fromHex(policy), new Map([[NAME, 1n]])] as const));
  const ref = [fromHex(input.txHash), input.index];
  const redeemers = encode(
    new Map(policies.map((_, index) => {
      const { memory = 0, steps = 0 } = units[`mint:${index}`] ?? {};
      return [[1, index], [new Encoded(DATA), [memory, steps]]] as const;
    })),
  );
  const integrity = complete && scriptIntegrity({
    redeemers,
    datums: undefined,
    languages: used.map(({ language }) => language),
    parameters: complete.parameters,
  });
  const body = encode(
    new Map<number, Encodable>([
      [0, new Tagged(258, [ref])],
      [1, [
        new Map<number, Encodable>([
          [0, fromHex(alice.base)],
          [1, [lovelace - (complete?.fee ?? 0n), tokens()]],
        ]),
      ]],
      [2, complete?.fee ?? 0n],
      ...(validTo === undefined ? [] : [[3, validTo] as const]),
      [9, tokens()],
      ...(integrity ? [[11, blake2b256(integrity)] as const, [13, new Tagged(258, [ref])] as const] : []),
    ]),
  );
  const witnesses = new Map<number, Encodable>([
    ...(complete ? [[0, new Tagged(258, [[publicKey(alice.seed), sign(alice.seed, blake2b256(body))]])] as const] : []),
    ...(provided
      ? used.map(({ language, script }) => [SCRIPT_FIELDS[language]!, new Tagged(258, [script])] as const)
      : []),
    [5, new Encoded(redeemers)],
  ]);
  return encode([new Encoded(body), witnesses, true, null]);
}
