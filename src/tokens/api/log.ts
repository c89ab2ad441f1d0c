/** The log of the instance over HTTP. */
import { z } from "zod";
import { outputRef } from "#src/tokens/api/tokens.ts";

/** What is known of the log without a checkpoint. */
export const logInfo = z.object({
  origin: z.string().describe("Name of the log: the first line of its checkpoints and the name of its key."),
  vkey: z.string().describe("Public key of the log (signed note, type 01), as a policy names it."),
  depth: z.int().describe("Blocks above a block before its states enter the log."),
  size: z.int().describe("Entries of the newest checkpoint."),
  snapshots: z.int().nullable().describe(
    "Blocks between entries with the root of the unspent outputs; null where the log has none.",
  ),
}).meta({ id: "LogInfo" });

/** Text of a signed checkpoint, of a proof. */
export const noteText = z.string();

/** Parts of a tile's path. */
export const tilePathParts = {
  level: z.string().max(16).describe("Level of the tile, or `entries`."),
  index: z.string().max(64).describe(
    "Number of the tile in groups of three digits, all but the last with `x` (`x001/067`); of one that is not full followed by `.p/` and its width.",
  ),
};

/** Index of an entry. */
export const entryIndex = z.string().regex(/^(0|[1-9]\d{0,15})$/, "expected the index of an entry")
  .transform(Number).describe("Index of an entry, from 0.");

/** The snapshot that is meant. */
export const snapshotQuery = {
  block: z.string().regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits").optional().describe(
    "Hash of the block; the newest snapshot where it is missing.",
  ),
};

/** The state whose entry is meant. */
export const stateQuery = {
  outputRefId: outputRef.optional().describe(
    "The state by its output, `<transaction hash>-<output index>`; the newest entry of the token where it is missing.",
  ),
};

/** A witness as it says itself. */
export const witnessInfo = z.object({
  name: z.string(),
  vkey: z.string().describe("Public key of the witness (signed note, type 04), as a policy names it."),
  logs: z.array(z.string()).describe("Keys of the logs whose checkpoints it signs."),
}).meta({ id: "WitnessInfo" });

/** The hash by which a log is named in a path. */
export const originHash = z.string().regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits").describe(
  "SHA-256 of the log's origin, in hexadecimal.",
);

export const addCheckpointBody = z.custom<Uint8Array>((value) => value instanceof Uint8Array).meta({
  type: "string",
  description: "The old size, the consistency proof and the checkpoint.",
});
