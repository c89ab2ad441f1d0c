/** Signatures that a transaction will have, so that its signed size is known before it is signed. */
import { paymentKeyHash } from "#src/cardano/address.ts";
import { byronAttributes } from "#src/cardano/byron.ts";
import { decode } from "#src/cardano/cbor.ts";
import { keysOf, nativeHash, type NativeScript, readNative, signaturesNeeded } from "#src/cardano/nativeScript.ts";
import { bootstrapBytes, witnessBytes } from "#src/cardano/transaction.ts";
import type { Coin } from "#src/transaction/coinPool.ts";

/** A native script and its CBOR. */
export interface KnownScript {
  readonly bytes: Uint8Array;
  readonly native: NativeScript;
}

/** Native scripts by hash. */
export function knownScripts(scripts: readonly Uint8Array[] = []): ReadonlyMap<string, KnownScript> {
  return new Map(scripts.map((bytes) => [nativeHash(bytes), { bytes, native: readNative(decode(bytes)) }]));
}

/**
 * Hash of the script that locks an address (its bytes in hexadecimal); undefined for keys, reward accounts and Byron.
 */
export function paymentScriptHash(address: string): string | undefined {
  const type = parseInt(address[0] ?? "f", 16);
  return type < 8 && type % 2 === 1 ? address.slice(2, 58) : undefined;
}

/** A filter for coins that the wallet can spend: a coin at a script's address needs the script. */
export function isSpendable(scripts: ReadonlyMap<string, KnownScript>): (coin: Coin) => boolean {
  return ({ utxo }) => {
    const hash = paymentScriptHash(utxo.output.address);
    return hash === undefined || scripts.has(hash);
  };
}

/** Collects signatures and native scripts of one transaction. */
export class Signers {
  private readonly keys: Set<string>;
  private readonly scripts = new Map<string, KnownScript>();
  private readonly bootstraps = new Map<string, Uint8Array>();

  /**
   * `keys` are hashes of keys that sign in any case; `needed` are scripts that are used in any case; `known` are found
   * by hash.
   */
  constructor(
    keys: Iterable<string>,
    needed: Iterable<KnownScript>,
    private readonly known: ReadonlyMap<string, KnownScript>,
  ) {
    this.keys = new Set(keys);
    for (const script of needed) this.scripts.set(nativeHash(script.bytes), script);
  }

  /** Adds the signatures that spending from an address needs. */
  spend(address: string): void {
    const key = paymentKeyHash(address);
    const script = paymentScriptHash(address);
    if (key) this.keys.add(key);
    else if (script) {
      const found = this.known.get(script);
      if (found) this.scripts.set(script, found);
    } else if (address.startsWith("8") && !this.bootstraps.has(address)) {
      this.bootstraps.set(address, byronAttributes(address));
    }
  }

  /** CBOR of the native scripts. */
  nativeScripts(): readonly Uint8Array[] {
    return [...this.scripts.values()].map(({ bytes }) => bytes);
  }

  /** Bytes that all signatures add to a transaction that has none. */
  bytes(): number {
    const scripted = new Set([...this.scripts.values()].flatMap(({ native }) => keysOf(native)));
    // A key that signs anyway counts for a script as well; scripts together need no more than all their keys.
    const fixed = [...this.keys].filter((key) => scripted.has(key)).length;
    const wanted = [...this.scripts.values()].reduce((sum, { native }) => sum + signaturesNeeded(native), 0);
    const others = this.keys.size - fixed;
    const count = others + Math.min(scripted.size, Math.max(fixed, wanted));
    return witnessBytes(count) + bootstrapBytes([...this.bootstraps.values()]);
  }
}
