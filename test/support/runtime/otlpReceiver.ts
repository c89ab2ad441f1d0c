/** A receiver of OpenTelemetry traces over HTTP with JSON, like a collector. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedSpan {
  /** `service.name` of the sending process. */
  readonly service: string;
  readonly scope: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty at the root of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: { readonly [name: string]: unknown };
  readonly failed: boolean;
}

export interface Receiver {
  /** Environment of a Deno process that sends its spans to this receiver. */
  env(service: string): Record<string, string>;
  readonly spans: readonly ReceivedSpan[];
  /** Everything received, as text. */
  readonly raw: string;
  stop(): Promise<void>;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly [type: string]: unknown };
}
const attributesOf = (list: readonly Attribute[] = []) =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

export async function receiveTraces(): Promise<Receiver> {
  const spans: ReceivedSpan[] = [];
  let raw = "";
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => body += chunk);
    request.on("end", () => {
      if (request.url === "/v1/traces") {
        raw += body;
        spans.push(...spansOf(body));
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: (service) => ({
      OTEL_DENO: "true",
      OTEL_SERVICE_NAME: service,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "100",
    }),
    spans,
    get raw() {
      return raw;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function spansOf(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: {
      resource: { attributes: Attribute[] };
      scopeSpans: {
        scope?: { name?: string };
        spans: (Omit<ReceivedSpan, "attributes" | "links" | "start" | "end"> & {
          startTimeUnixNano: string;
          endTimeUnixNano: string;
          attributes?: Attribute[];
          links?: { traceId: string; spanId: string }[];
          status?: { code?: number };
        })[];
      }[];
    }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, links, attributes, status, ...span }) => ({
        service: String(attributesOf(resource.attributes)["service.name"]),
        scope: scope?.name ?? "",
        traceId,
        spanId,
        parentSpanId: parentSpanId ?? "",
        name,
        start: Number(span.startTimeUnixNano) / 1e6,
        end: Number(span.endTimeUnixNano) / 1e6,
        links: (links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
        attributes: attributesOf(attributes),
        failed: status?.code === 2,
      }))
    )
  );
}
