/** Checkpoints: what a log signs, its name, size and root. */
import { base64 } from "@scure/base";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { HASH_BYTES } from "#src/tlog/hash.ts";
import {
  decodeBase64,
  isKeyName,
  LOG_KEY,
  type NoteKey,
  type NoteSigner,
  noteText,
  parseNote,
  type SignedNote,
  signText,
  verifySignatures,
} from "#src/tlog/note.ts";
import { isSize } from "#src/tlog/tree.ts";

export interface Checkpoint {
  /** The log's name: the URL at which it is, without the scheme. */
  readonly origin: string;
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** A checkpoint with the note in which it is. Its signatures are not verified. */
export interface NotedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly note: SignedNote;
}

/** The text that is signed. @throws RangeError where the origin is no key name. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  if (!isKeyName(origin) || !isSize(size)) throw new RangeError(`no checkpoint of ${size} entries of ${origin}`);
  return `${origin}\n${size}\n${base64.encode(root)}\n`;
}

/** A checkpoint as the note that its log signs. */
export function signCheckpoint(signer: NoteSigner, checkpoint: Checkpoint): string {
  const text = checkpointText(checkpoint);
  return noteText({ text, signatures: [signText(signer, text)] });
}

/** Reads a checkpoint out of a note; verifies no signature. Extension lines are read over: they are signed, and mean nothing here. */
export function parseCheckpoint(text: string): Result<NotedCheckpoint, Failure<"bad_note" | "bad_checkpoint">> {
  const note = parseNote(text);
  if (!note.ok) return note;
  const [origin = "", size = "", root = "", ...rest] = note.value.text.split("\n");
  if (rest.pop() !== "" || rest.includes("")) return fail("bad_checkpoint", "The checkpoint has not its three lines.");
  const count = parseSize(size);
  const hash = decodeBase64(root);
  if (origin === "") return fail("bad_checkpoint", "The checkpoint has no origin.");
  if (count === undefined) return fail("bad_checkpoint", "The size in the checkpoint is not a number of entries.");
  if (hash?.length !== HASH_BYTES) {
    return fail("bad_checkpoint", "The root in the checkpoint is not a hash of 32 bytes.");
  }
  return ok({ checkpoint: { origin, size: count, root: hash }, note: note.value });
}

/** Reads a checkpoint that one of these logs signed, each under its own name. */
export function openCheckpoint(
  text: string,
  logs: readonly NoteKey[],
): Result<
  NotedCheckpoint,
  Failure<"bad_note" | "bad_checkpoint" | "bad_signature" | "unknown_log" | "not_signed">
> {
  const parsed = parseCheckpoint(text);
  if (!parsed.ok) return parsed;
  const { checkpoint, note } = parsed.value;
  const keys = logs.filter(({ name, type }) => name === checkpoint.origin && type === LOG_KEY);
  if (keys.length === 0) return fail("unknown_log", "The checkpoint is of a log whose key is not known.");
  const verified = verifySignatures(note, keys);
  if (!verified.ok) return verified;
  return verified.value.length > 0 ? parsed : fail("not_signed", "The checkpoint is not signed by the key of its log.");
}

/** A number of entries in decimal, without leading zeros; undefined for other text. */
export function parseSize(text: string): number | undefined {
  if (!/^(0|[1-9]\d{0,15})$/.test(text)) return undefined;
  const size = Number(text);
  return isSize(size) ? size : undefined;
}
