/** Quarantined tokens over HTTP: listed, and replayed by an operator. */
import { sleep } from "#src/base/clock.ts";
import { quarantinedTokens, releasePath, releaseQuery, releaseState } from "#src/api/operator.ts";
import { readQuarantined, readReleaseOutcome, requestRelease } from "#src/cage/index/release.ts";
import { readToken } from "#src/cage/index/read.ts";
import type { OperatorPart } from "#src/edge/operator/app.ts";
import { refusal } from "#src/edge/operator/status.ts";
import { endpoint } from "#src/edge/route.ts";
import type { Store } from "#src/store/store.ts";

/** Time between two checks whether the replay is done, in milliseconds. */
const LOOK_MS = 50;

/** Adds `/tokens/quarantined` and `/tokens/{tokenId}/release`. */
export function releaseEndpoints({ store }: { readonly store: Store }): OperatorPart {
  return (app) => {
    endpoint(app, "get", {
      path: "/tokens/quarantined",
      summary: "Tokens whose facts the index does not vouch for, the oldest quarantine first",
      answer: quarantinedTokens,
    }, async () => ({ tokens: await readQuarantined(store.sql) }));

    endpoint(app, "post", {
      path: "/tokens/:tokenId/release",
      summary: "Replay a token, and release it from quarantine where that leads to its state on the ledger",
      description:
        "All that the ledger says of the token is replayed from its first state on, and every root is checked. What the index has otherwise is " +
        "corrected, whether the token is quarantined or not. May be asked for at any time and again; what was asked for is done even where " +
        "this answer is not waited for.",
      params: releasePath,
      query: releaseQuery,
      answer: releaseState,
      refusals: {
        403: "`header_missing`",
        404: "`token_unknown`, `token_ended`",
        409: "`not_explained`: the replay does not lead there; the token stays as it is",
        503: "`unavailable`: not done yet; the index is behind, or no process follows the chain",
      },
    }, async ({ params: { tokenId }, query: { wait } }) => {
      const state = async () => {
        const standing = await readToken(store.sql, tokenId);
        if ("state" in standing) return standing.state;
        throw refusal(
          standing.status === "ended"
            ? { code: "token_ended", message: `Token ${tokenId} has ended.` }
            : { code: "token_unknown", message: `There is no token ${tokenId}.` },
        );
      };
      await state();
      const asked = await requestRelease(store.sql, tokenId);
      for (const end = performance.now() + wait;;) {
        const answer = await readReleaseOutcome(store.sql, tokenId, asked);
        if (answer) {
          const { root, facts, quarantine } = await state();
          if (answer.reason !== undefined) throw refusal({ code: "not_explained", message: answer.reason });
          return {
            tokenId,
            root,
            facts,
            ...(quarantine === undefined ? { status: "live" } : { status: "quarantined", reason: quarantine }),
          };
        }
        if (performance.now() > end) {
          throw refusal({ code: "unavailable", message: "The token was not replayed yet; it will be." });
        }
        await sleep(LOOK_MS);
      }
    });
  };
}
