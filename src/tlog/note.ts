/**
 * Signed notes: a text, an empty line, and lines with signatures. A key is known by its name and a short id of its bytes; a
 * signature by another key is ignored, one of a known key that is wrong makes the whole note worthless.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { base64 } from "@scure/base";
import { concat, equalBytes, fromHex, isWellFormed, toHex, utf8 } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** Type of a log's key: an Ed25519 signature of the text. */
export const LOG_KEY = 1;
/** Type of a witness's key: an Ed25519 signature of the text and of a time. */
export const WITNESS_KEY = 4;
type KeyType = typeof LOG_KEY | typeof WITNESS_KEY;

/** Most characters in a note. */
export const MAX_NOTE = 65_536;
/** Most signatures in a note. */
const MAX_SIGNATURES = 64;

/** A key that verifies. */
export interface NoteKey {
  readonly name: string;
  readonly type: KeyType;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** A key that signs. */
export interface NoteSigner extends NoteKey {
  /** The secret, 32 bytes. */
  readonly seed: Uint8Array;
}

/** A signature line. */
export interface NoteSignature {
  readonly name: string;
  /** Eight hexadecimal digits. */
  readonly keyId: string;
  /** What follows the key id: 64 bytes, or 72 with a time before it. */
  readonly signature: Uint8Array;
}

export interface SignedNote {
  /** Ends with a newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** A signature that was verified. */
export interface VerifiedSignature {
  readonly key: NoteKey;
  readonly line: NoteSignature;
  /** Seconds since 1970 at which a witness signed; undefined for a log's key. */
  readonly seconds?: number;
}

/** A name of a key: at least one character, none of them a space or a plus. */
export function isKeyName(name: string): boolean {
  return name.length <= 512 && isWellFormed(name) && /^[^\s+\u0085]+$/u.test(name) && !hasControl(name);
}

/** The key that a seed of 32 bytes makes. */
export function noteSigner(name: string, type: KeyType, seed: Uint8Array): NoteSigner {
  return { name, type, seed, publicKey: ed25519.getPublicKey(seed) };
}

/** Id of a key, eight hexadecimal digits. */
export function keyIdOf({ name, type, publicKey }: NoteKey): string {
  return toHex(sha256(concat(utf8(`${name}\n`), Uint8Array.of(type), publicKey)).subarray(0, 4));
}

/** A key as text (`vkey`): `name+id+base64`. */
export function vkeyOf(key: NoteKey): string {
  return `${key.name}+${keyIdOf(key)}+${base64.encode(concat(Uint8Array.of(key.type), key.publicKey))}`;
}

/** The key of a `vkey`. The id must be that of the key. */
export function parseVkey(text: string): Result<NoteKey, Failure<"bad_key">> {
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.slice(0, 1024)) ?? [];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
  if (name === undefined || !isKeyName(name) || bytes === undefined) {
    return fail("bad_key", "The key is not a name, a key id and a public key with + between them.");
  }
  const type = bytes[0];
  if ((type !== LOG_KEY && type !== WITNESS_KEY) || bytes.length !== 33) {
    return fail("bad_key", `The key of ${name} is not an Ed25519 key of a log (type 01) or of a witness (type 04).`);
  }
  const key: NoteKey = { name, type, publicKey: bytes.slice(1) };
  return keyIdOf(key) === id ? ok(key) : fail("bad_key", `The key id of ${name} does not belong to its public key.`);
}

/** Reads a note; its signatures are not verified. */
export function parseNote(note: string): Result<SignedNote, Failure<"bad_note">> {
  if (note.length > MAX_NOTE) return fail("bad_note", `The note has more than ${MAX_NOTE} characters.`);
  if (!isWellFormed(note) || hasControl(note.replaceAll("\n", ""))) {
    return fail("bad_note", "The note has characters that a note must not have.");
  }
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || !note.endsWith("\n")) return fail("bad_note", "The note has no empty line before its signatures.");
  const signatures = parseSignatures(note.slice(end + 2));
  if (!signatures.ok) return signatures;
  if (signatures.value.length === 0) return fail("bad_note", "The note has no signature.");
  return ok({ text: note.slice(0, end + 1), signatures: signatures.value });
}

