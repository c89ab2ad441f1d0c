/** Proofs that an entry is in a log, for readers without a network (tlog-proof@v1). */
import { base64 } from "@scure/base";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { parseSize } from "#src/tlog/checkpoint.ts";
import { leafHash } from "#src/tlog/hash.ts";
import { hashLines, parseHashLines } from "#src/tlog/hashLines.ts";
import { decodeBase64, MAX_NOTE } from "#src/tlog/note.ts";
import { acceptCheckpoint, type AcceptedCheckpoint, type Policy, type PolicyRefusal } from "#src/tlog/policy.ts";
import { verifyInclusion } from "#src/tlog/tree.ts";

const HEAD = "c2sp.org/tlog-proof@v1";

export interface LogProof {
  /** Data that nothing authenticates. */
  readonly extra?: Uint8Array;
  readonly index: number;
  readonly hashes: readonly Uint8Array[];
  /** The signed checkpoint as text. */
  readonly checkpoint: string;
}

/** A proof as text. */
export function logProofText({ extra, index, hashes, checkpoint }: LogProof): string {
  const before = extra === undefined ? "" : `extra ${base64.encode(extra)}\n`;
  return `${HEAD}\n${before}index ${index}\n${hashLines(hashes)}\n${checkpoint}`;
}

/** Reads a proof; verifies nothing. */
export function parseLogProof(text: string): Result<LogProof, Failure<"bad_proof">> {
  if (text.length > 2 * MAX_NOTE) return fail("bad_proof", `The proof has more than ${2 * MAX_NOTE} characters.`);
  const end = text.indexOf("\n\n");
  if (end < 0) return fail("bad_proof", "The proof has no checkpoint.");
  const [head, ...lines] = text.slice(0, end).split("\n");
  if (head !== HEAD) return fail("bad_proof", `The proof does not begin with ${HEAD}.`);
  const encoded = lines[0]?.startsWith("extra ") ? lines.shift()?.slice("extra ".length) : undefined;
  const extra = encoded === undefined ? undefined : decodeBase64(encoded);
  if (encoded !== undefined && extra === undefined) return fail("bad_proof", "The extra data is not base64.");
  const line = lines.shift() ?? "";
  const index = line.startsWith("index ") ? parseSize(line.slice("index ".length)) : undefined;
  if (index === undefined) return fail("bad_proof", "The proof has no index.");
  const hashes = parseHashLines(lines);
  if (!hashes) return fail("bad_proof", "A line of the proof is not a hash, or there are too many.");
  return ok({ ...(extra === undefined ? {} : { extra }), index, hashes, checkpoint: text.slice(end + 2) });
}

/** Whether a proof shows under a policy that an entry is in a log; gives the checkpoint that says so. */
export function verifyLogProof(
  policy: Policy,
  entry: Uint8Array,
  { index, hashes, checkpoint }: LogProof,
): Result<AcceptedCheckpoint, PolicyRefusal | Failure<"not_included">> {
  const accepted = acceptCheckpoint(policy, checkpoint);
  if (!accepted.ok) return accepted;
  const { size, root } = accepted.value.checkpoint;
  return verifyInclusion({ index, size, leaf: leafHash(entry), proof: hashes, root })
    ? accepted
    : fail("not_included", "The proof does not lead from the entry to the root of the checkpoint.");
}
