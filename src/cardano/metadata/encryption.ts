/**
 * Encrypted messages in metadata (CIP-20, CIP-83 "basic"): `msg` under label 674, a list of texts, is encrypted with a
 * passphrase. AES-256-CBC with a key from PBKDF2-HMAC-SHA256, in the format of `openssl enc`, as base64 in texts of 64
 * characters. WebCrypto does not block the event loop.
 */
import { concat, fromUtf8, utf8 } from "#src/base/bytes.ts";
import { type Json, parseJson, toJson } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { isList, type Metadata, type Metadatum, MetadatumMap } from "#src/cardano/metadata/metadatum.ts";

const LABEL = 674n;
const SALTED = utf8("Salted__");
const SALT_BYTES = 8;
const ROUNDS = 10_000;
const CHUNK = 64;

type EncryptFailure = Failure<"invalid_metadata_encryption">;
type DecryptFailure = Failure<"invalid_metadata_decryption">;

async function cipher(passphrase: string, salt: Uint8Array) {
  const password = await crypto.subtle.importKey("raw", copyOf(utf8(passphrase)), "PBKDF2", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits(
    { name: "PBKDF2", hash: "SHA-256", salt: copyOf(salt), iterations: ROUNDS },
    password,
    (32 + 16) * 8,
  );
  const key = await crypto.subtle.importKey("raw", bits.slice(0, 32), "AES-CBC", false, ["encrypt", "decrypt"]);
  return { key, algorithm: { name: "AES-CBC", iv: bits.slice(32) } };
}

/** A copy with a buffer of its own, which WebCrypto's types require. */
function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

/** The CIP-20 message of metadata and the content of its label; undefined where there is none, or more than one. */
function messageOf(metadata: Metadata) {
  const content = metadata.get(LABEL);
  if (!(content instanceof MetadatumMap)) return undefined;
  const [texts, more] = content.entries.flatMap(([key, value]) => key === "msg" ? [value] : []);
  if (!isList(texts) || more !== undefined) return undefined;
  return texts.every((line) => typeof line === "string") ? { content, texts } : undefined;
}

/**
 * Encrypts the message of metadata. `salt` is 8 random bytes by default. An empty salt gives the same result each time,
 * and decryption refuses it; it is for test vectors.
 */
export async function encryptMetadata(
  metadata: Metadata,
  passphrase: string,
  salt: Uint8Array = crypto.getRandomValues(new Uint8Array(SALT_BYTES)),
): Promise<Result<Metadata, EncryptFailure>> {
  const found = messageOf(metadata);
  if (!found) {
    return fail(
      "invalid_metadata_encryption",
      'Only a message can be encrypted: metadata needs label 674 with "msg", a list of texts (CIP-83).',
    );
  }
  const { key, algorithm } = await cipher(passphrase, salt);
  const encrypted = new Uint8Array(await crypto.subtle.encrypt(algorithm, key, copyOf(utf8(toJson(found.texts)))));
  const whole = base64(salt.length > 0 ? concat(SALTED, salt, encrypted) : encrypted);
  const content = withMessage(found.content, whole.match(new RegExp(`.{1,${CHUNK}}`, "g")) ?? []);
  return ok(new Map([...metadata, [LABEL, new MetadatumMap([...content, ["enc", "basic"]])]]));
}

/** Decrypts the message of metadata: the inverse of `encryptMetadata`. */
export async function decryptMetadata(
  metadata: Metadata,
  passphrase: string,
): Promise<Result<Metadata, DecryptFailure>> {
  const refuse = (why: string) => fail("invalid_metadata_decryption", `The metadata cannot be decrypted: ${why}.`);
  const found = messageOf(metadata);
  if (!found || !found.content.entries.some(([key, value]) => key === "enc" && value === "basic")) {
    return refuse("it has no encrypted message");
  }
  const bytes = fromBase64(found.texts.join(""));
  if (!bytes) return refuse("its message is not base64");
  const start = SALTED.length + SALT_BYTES;
  if (bytes.length < start || !SALTED.every((byte, i) => bytes[i] === byte)) return refuse("its salt is missing");
  const { key, algorithm } = await cipher(passphrase, bytes.subarray(SALTED.length, start));
  const message = await decrypt(algorithm, key, bytes.subarray(start));
  if (!message) return refuse("the passphrase is wrong, or the message damaged");
  return ok(new Map([...metadata, [LABEL, new MetadatumMap(withMessage(found.content, message))]]));
}

/** The entries with another message, in its place; none says how it is encrypted. */
function withMessage({ entries }: MetadatumMap, message: Metadatum): MetadatumMap["entries"] {
  return entries.filter(([key]) => key !== "enc").map((entry) => entry[0] === "msg" ? [entry[0], message] : entry);
}

async function decrypt(algorithm: { name: string; iv: ArrayBuffer }, key: CryptoKey, sealed: Uint8Array) {
  try {
    const text = fromUtf8(new Uint8Array(await crypto.subtle.decrypt(algorithm, key, copyOf(sealed))));
    const message: Json = text === undefined ? null : parseJson(text);
    return Array.isArray(message) && message.every((line) => typeof line === "string") ? message : undefined;
  } catch {
    // wrong padding or invalid JSON: a wrong passphrase gives either
    return undefined;
  }
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