/** Reads signature lines, each with its newline. */
export function parseSignatures(text: string): Result<NoteSignature[], Failure<"bad_note">> {
  const signatures: NoteSignature[] = [];
  const lines = text.split("\n");
  if (lines.pop() !== "") return fail("bad_note", "A signature line has no newline.");
  if (lines.length > MAX_SIGNATURES) return fail("bad_note", `There are more than ${MAX_SIGNATURES} signatures.`);
  for (const line of lines) {
    const [, name, encoded] = /^\u2014 (\S+) (\S+)$/u.exec(line) ?? [];
    const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
    if (name === undefined || !isKeyName(name) || bytes === undefined || bytes.length < 5) {
      return fail("bad_note", "A signature line is malformed.");
    }
    signatures.push({ name, keyId: toHex(bytes.subarray(0, 4)), signature: bytes.slice(4) });
  }
  return ok(signatures);
}

/** A signature line, with its newline. */
export function signatureLine({ name, keyId, signature }: NoteSignature): string {
  return `\u2014 ${name} ${base64.encode(concat(fromHex(keyId), signature))}\n`;
}

/** A note as text. */
export function noteText({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(signatureLine).join("")}`;
}

/** The signature of a text by a log's key. */
export function signText(signer: NoteSigner, text: string): NoteSignature {
  return { name: signer.name, keyId: keyIdOf(signer), signature: ed25519.sign(utf8(text), signer.seed) };
}

/** The cosignature of a checkpoint's text by a witness's key, at a time in seconds since 1970. */
export function cosignText(signer: NoteSigner, text: string, seconds: number): NoteSignature {
  const time = new Uint8Array(8);
  new DataView(time.buffer).setBigUint64(0, BigInt(seconds));
  const signature = ed25519.sign(cosigned(text, seconds), signer.seed);
  return { name: signer.name, keyId: keyIdOf(signer), signature: concat(time, signature) };
}

/**
 * Verifies the signatures by known keys. Fails where one of them is wrong; gives none where no known key signed. Of several
 * signatures by one key the first counts, and all are verified.
 */
export function verifySignatures(
  { text, signatures }: SignedNote,
  keys: readonly NoteKey[],
): Result<VerifiedSignature[], Failure<"bad_signature">> {
  const verified: VerifiedSignature[] = [];
  const known = keys.map((key) => ({ key, id: keyIdOf(key) }));
  for (const line of signatures) {
    for (const { key } of known.filter(({ key, id }) => key.name === line.name && id === line.keyId)) {
      const one = verifiedBy(key, text, line);
      if (!one) return fail("bad_signature", `The signature of ${line.name} is wrong.`);
      if (!verified.some((other) => other.key === key)) verified.push(one);
    }
  }
  return ok(verified);
}

function verifiedBy(key: NoteKey, text: string, line: NoteSignature): VerifiedSignature | undefined {
  const { signature } = line;
  if (key.type === LOG_KEY) return isSigned(signature, utf8(text), key) ? { key, line } : undefined;
  if (signature.length !== 72) return undefined;
  const time = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  const seconds = Number(time);
  return isSigned(signature.subarray(8), cosigned(text, seconds), key) ? { key, line, seconds } : undefined;
}

function isSigned(signature: Uint8Array, message: Uint8Array, { publicKey }: NoteKey): boolean {
  if (signature.length !== 64) return false;
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

const cosigned = (text: string, seconds: number) => utf8(`cosignature/v1\ntime ${seconds}\n${text}`);

/** Whether two keys are the same public key, whatever their names. */
export function samePublicKey(a: NoteKey, b: NoteKey): boolean {
  return equalBytes(a.publicKey, b.publicKey);
}

/** Bytes of base64 in its one canonical form with padding; undefined for other text. */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return base64.decode(text);
  } catch {
    return undefined;
  }
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) < 0x20) return true;
  }
  return false;
}
