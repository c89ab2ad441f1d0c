/** Quarantined tokens over HTTP: listed, and replayed by an operator. */
import { sleep } from "#src/base/clock.ts";
import { quarantinedTokens, releasePath, releaseQuery, releaseState } from "#src/operators/api/operator.ts";
import { readQuarantined, readReleaseOutcome, requestRelease } from "#src/tokens/index/release.ts";
import { readToken } from "#src/tokens/index/read.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import { refusal } from "#src/operators/http/status.ts";
import { endpoint } from "#src/http/route.ts";
import type { Store } from "#src/store/store.ts";

/** Time between two checks whether the replay is done, in milliseconds. */
const LOOK_MS = 50;

/** Adds `/tokens/quarantined` and `/tokens/{tokenId}/release`. */
export function releaseEndpoints({ store }: { readonly store: Store }): OperatorPart {
  return (app) => {
    endpoint(app, "get", "/tokens/quarantined", {
      summary: "Quarantined tokens, the oldest quarantine first",
      answer: quarantinedTokens,
    }, async () => ({ tokens: await readQuarantined(store.sql) }));

    endpoint(app, "post", "/tokens/:tokenId/release", {
      summary: "Replay a token, and release it from quarantine if the result matches its state on the ledger",
      description:
        "Replays all ledger data of the token from its first state and checks every root. Differences in the index are " +
        "corrected, also if the token is not quarantined. The request can be repeated at any time. The replay is completed even if " +
        "the client does not wait for the response.",
      params: releasePath,
      query: releaseQuery,
      answer: releaseState,
      refusals: {
        403: "`header_missing`",
        404: "`token_unknown`, `token_ended`",
        409: "`not_explained`: the replay does not result in that state; the token is not changed",
        503: "`unavailable`: not completed yet; the index is behind, or no process follows the chain",
      },
    }, async ({ params: { tokenId }, query: { wait } }) => {
      const state = async () => {
        const token = await readToken(store.sql, tokenId);
        if ("state" in token) return token.state;
        throw refusal(
          token.status === "ended"
            ? { code: "token_ended", message: `Token ${tokenId} has ended.` }
            : { code: "token_unknown", message: `No token ${tokenId} exists.` },
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
          throw refusal({ code: "unavailable", message: "The replay of the token is scheduled but not completed." });
        }
        await sleep(LOOK_MS);
      }
    });
  };
}
