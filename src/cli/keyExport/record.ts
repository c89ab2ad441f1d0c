/**
 * Records of a wallet's root key in a database of cardano-wallet: the columns `root` and `hash` of its table `private_key`.
 *
 * `root` is hexadecimal. An encrypted XPrv has 128 bytes (64 encrypted, public key, chain code); that of a random wallet of Byron is
 * followed by `:` and the key of its addresses. Since 2026 `root` may be `V2:`, an XPrv that is not used to open it, `:` and a CBOR
 * envelope: version 2, Argon2id with its cost, salt, XChaCha20-Poly1305, nonce, associated data, encrypted secret, tag. `hash` is
 * the hash of the passphrase, in hexadecimal; a V2 record has none, because its tag authenticates the passphrase.
 */
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { argon2id } from "hash-wasm";
import { concat, equalBytes, fromHex, fromUtf8, isHex, utf8 } from "#src/base/bytes.ts";
import { as, asInt, CborError, decode } from "#src/cardano/cbor.ts";
import { type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { CliError } from "#src/cli/error.ts";
import { unseal } from "#src/cardano/keys/seal.ts";

/** A root key that a passphrase opens. */
export interface KeyRecord {
  /** Random wallets of Byron derive in another way, so their keys have a type of their own. */
  readonly type: "Byron" | "Shelley";
  /** The key, or `undefined` where the passphrase is wrong. */
  readonly open: (passphrase: string) => Promise<SecretNode | undefined>;
}

const BAD = new CliError("Error: the private key in the database is malformed");
const XPRV = 128;

/** A record from its columns. @throws {CliError} where it is malformed */
export function readRecord(root: string, hash: string): KeyRecord {
  const isV2 = root.startsWith("V2:");
  const [xprv = "", ...more] = (isV2 ? root.slice(3) : root).split(":");
  const [envelope = "", ...payload] = isV2 ? more : ["", ...more];
  if (!isHex(xprv, XPRV) || payload.length > 1 || ![hash, envelope, ...payload].every((text) => isHex(text))) throw BAD;
  const type = payload.length === 1 ? "Byron" : "Shelley";
  if (isV2) {
    const read = readEnvelope(fromHex(envelope));
    return { type, open: (passphrase) => openEnvelope(read, passphrase) };
  }
  const verifier = fromHex(hash);
  if (verifier.length === 0) throw BAD;
  // wallets of before 2020 have the parameters of scrypt in front, as text
  const method = fromUtf8(verifier.subarray(0, 7)) === "14|8|1|" ? "scrypt" : "pbkdf2-hmac-sha512";
  const open = async (passphrase: string) => {
    try {
      return await unseal({ method, key: fromHex(xprv), verifier }, passphrase);
    } catch {
      // the key is not that of its public key
      throw BAD;
    }
  };
  return { type, open };
}

interface Envelope {
  readonly cost: { readonly memory: number; readonly passes: number; readonly lanes: number };
  readonly salt: Uint8Array;
  readonly nonce: Uint8Array;
  readonly data: Uint8Array;
  readonly secret: Uint8Array;
  readonly tag: Uint8Array;
  /** Public key and chain code, which the associated data has. */
  readonly xpub: Uint8Array;
}

/** Highest cost of a record that is opened: KiB, and passes over them. */
const HIGHEST = { memory: 1_048_576, passes: 10, lanes: 16 };

function readEnvelope(bytes: Uint8Array): Envelope {
  try {
    const parts = as(decode(bytes), "array").value;
    const [version, kdf, costs, salt, cipher, nonce, data, secret, tag] = parts;
    const [memory, passes, lanes, length] = as(costs, "array").value.map((one) => Number(asInt(one)));
    const bytesOf = (item: typeof salt, size: number) => {
      const { value } = as(item, "bytes");
      if (value.length !== size) throw BAD;
      return value;
    };
    const associated = as(decode(as(data, "bytes").value), "array").value;
    if (parts.length !== 9 || asInt(version) !== 2n || asInt(kdf) !== 1n || asInt(cipher) !== 1n || length !== 32) {
      throw BAD;
    }
    if (!memory || !passes || !lanes || memory > HIGHEST.memory || passes > HIGHEST.passes || lanes > HIGHEST.lanes) {
      throw BAD;
    }
    return {
      cost: { memory, passes, lanes },
      salt: bytesOf(salt, 32),
      nonce: bytesOf(nonce, 24),
      data: as(data, "bytes").value,
      secret: bytesOf(secret, 64),
      tag: bytesOf(tag, 16),
      xpub: concat(bytesOf(associated.at(-2), 32), bytesOf(associated.at(-1), 32)),
    };
  } catch (error) {
    if (error instanceof CborError) throw BAD;
    throw error;
  }
}

/**
 * The envelope names four lanes and has 32 bytes of salt. The library that cardano-wallet uses (libsodium) knows one lane and
 * takes 16 bytes; an older one did as the envelope says. So both are tried.
 */
async function openEnvelope(envelope: Envelope, passphrase: string): Promise<SecretNode | undefined> {
  const { cost, salt, nonce, data, secret, tag, xpub } = envelope;
  const variants = [{ salt: salt.subarray(0, 16), lanes: 1 }, { salt, lanes: cost.lanes }];
  for (const variant of variants) {
    const key = await argon2id({
      password: utf8(passphrase),
      salt: variant.salt,
      parallelism: variant.lanes,
      iterations: cost.passes,
      memorySize: cost.memory,
      hashLength: 32,
      outputType: "binary",
    });
    let opened: Uint8Array;
    try {
      opened = xchacha20poly1305(key, nonce, data).decrypt(concat(secret, tag));
    } catch {
      continue; // another variant, or a wrong passphrase
    }
    const node = { key: opened, chainCode: xpub.slice(32) };
    if (!equalBytes(toPublic(node).key, xpub.subarray(0, 32))) throw BAD;
    return node;
  }
  return undefined;
}
