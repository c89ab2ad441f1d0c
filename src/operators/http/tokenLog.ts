/** The log of tokens and its witnesses over HTTP. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { memo } from "#src/http/memo.ts";
import { endpoint } from "#src/http/route.ts";
import * as api from "#src/operators/api/operator.ts";
import type { LogCounts, LogStatus } from "#src/tokens/log/status.ts";

/** How long what was read is used, in milliseconds. */
const FRESH_MS = 1_000;

/** Reads of the log, where the instance has one. */
export interface TokenLogReads {
  counts(): Promise<LogCounts>;
  status(): Promise<LogStatus>;
}

/** Adds `/log`. */
export function tokenLogEndpoint(app: OpenAPIHono, tokenLog: Pick<TokenLogReads, "status"> | undefined): void {
  const status = memo(FRESH_MS, async () => {
    if (!tokenLog) return null;
    const { witnesses, ...log } = await tokenLog.status();
    const timeOf = (at: Date | null) => at && at.toISOString();
    return {
      ...log,
      witnesses: witnesses.map((one) => ({
        ...one,
        signedAt: timeOf(one.signedAt),
        refusedAt: timeOf(one.refusedAt),
      })),
    };
  });
  endpoint(app, "get", "/log", {
    summary: "The log of tokens, with its witnesses",
    answer: api.tokenLog,
  }, async () => ({ log: await status() }));
}
