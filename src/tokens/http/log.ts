/**
 * The log of the instance over HTTP, as C2SP's tlog-tiles says: static paths, of which all but the newest checkpoint may be
 * cached without end.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import { vkeyOf } from "#src/tlog/note.ts";
import { parseTilePath } from "#src/tlog/tiles.ts";
import { entryIndex, logInfo, noteText, snapshotQuery, stateQuery, tilePathParts } from "#src/tokens/api/log.ts";
import * as api from "#src/tokens/api/tokens.ts";
import type { TokenService } from "#src/tokens/http/service.ts";
import { logSigner } from "#src/tokens/log/keys.ts";
import { readCheckpoint, readEntryIndex, readFile, readProof } from "#src/tokens/log/read.ts";
import { readSize, SNAPSHOTS } from "#src/tokens/log/rows.ts";

const ALWAYS = { "cache-control": "public, max-age=31536000, immutable" };
const SHORT = { "cache-control": "public, max-age=1" };
const NO_ENTRY = "`not_logged`";

/** Adds `/log` and the proof of a token's state. */
export function logRoutes(
  app: OpenAPIHono,
  service: Pick<TokenService, "store" | "networkMagic" | "tokenLog">,
): void {
  const { store: { sql } } = service;
  endpoint(app, "get", "/log", {
    summary: "The log of this instance: its name, key and size",
    description: "All states of all tokens as a transparency log in the formats of C2SP. See docs/transparency.md.",
    answer: logInfo,
  }, async () => {
    const { networkMagic, tokenLog } = service;
    const signer = await logSigner(sql, networkMagic, tokenLog);
    const { depth, snapshots = null } = tokenLog;
    return { origin: signer.name, vkey: vkeyOf(signer), depth, size: await readSize(sql), snapshots };
  });

  endpoint(app, "get", "/log/checkpoint", {
    summary: "The newest checkpoint, with the signatures of witnesses",
    answer: noteText,
    produces: "text/plain",
    refusals: { 404: "`no_checkpoint`: the log has not begun" },
  }, async ({ context }) => {
    const note = await readCheckpoint(sql);
    if (note === undefined) throw new HttpFailure(404, "no_checkpoint", "The log has no checkpoint yet.");
    return context.text(note, 200, SHORT);
  });

  endpoint(app, "get", "/log/tile/:level/:index{.+}", {
    summary: "Hashes of a tile, or a bundle of entries",
    description:
      "`/log/tile/0/000`, `/log/tile/entries/000.p/7`: up to 256 hashes of 32 bytes, or entries after their length in two bytes. Never changes.",
    params: tilePathParts,
    produces: "application/octet-stream",
    refusals: { 404: "`no_tile`" },
  }, async ({ params: { level, index } }) => {
    const file = parseTilePath(`tile/${level}/${index}`);
    const bytes = file && await readFile(sql, file);
    if (!bytes) throw new HttpFailure(404, "no_tile", "The log has no such tile.");
    return new Response(Uint8Array.from(bytes), {
      headers: { ...ALWAYS, "content-type": "application/octet-stream" },
    });
  });

  endpoint(app, "get", "/log/proof/:entry", {
    summary: "An entry with the proof that it is in the log, as a tlog-proof file",
    description:
      "The entry is the `extra` data of the file. The checkpoint is the newest of those that most witnesses have signed.",
    params: { entry: entryIndex },
    answer: noteText,
    produces: "text/plain",
    refusals: { 404: NO_ENTRY },
  }, async ({ params: { entry }, context }) => context.text(await proofOf(entry), 200, SHORT));

  endpoint(app, "get", "/log/snapshot.tlog-proof", {
    summary: "A root of the unspent outputs with the proof that it is in the log, as a tlog-proof file",
    description:
      "`loggedRoot` of the client verifies it. 404 also where the log has no such entries (`snapshots` of `/log`).",
    query: snapshotQuery,
    answer: noteText,
    produces: "text/plain",
    refusals: { 404: NO_ENTRY },
  }, async ({ query: { block }, context }) => {
    const index = await readEntryIndex(sql, SNAPSHOTS, block);
    return context.text(await proofOf(index), 200, SHORT);
  });

  endpoint(app, "get", "/token/:tokenId/state.tlog-proof", {
    summary: "A state of a token with the proof that it is in the log, as a tlog-proof file",
    description:
      "A state enters the log some blocks after its own, and until then is 404 `not_logged`. Also for tokens that have ended.",
    params: { tokenId: api.tokenId },
    query: stateQuery,
    answer: noteText,
    produces: "text/plain",
    refusals: { 404: NO_ENTRY },
  }, async ({ params: { tokenId }, query: { outputRefId }, context }) => {
    const index = await readEntryIndex(sql, tokenId, outputRefId?.replace("-", "#"));
    return context.text(await proofOf(index), 200, SHORT);
  });

  async function proofOf(index: number | undefined): Promise<string> {
    const proof = index === undefined ? undefined : await readProof(sql, index);
    if (proof !== undefined) return proof;
    throw new HttpFailure(404, "not_logged", "The log has no such entry (yet).");
  }
}
