/** Rollback of the devnet over HTTP. */
import { rollbackBody, rolledBack } from "#src/operators/api/operator.ts";
import { requestRollback } from "#src/devnet/serve/rollback.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import { answered } from "#src/operators/http/status.ts";
import { endpoint } from "#src/http/route.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";

/** Adds `/devnet/rollback`. */
export function rollbackEndpoint(bus: Bus): OperatorPart {
  return (app) =>
    endpoint(app, "post", "/devnet/rollback", {
      summary: "Roll back the devnet's last blocks; their transactions return to the mempool",
      body: rollbackBody,
      answer: rolledBack,
      refusals: {
        403: "`header_missing`",
        409: "`rollback_impossible`: deeper than the retained blocks or than the chain",
        422: "`no_devnet`",
        503: "`devnet_unavailable`, `unavailable`",
      },
    }, async ({ body: { blocks } }) => {
      const { height, slot } = answered(await requestRollback(bus, blocks));
      return { height, slot };
    });
}
