/**
 * Facts with their proofs over HTTP. Everything in an answer is read at one point of the index; the proof itself is made in a builder's thread,
 * and only told when it leads to the root that the state output holds.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/api/tokens.ts";
import { factProof, keyEncoding } from "#src/api/proofs.ts";
import { equalBytes } from "#src/base/bytes.ts";
import { fail } from "#src/base/result.ts";
import { readEvidence } from "#src/cage/index/evidence.ts";
import { atPoint } from "#src/chain/available.ts";
import { endpoint } from "#src/edge/route.ts";
import { type Desk, GONE, timeHeader as headers, timeOf, tokenGone } from "#src/edge/tokens/desk.ts";
import { askedKey } from "#src/edge/tokens/factKey.ts";
import { proofView } from "#src/edge/tokens/proofView.ts";
import { refusal } from "#src/edge/tokens/status.ts";
import { digest } from "#src/forestry/hash.ts";

/** Adds `/token/{tokenId}/facts/{key}`. */
export function proofRoutes(app: OpenAPIHono, { store, builders }: Pick<Desk, "store" | "builders">): void {
  for (const path of ["/token/:tokenId/facts/:key", "/token/:tokenId/facts/"]) {
    endpoint(app, {
      method: "get",
      path,
      summary: path.endsWith("/")
        ? "The fact under the empty key, with its proof"
        : "A fact or its absence, with its proof",
      params: { tokenId: api.tokenId, ...(path.endsWith("/") ? {} : { key: z.string() }) },
      query: { encoding: keyEncoding },
      headers,
      answer: factProof,
      refusals: { ...GONE, 409: "`token_quarantined`", 503: "`overloaded`, `deadline`, `crashed`" },
    }, async ({ params, query, context }) => {
      const deadline = Date.now() + timeOf(context);
      const { tokenId } = params;
      const asked = askedKey(context.req.url, query.encoding);
      const { at, value: evidence } = await atPoint(store, (sql) => readEvidence(sql, tokenId, asked.path));
      if (evidence.status === "quarantined") throw quarantined(evidence.state.quarantine);
      if (evidence.status !== "live") throw tokenGone(tokenId, evidence.status);
      const { facts, state, fact } = evidence;
      const proven = await builders.run("prove", { facts, path: asked.path }, { deadline, affinity: tokenId });
      if (!proven.ok) throw proven.error.code === "cut_mismatch" ? quarantined() : refusal(proven.error);
      const value = fact && digest(fact.value);
      if (proven.value.root !== state.root || !sameDigest(proven.value.value, value)) throw quarantined();
      return proofView(evidence, asked, proven.value, at);
    });
  }
}

function sameDigest(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalBytes(a, b);
}

function quarantined(reason?: string): Error {
  return refusal(
    fail("token_quarantined", "The index no longer vouches for this token's facts.", { reason: reason ?? null }).error,
  );
}
