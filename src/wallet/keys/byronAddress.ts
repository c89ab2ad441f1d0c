/** Addresses of random wallets: their path is in them, encrypted under a key that the root's public side gives. */
import type { Xpub } from "#src/wallet/keys/types.ts";

/** The key under which a random wallet's addresses carry their paths: 32 bytes. No secret, but it tells whose the addresses are. */
export function byronPathKey(_root: Xpub): Uint8Array {
  throw new Error("not written");
}

/**
 * Account and index (hard ones with `HARD` added) of an address whose attribute (`Byron.derivationPath`) was made under this key, or `undefined`
 * when it is somebody else's. It is the path that the address claims: whoever copies the attribute into an address of their own is seen as ours
 * here, and cannot be signed for.
 */
export function openByronPath(_pathKey: Uint8Array, _derivationPath: string): readonly [number, number] | undefined {
  throw new Error("not written");
}

/** Bytes of a random wallet's address in hexadecimal; `key` is the public key at its path. `magic` is left out on mainnet. */
export function randomAddress(
  _parts: {
    readonly pathKey: Uint8Array;
    readonly path: readonly [number, number];
    readonly key: Xpub;
    readonly magic?: number;
  },
): string {
  throw new Error("not written");
}

/** Attributes of a Byron address as its bootstrap witness repeats them, out of the address's bytes in hexadecimal. */
export function byronAttributes(_address: string): Uint8Array {
  throw new Error("not written");
}
