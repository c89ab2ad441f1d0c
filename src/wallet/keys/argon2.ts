/**
 * Argon2id (RFC 9106), by machine code where the platform has it, else by libsodium in WebAssembly, which was seen to take two and a half
 * times as long (and `hash-wasm` half as long again). What either gives is the same.
 */
import { utf8 } from "#src/base/bytes.ts";

/** What Argon2id costs: memory in KiB, and passes over it, in one lane. */
export interface Cost {
  readonly memory: number;
  readonly passes: number;
}

/** 32 bytes out of a passphrase and a salt (16 bytes). Holds its thread for as long as it takes. */
export type Stretch = (passphrase: string, salt: Uint8Array, cost: Cost) => Uint8Array;

let chosen: Promise<Stretch> | undefined;

/** The one that this platform runs fastest. */
export function fastest(): Promise<Stretch> {
  return chosen ??= native().catch(portable);
}

/** By an addon; rejects where there is none for the platform, or where none may be loaded. */
export async function native(): Promise<Stretch> {
  const { hashRawSync } = await import("@node-rs/argon2");
  return (passphrase, salt, { memory, passes }) => {
    const limits = { memoryCost: memory, timeCost: passes, parallelism: 1, outputLen: 32 };
    return Uint8Array.from(hashRawSync(utf8(passphrase), { ...limits, salt }));
  };
}

/** By WebAssembly, everywhere. */
export async function portable(): Promise<Stretch> {
  const { default: sodium } = await import("libsodium-wrappers-sumo");
  await sodium.ready;
  return (passphrase, salt, { memory, passes }) =>
    sodium.crypto_pwhash(32, utf8(passphrase), salt, passes, memory * 1024, sodium.crypto_pwhash_ALG_ARGON2ID13);
}
