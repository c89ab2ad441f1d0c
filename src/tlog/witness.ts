/** What a log sends to a witness, and what the witness answers (tlog-witness). */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type Checkpoint, type NotedCheckpoint, parseCheckpoint, parseSize } from "#src/tlog/checkpoint.ts";
import { EMPTY_LOG_ROOT } from "#src/tlog/hash.ts";
import { hashLines, parseHashLines } from "#src/tlog/hashLines.ts";
import { LOG_KEY, MAX_NOTE, type NoteKey, verifySignatures } from "#src/tlog/note.ts";
import { verifyConsistency } from "#src/tlog/tree.ts";

/** Most characters in a request. */
export const MAX_WITNESS_REQUEST = 2 * MAX_NOTE;

/** A request to sign a checkpoint. */
export interface AddCheckpoint {
  /** Size of the last checkpoint that the witness signed. */
  readonly before: number;
  readonly proof: readonly Uint8Array[];
  /** The signed checkpoint as text. */
  readonly checkpoint: string;
}

/** The body of a request. */
export function addCheckpointText({ before, proof, checkpoint }: AddCheckpoint): string {
  return `old ${before}\n${hashLines(proof)}\n${checkpoint}`;
}

/** Reads a request; verifies nothing. */
export function parseAddCheckpoint(text: string): Result<AddCheckpoint, Failure<"bad_request">> {
  if (text.length > MAX_WITNESS_REQUEST) {
    return fail("bad_request", `The request has more than ${MAX_WITNESS_REQUEST} characters.`);
  }
  const end = text.indexOf("\n\n");
  if (end < 0) return fail("bad_request", "The request has no checkpoint.");
  const [line = "", ...lines] = text.slice(0, end).split("\n");
  const before = line.startsWith("old ") ? parseSize(line.slice("old ".length)) : undefined;
  if (before === undefined) return fail("bad_request", "The request does not begin with a line `old` and a size.");
  const proof = parseHashLines(lines);
  if (!proof) return fail("bad_request", "A line of the proof is not a hash, or there are too many.");
  return ok({ before, proof, checkpoint: text.slice(end + 2) });
}

/** What a witness knows: the keys that it accepts, and the newest checkpoint that it signed of each log. */
export interface WitnessState {
  /** Keys of a log by its origin; none: it is unknown. */
  keys(origin: string): readonly NoteKey[];
  /** Newest checkpoint that the witness signed; undefined: none. */
  latest(origin: string): Pick<Checkpoint, "size" | "root"> | undefined;
}

/** What a witness decides: to sign, or a status with the text of the answer. */
export type WitnessDecision =
  | { readonly type: "sign"; readonly signed: NotedCheckpoint }
  | { readonly type: "refuse"; readonly status: 400 | 403 | 404 | 422; readonly text: string }
  | { readonly type: "conflict"; readonly status: 409; readonly size: number };

/** Content type of the answer to a request whose old size is not that of the witness: the size. */
export const CONFLICT_TYPE = "text/x.tlog.size";

/** The first part of a decision: the request itself and its signatures, without the state of the log. */
export function openAddCheckpoint(
  text: string,
  keys: WitnessState["keys"],
): WitnessDecision | { readonly type: "open"; readonly request: AddCheckpoint; readonly signed: NotedCheckpoint } {
  const request = parseAddCheckpoint(text);
  if (!request.ok) return refuse(400, request.error.message);
  const signed = parseCheckpoint(request.value.checkpoint);
  if (!signed.ok) return refuse(400, signed.error.message);
  const { checkpoint, note } = signed.value;
  const known = keys(checkpoint.origin).filter(({ type, name }) => type === LOG_KEY && name === checkpoint.origin);
  if (known.length === 0) return refuse(404, "The log is not known to this witness.");
  const verified = verifySignatures(note, known);
  if (!verified.ok) return refuse(403, verified.error.message);
  if (verified.value.length === 0) return refuse(403, "The checkpoint is not signed by the key of its log.");
  if (request.value.before > checkpoint.size) return refuse(400, "The old size is above that of the checkpoint.");
  return { type: "open", request: request.value, signed: signed.value };
}

/** Whether a witness may sign: the checkpoint must follow from the newest one that it signed. */
export function decideCheckpoint(text: string, state: WitnessState): WitnessDecision {
  const opened = openAddCheckpoint(text, (origin) => state.keys(origin));
  if (opened.type !== "open") return opened;
  const { request: { before, proof }, signed } = opened;
  const { origin, size, root } = signed.checkpoint;
  const latest = state.latest(origin) ?? { size: 0, root: EMPTY_LOG_ROOT };
  if (before !== latest.size) return { type: "conflict", status: 409, size: latest.size };
  if (!verifyConsistency({ before, size, beforeRoot: latest.root, root, proof })) {
    return refuse(422, "The checkpoint does not follow from the one that this witness signed before.");
  }
  return { type: "sign", signed };
}

function refuse(status: 400 | 403 | 404 | 422, text: string): WitnessDecision {
  return { type: "refuse", status, text };
}
