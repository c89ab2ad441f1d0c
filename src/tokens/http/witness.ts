/** This instance as a witness over HTTP (tlog-witness): below `/witness`. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { fromUtf8 } from "#src/base/bytes.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import { vkeyOf } from "#src/tlog/note.ts";
import { CONFLICT_TYPE } from "#src/tlog/witness.ts";
import { addCheckpointBody, noteText, originHash, witnessInfo } from "#src/tokens/api/log.ts";
import type { TokenService } from "#src/tokens/http/service.ts";
import { witnessSigner } from "#src/tokens/log/keys.ts";
import { witnessAnswers } from "#src/tokens/log/metrics.ts";
import { readWitnessed, witness, type WitnessAnswer } from "#src/tokens/log/witness.ts";

/** Seconds after which a log may try again where this instance is behind. */
const BEHIND_S = "5";

/** Adds `/witness`. */
export function witnessRoutes(
  app: OpenAPIHono,
  service: Pick<TokenService, "store" | "networkMagic" | "tokenLog">,
): void {
  const { store } = service;
  const signer = () => witnessSigner(store.sql, service.networkMagic, service.tokenLog);

  endpoint(app, "get", "/witness", {
    summary: "This instance as a witness: its key, and the logs that it signs",
    answer: witnessInfo,
  }, async () => {
    const key = await signer();
    const logs = service.tokenLog.witnessFor.map(vkeyOf);
    return { name: key.name, vkey: vkeyOf(key), logs };
  });

  endpoint(app, "post", "/witness/add-checkpoint", {
    summary: "Sign a checkpoint of another instance's log",
    description:
      "As tlog-witness says, and stricter: it signs only if this instance's own log, made of its own index of the chain, has the same root at that size. " +
      "409 whose body is a number (`text/x.tlog.size`): the size of the newest checkpoint that it signed.",
    consumes: "application/octet-stream",
    body: addCheckpointBody,
    answer: noteText,
    produces: "text/plain",
    refusals: {
      400: "`bad_request`",
      403: "`not_signed`: not by the key of the log",
      404: "`unknown_log`",
      409: "the old size is another one",
      413: "`body_too_large`",
      422:
        "`inconsistent`: the checkpoint does not follow from the one before, or has other entries than this instance's log",
      503: "`witness_behind`: this instance has not indexed the chain so far",
    },
  }, async ({ body, context }) => {
    const answer = await witness(store, await signer(), service.tokenLog, fromUtf8(body) ?? "");
    witnessAnswers.of(answer.type === "refuse" ? `status_${answer.status}` : answer.type).inc();
    switch (answer.type) {
      case "signed":
        return context.text(answer.line);
      case "conflict":
        return context.body(`${answer.size}\n`, 409, { "content-type": CONFLICT_TYPE });
      case "behind":
        context.header("Retry-After", BEHIND_S);
        throw new HttpFailure(503, "witness_behind", `This witness has ${answer.size} entries so far.`);
      case "refuse":
        throw refused(answer);
    }
  });

  endpoint(app, "get", "/witness/:log/checkpoint", {
    summary: "The newest checkpoint of a log that this instance signed",
    params: { log: originHash },
    answer: noteText,
    produces: "text/plain",
    refusals: { 404: "`no_checkpoint`" },
  }, async ({ params: { log }, context }) => {
    const note = await readWitnessed(store.sql, service.tokenLog, log);
    if (note === undefined) throw new HttpFailure(404, "no_checkpoint", "No checkpoint of such a log was signed here.");
    return context.text(note, 200, { "cache-control": "public, max-age=1" });
  });
}

function refused({ status, text }: Extract<WitnessAnswer, { type: "refuse" }>): HttpFailure {
  switch (status) {
    case 400:
      return new HttpFailure(400, "bad_request", text);
    case 403:
      return new HttpFailure(403, "not_signed", text);
    case 404:
      return new HttpFailure(404, "unknown_log", text);
    case 422:
      return new HttpFailure(422, "inconsistent", text);
  }
}
