/**
 * Argon2id (RFC 9106): a native addon where the platform has one, otherwise libsodium in WebAssembly, which was
 * measured to take 2.5 times as long (`hash-wasm` took another 50 % longer). Both give the same result.
 */
import { utf8 } from "#src/base/bytes.ts";

/** Cost of Argon2id: memory in KiB, and passes over it; parallelism is 1. */
export interface Argon2Cost {
  readonly memory: number;
  readonly passes: number;
}

/** Derives 32 bytes from a passphrase and a salt (16 bytes). Blocks its thread. */
export type DeriveKey = (passphrase: string, salt: Uint8Array, cost: Argon2Cost) => Uint8Array;

let chosen: Promise<DeriveKey> | undefined;

/** The fastest implementation for this platform. */
export function fastest(): Promise<DeriveKey> {
  return chosen ??= native().catch(portable);
}

/** The native addon; rejects where there is none for the platform, or addons may not be loaded. */
export async function native(): Promise<DeriveKey> {
  const { hashRawSync } = await import("@node-rs/argon2");
  return (passphrase, salt, { memory, passes }) => {
    const limits = { memoryCost: memory, timeCost: passes, parallelism: 1, outputLen: 32 };
    return Uint8Array.from(hashRawSync(utf8(passphrase), { ...limits, salt }));
  };
}

/** WebAssembly, on every platform. */
export async function portable(): Promise<DeriveKey> {
  const { default: sodium } = await import("libsodium-wrappers-sumo");
  await sodium.ready;
  return (passphrase, salt, { memory, passes }) =>
    sodium.crypto_pwhash(32, utf8(passphrase), salt, passes, memory * 1024, sodium.crypto_pwhash_ALG_ARGON2ID13);
}
