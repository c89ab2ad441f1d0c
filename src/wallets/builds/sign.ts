/** The keys of a wallet that must sign a transaction. */
import { fromHex } from "#src/base/bytes.ts";
import type { Result } from "#src/base/result.ts";
import { paymentKeyHash, rewardAddress } from "#src/cardano/address.ts";
import { decode } from "#src/cardano/cbor.ts";
import { keysOf, readNative } from "#src/cardano/nativeScript.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Path } from "#src/cardano/keys/types.ts";
import { attempted } from "#src/wallets/builds/decode.ts";
import { witnessesOf } from "#src/wallets/builds/witnesses.ts";
import type { DecodeFailure, StakeAccount } from "#src/wallets/builds/types.ts";

/** A spent coin, as far as its signature needs it. */
export interface SpentCoin {
  readonly utxo: { readonly ref: OutRef; readonly output: Pick<Utxo["output"], "address"> };
  readonly path: Path;
}

/** Keys that a wallet can sign with, as far as a transaction may need them. */
export interface OwnKeys {
  /** Own outputs among the inputs and the collateral. */
  readonly coins: readonly SpentCoin[];
  readonly account?: Pick<StakeAccount, "credential" | "path"> | undefined;
  readonly policyKey?: { readonly hash: string; readonly path: Path } | undefined;
  /** More keys by hash, which a body may name as required signers. */
  readonly keys?: ReadonlyMap<string, Path> | undefined;
  /** CBOR in hexadecimal of native minting scripts in reference inputs: the witness set does not have them. */
  readonly policies?: readonly string[] | undefined;
}

/** The keys that sign, and the hash that they sign. */
interface RequiredSignatures {
  /** Hash of the body, which is signed: 64 hexadecimal digits. */
  readonly hash: string;
  /** Paths of Shelley keys, each once. */
  readonly paths: readonly Path[];
  /** Byron addresses that are spent from, each once, with the paths of their keys: each needs a bootstrap witness. */
  readonly byron: readonly { readonly address: string; readonly path: Path }[];
}

/**
 * The signatures that a transaction needs from a wallet: for its inputs, its account, and scripts and required signers
 * that name its keys.
 */
export function signingOf(transaction: Uint8Array, own: OwnKeys): Result<RequiredSignatures, DecodeFailure> {
  return attempted(() => {
    const scanned = scanTransaction(transaction);
    const spent = new Set([...scanned.inputs, ...scanned.collateral].map(refKey));
    const paths = new Map<string, Path>();
    const byron = new Map<string, Path>();
    const byHash = new Map(own.keys);
    for (const { utxo: { ref, output: { address } }, path } of own.coins) {
      const key = paymentKeyHash(address);
      if (key) byHash.set(key, path);
      if (!spent.has(refKey(ref))) continue;
      if (key) paths.set(key, path);
      else if (address.startsWith("8")) byron.set(address, path);
    }
    const named = new Set(scanned.requiredSigners);
    const natives = witnessesOf(scanned.witnesses).scripts.flatMap(({ language, bytes }) =>
      language === 0 ? [bytes] : []
    );
    for (const script of [...natives, ...(own.policies ?? []).map(fromHex)]) {
      for (const key of keysOf(readNative(decode(script)))) named.add(key);
    }
    const { account, policyKey } = own;
    if (account?.credential.kind === "key") {
      const { hash } = account.credential;
      byHash.set(hash, account.path);
      const accounts = ([0, 1] as const).map((network) => rewardAddress(network, account.credential).hex);
      const usesAccount = accounts.some((address) => scanned.withdrawals.has(address)) ||
        scanned.certificates.some((certificate) =>
          "credential" in certificate && certificate.credential.kind === "key" && certificate.credential.hash === hash
        );
      if (usesAccount) paths.set(hash, account.path);
    }
    if (policyKey) byHash.set(policyKey.hash, policyKey.path);
    for (const key of named) {
      const path = byHash.get(key);
      if (path) paths.set(key, path);
    }
    return {
      hash: scanned.hash,
      paths: [...paths.values()],
      byron: [...byron].map(([address, path]) => ({ address, path })),
    };
  });
}
