/** Rebuilds of the streams of transitions over HTTP. */
import { rebuildBody, rebuildState } from "#src/operators/api/operator.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import { refusal } from "#src/operators/http/status.ts";
import { endpoint } from "#src/http/route.ts";
import { forgetStreams } from "#src/runtime/events/streamRecord.ts";
import { readRebuild, type RebuildOptions, startRebuild } from "#src/runtime/events/rebuild.ts";

/** Adds `/events/rebuild`. */
export function rebuildEndpoints(options: RebuildOptions): OperatorPart {
  const state = async () =>
    await readRebuild(options.store) ?? { status: "none" as const, stored: 0, total: 0, reason: null };
  return (app) => {
    endpoint(app, "get", "/events/rebuild", {
      summary: "The last rebuild of the streams of transitions",
      answer: rebuildState,
    }, state);
    endpoint(app, "post", "/events/rebuild", {
      summary: "Write the JetStream streams of transitions again from the database",
      description:
        "For streams that lack transitions, because NATS lost its storage or confirmed messages. Empties the streams, " +
        "writes all retained transitions, and then what was written meanwhile. Consumers stay and get them again. " +
        "`GET /events/rebuild` has the progress.",
      body: rebuildBody,
      answer: rebuildState,
      refusals: {
        403: "`header_missing`",
        409: "`no_stream`: replays come from the database; `rebuild_running`",
        503: "`stream_unavailable`",
      },
    }, async ({ body: { stream } }) => {
      if (!stream) {
        await forgetStreams(options.store);
        return await state();
      }
      const started = await startRebuild(options);
      if (!started.ok) throw refusal(started.error);
      return await state();
    });
  };
}
