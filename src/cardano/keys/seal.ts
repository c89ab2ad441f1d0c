/**
 * Root keys sealed with a passphrase. New ones use Argon2id and XChaCha20-Poly1305. Those of older wallets use PBKDF2
 * or scrypt: an XPrv with its secret half encrypted, and a hash of the passphrase. Both are read.
 *
 * A record states the cost at which it was sealed. New ones use OWASP's minimum for Argon2id (19 MiB, two passes).
 * The 128 MiB and three passes that other wallets use would take ten times as long, at every signature.
 */
import { chacha20orig, xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { Buffer } from "node:buffer";
import { pbkdf2Sync, randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { concat, equalBytes, fromUtf8, utf8 } from "#src/base/bytes.ts";
import { as, asInt, decode, encode } from "#src/cardano/cbor.ts";
import { type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { type Argon2Cost, fastest } from "#src/cardano/keys/argon2.ts";
import type { SealedKey } from "#src/cardano/keys/types.ts";

const COST: Argon2Cost = { memory: 19_456, passes: 2 };
/** Highest cost of a record that is opened: a higher one would block a thread and its memory. */
const HIGHEST: Argon2Cost = { memory: 131_072, passes: 8 };

function publicPart(node: SecretNode): Uint8Array {
  return concat(toPublic(node).key, node.chainCode);
}

/**
 * Seals a root key: CBOR of salt (16 bytes), nonce (24), associated data (cost, public key and chain code), the
 * encrypted secret (64) and its tag (16).
 *
 * @throws TypeError on an empty passphrase.
 */
export async function seal(node: SecretNode, passphrase: string, cost: Argon2Cost = COST): Promise<SealedKey> {
  if (passphrase === "") throw new TypeError("no passphrase");
  const salt = Uint8Array.from(randomBytes(16));
  const nonce = Uint8Array.from(randomBytes(24));
  const data = encode([cost.memory, cost.passes, publicPart(node)]);
  const sealed = xchacha20poly1305((await fastest())(passphrase, salt, cost), nonce, data).encrypt(node.key);
  return {
    method: "argon2id-v2",
    key: encode([salt, nonce, data, sealed.subarray(0, 64), sealed.subarray(64)]),
  };
}

/**
 * Opens a sealed root key; `undefined` where the passphrase is wrong, or an XPrv is not its public key's.
 *
 * @throws Error on a malformed record, or one whose cost is too high.
 */
export async function unseal(sealed: SealedKey, passphrase: string): Promise<SecretNode | undefined> {
  if (sealed.method !== "argon2id-v2") return openXprv(sealed, passphrase);
  // no record is sealed with an empty passphrase
  return passphrase === "" ? undefined : await openRecord(sealed.key, passphrase);
}

async function openRecord(record: Uint8Array, passphrase: string): Promise<SecretNode | undefined> {
  const [salt, nonce, data, secret, tag] = as(decode(record), "array").value.map((item) => as(item, "bytes").value);
  if (!salt || !nonce || !data || !secret || !tag) throw new Error("a sealed key with parts missing");
  const [memory, passes, known] = as(decode(data), "array").value;
  const cost = { memory: Number(asInt(memory)), passes: Number(asInt(passes)) };
  if (cost.memory > HIGHEST.memory || cost.passes > HIGHEST.passes) {
    throw new Error("a sealed key that is dearer than may be");
  }
  const key = (await fastest())(passphrase, salt, cost);
  try {
    const opened = xchacha20poly1305(key, nonce, data).decrypt(concat(secret, tag));
    return { key: opened, chainCode: as(known, "bytes").value.slice(32) };
  } catch {
    return undefined;
  }
}

/** PBKDF2 hash of a spending passphrase: length of the salt, salt, and 64 bytes. */
export function hashPassphrase(passphrase: string, salt: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(salt.length), salt, pbkdf2Sync(utf8(passphrase), salt, 20_000, 64, "sha512"));
}

/** Whether a text `14|8|1|salt|hash` (base64, the oldest form) is the scrypt hash of a passphrase. */
export function isScryptHash(stored: string, passphrase: string): boolean {
  const [cost, r, p, salt, hash] = stored.split("|");
  if (salt === undefined || hash === undefined || cost !== "14" || r !== "8" || p !== "1") return false;
  const wanted = Buffer.from(hash, "base64");
  // scrypt needs a little more than 16 MiB
  const limits = { N: 2 ** 14, r: 8, p: 1, maxmem: 2 ** 25 };
  const made = scryptSync(encode(scryptInput(passphrase)), Buffer.from(salt, "base64"), wanted.length, limits);
  return wanted.length > 0 && timingSafeEqual(made, wanted);
}

/** The scrypt input. Legacy wallets allow an empty passphrase; it is hashed as empty. */
function scryptInput(passphrase: string): Uint8Array {
  return passphrase === "" ? new Uint8Array() : blake2b256(utf8(passphrase));
}

/** Length of such a PBKDF2 hash: of the salt, the salt, and the derived bytes. */
const PBKDF2_HASH = 1 + 16 + 64;

/** The encrypted XPrv (128 bytes) of another wallet and the hash of its passphrase, in either form. */
export function sealedXprv(key: Uint8Array, verifier: Uint8Array): SealedKey {
  const isPbkdf2 = verifier.length === PBKDF2_HASH && verifier[0] === 16;
  return { method: isPbkdf2 ? "pbkdf2-hmac-sha512" : "scrypt", key, verifier };
}

/** Encrypts or decrypts the 64 secret bytes of an XPrv; an empty passphrase leaves them as they are. */
function xorSecret(secret: Uint8Array, passphrase: Uint8Array): Uint8Array {
  if (passphrase.length === 0) return secret.slice();
  const stream = pbkdf2Sync(passphrase, utf8("encrypted wallet salt\0"), 15_000, 40, "sha512");
  return chacha20orig(Uint8Array.from(stream.subarray(0, 32)), Uint8Array.from(stream.subarray(32)), secret);
}

function openXprv({ method, key, verifier }: SealedKey, passphrase: string): SecretNode | undefined {
  if (key.length !== 128 || !verifier) throw new Error("no encrypted XPrv");
  const isScrypt = method === "scrypt";
  if (!matches(isScrypt, verifier, passphrase)) return undefined;
  const bytes = isScrypt ? scryptInput(passphrase) : utf8(passphrase);
  const node = { key: xorSecret(key.subarray(0, 64), bytes), chainCode: key.slice(96) };
  // clients give such keys and hashes: the passphrase of the hash need not be the one that encrypts the key
  return equalBytes(publicPart(node), key.subarray(64)) ? node : undefined;
}

function matches(isScrypt: boolean, verifier: Uint8Array, passphrase: string): boolean {
  if (isScrypt) return isScryptHash(fromUtf8(verifier) ?? "", passphrase);
  const [length = 0] = verifier;
  const salt = verifier.subarray(1, 1 + length);
  const made = hashPassphrase(passphrase, salt);
  return made.length === verifier.length && timingSafeEqual(made, verifier);
}
