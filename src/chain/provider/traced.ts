/** Spans of calls to a network. */
import type { ChainPort } from "#src/chain/provider/port.ts";
import { activeSpan, endSpan, refOf, startSpan, tracing, within } from "#src/base/trace.ts";

/** A port whose submissions are spans: children of the effect, or of the request, that submits. */
export function withSpans<Port extends ChainPort>(port: Port, provider: string): Port {
  if (!tracing()) return port;
  return {
    ...port,
    submit: async (transaction: Uint8Array) => {
      const span = startSpan("chain submit", "client", refOf(activeSpan()), {
        "arbor.provider": provider,
        "arbor.transaction.bytes": transaction.length,
      });
      try {
        const said = await within(span, () => port.submit(transaction));
        span?.setAttribute("arbor.outcome", said.ok ? said.value.outcome : said.error.code);
        endSpan(span, said.ok ? undefined : said.error.code);
        return said;
      } catch (error) {
        endSpan(span, "failed");
        throw error;
      }
    },
  };
}
