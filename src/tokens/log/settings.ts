/** What an operator decides about the log. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { isKeyName, LOG_KEY, type NoteKey, parseVkey, WITNESS_KEY } from "#src/tlog/note.ts";

/** A witness that is requested to sign checkpoints. */
export interface WitnessAddress {
  /** URL before `/add-checkpoint`. */
  readonly url: string;
  /** Its key; undefined: it is an instance of this service, which says its key at that URL. */
  readonly key?: NoteKey;
}

export interface LogSettings {
  /** Name of the log: the URL at which it is served, without the scheme. Undefined: a name made of its key. */
  readonly origin?: string;
  /** Name of this instance as a witness; made of its key where undefined. */
  readonly witnessName?: string;
  /** Blocks above a block before its states enter the log. */
  readonly depth: number;
  /** Blocks from one entry with the root of the unspent outputs to the next; undefined: there are none. */
  readonly snapshots?: number;
  readonly witnesses: readonly WitnessAddress[];
  /** Keys of the logs of others for which this instance is a witness. */
  readonly witnessFor: readonly NoteKey[];
}

/** Blocks above a block on a network: rollbacks of more are not known from mainnet. */
export const LOG_DEPTH = 36;
/** The same on a devnet. */
export const DEVNET_LOG_DEPTH = 5;

/** A witness as it is typed: `URL`, or `VKEY URL`. */
export function readWitness(text: string): Result<WitnessAddress, Failure<"bad_witness">> {
  const words = text.trim().split(/\s+/);
  const [vkey, url] = words.length === 2 ? words : [undefined, words[0]];
  if (words.length > 2 || url === undefined || !/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    return fail("bad_witness", "is not the URL of a witness, or its key and URL with a space between");
  }
  const address = { url: url.replace(/\/+$/, "") };
  if (vkey === undefined) return ok(URL.parse(url)?.pathname === "/" ? { url: `${address.url}/witness` } : address);
  const key = parseVkey(vkey);
  if (!key.ok || key.value.type !== WITNESS_KEY) {
    return fail("bad_witness", "has a key that is not one of a witness (Ed25519, type 04)");
  }
  return ok({ ...address, key: key.value });
}

/** The key of a log as it is typed. */
export function readLogKey(vkey: string): Result<NoteKey, Failure<"bad_key">> {
  const key = parseVkey(vkey);
  return key.ok && key.value.type === LOG_KEY ? key : fail("bad_key", "is not the key of a log (Ed25519, type 01)");
}

/** Whether a text can be the name of a log or of a witness. */
export const isLogName = isKeyName;
