/**
 * Facts with their proofs over HTTP. An answer is read at one point of the index. The proof is computed in a builder
 * thread, and given only if it leads to the root in the state output.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/tokens/api/tokens.ts";
import { factProof, keyEncoding } from "#src/tokens/api/proofs.ts";
import { equalBytes } from "#src/base/bytes.ts";
import { fail } from "#src/base/result.ts";
import type { RunOptions } from "#src/threads/builders.ts";
import { readEvidence } from "#src/tokens/index/evidence.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { endpoint } from "#src/http/route.ts";
import { GONE, timeHeader as headers, timeOf, tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { type FactKey, factKeyIn, noKey } from "#src/tokens/http/factKey.ts";
import { proofView } from "#src/tokens/http/proofView.ts";
import { refusal } from "#src/tokens/http/status.ts";
import { digest } from "#src/forestry/hash.ts";

/** Adds `/token/{tokenId}/facts/{key}`. */
export function proofRoutes(app: OpenAPIHono, { store, builders }: Pick<TokenService, "store" | "builders">): void {
  for (const path of ["/token/:tokenId/facts/:key", "/token/:tokenId/facts/"]) {
    endpoint(app, "get", path, {
      summary: path.endsWith("/")
        ? "The fact under the empty key, with its proof"
        : "A fact or its absence, with its proof",
      description: path.endsWith("/")
        ? "With `encoding=hex`. As text it is 400 `bad_request`: URL parsers make this path of the keys `.` and `..` too."
        : "The keys `.` and `..` are named by `encoding=hex` (`2e`, `2e2e`) or `encoding=digest`: URL parsers remove them from a path.",
      params: { tokenId: api.tokenId, ...(path.endsWith("/") ? {} : { key: z.string() }) },
      query: { encoding: keyEncoding },
      headers,
      answer: factProof,
      refusals: { ...GONE, 409: "`token_quarantined`", 503: "`overloaded`, `deadline`, `crashed`" },
    }, async ({ params, query, context }) => {
      const until = { deadline: Date.now() + timeOf(context), affinity: params.tokenId };
      const key = factKeyIn(context.req.url, query.encoding);
      // The thread usually has the trie of the root cached; otherwise all facts are read in a second attempt.
      return await attempt(params.tokenId, key, false, until) ?? await attempt(params.tokenId, key, true, until);
    });
  }

  // what URL parsers make of the key `..`
  app.get("/token/:tokenId/", () => {
    throw noKey();
  });

  /** An answer, read at one point; undefined where the thread needs all facts for it. */
  async function attempt(token: string, key: FactKey, whole: boolean, until: RunOptions) {
    const { at, value: evidence } = await atPoint(store, (sql) => readEvidence(sql, token, key.path, whole));
    if (evidence.status === "quarantined") throw quarantined(evidence.state.quarantine);
    if (evidence.status !== "live") throw tokenGone(token, evidence.status);
    const { facts, state: { root }, fact } = evidence;
    const proven = await builders.run("prove", { root, path: key.path, facts, whole }, until);
    if (!proven.ok) {
      if (proven.error.code === "facts_needed") return undefined;
      throw proven.error.code === "cut_mismatch" ? quarantined() : refusal(proven.error);
    }
    const value = fact && digest(fact.value);
    if (proven.value.root !== root || !sameDigest(proven.value.value, value)) throw quarantined();
    return proofView(evidence, key, proven.value, at);
  }
}

function sameDigest(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalBytes(a, b);
}

function quarantined(reason?: string): Error {
  return refusal(
    fail("token_quarantined", "The token is quarantined: its indexed facts are not verified against its root.", {
      reason: reason ?? null,
    }).error,
  );
}
