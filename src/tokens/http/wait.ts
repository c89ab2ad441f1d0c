/** Waiting for blocks: all waiting clients share one read of the cursor, and there is none while no client waits. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/tokens/api/tokens.ts";
import { sleep } from "#src/base/clock.ts";
import { type Cursor, readCursor } from "#src/chain/index/cursor.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import type { TokenService } from "#src/tokens/http/service.ts";

/** Time between two reads, in milliseconds. */
const LOOK_MS = 50;

/**
 * A function that waits until the index is at the network's tip and `n` more blocks than the network now has, as
 * `tipHeight` says, are read: what is in the mempool now is then in one of them. It throws `HttpFailure`
 * 503 `wait_too_long` after `longestMs`, and 400 `client_gone` soon after the signal aborts.
 */
export function blockWaiter(
  read: () => Promise<Cursor>,
  longestMs: number,
  tipHeight: () => Promise<number>,
): (n: number, signal: AbortSignal) => Promise<{ height: number }> {
  let look: Promise<Cursor> | undefined;
  const next = () => look ??= sleep(LOOK_MS).then(read).finally(() => look = undefined);
  return async (n, signal) => {
    const deadline = Date.now() + longestMs;
    const [first, height] = await Promise.all([read(), tipHeight()]);
    let cursor = first;
    for (const start = Math.max(first.at.height, height);; cursor = await next()) {
      const { at, networkTip } = cursor;
      if (at.height >= start + n && at.slot >= networkTip.slot) return { height: at.height };
      if (signal.aborted) throw new HttpFailure(400, "client_gone", "The client closed the connection.");
      if (Date.now() > deadline) {
        throw new HttpFailure(503, "wait_too_long", `${n} blocks were not produced in time.`, { height: at.height });
      }
    }
  };
}

/** Longest wait for blocks by default, in milliseconds. */
const WAIT_MS = 120_000;

/** Adds `/indexer/wait-blocks` and `/wait/{n}`. */
export function waitRoutes(app: OpenAPIHono, { store, port, longestWaitMs = WAIT_MS }: TokenService): void {
  const tipHeight = async () => {
    const tip = await port.tip();
    // where the network is away, blocks are counted from what the index has read
    return tip.ok ? tip.value.height : -1;
  };
  const waitBlocks = blockWaiter(() => readCursor(store.sql), longestWaitMs, tipHeight);
  const waiting = { 503: "`wait_too_long`" };
  endpoint(app, "post", "/indexer/wait-blocks", {
    summary: "Wait until n more blocks are indexed",
    body: api.waitBody,
    answer: api.height,
    refusals: waiting,
  }, ({ body, context }) => waitBlocks(body.n, context.req.raw.signal));
  endpoint(app, "get", "/wait/:n", {
    summary: "Wait until n more blocks are indexed",
    params: { n: z.string().regex(/^\d{1,4}$/).transform(Number).pipe(api.waitBody.shape.n) },
    answer: api.height,
    refusals: waiting,
  }, ({ params, context }) => waitBlocks(params.n, context.req.raw.signal));
}
