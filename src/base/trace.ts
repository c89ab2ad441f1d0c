/**
 * Traces by OpenTelemetry's API alone: they go wherever the process's tracer provider sends them (`OTEL_DENO=true` on Deno, an SDK
 * loaded before the product on Node), and nowhere when there is none.
 *
 * Hypotheses: a provider is there before the first span or never; work is batched and queued, so what it belongs to is handed
 * on as a value (`TraceRef`) and not taken from what happens to be active. Where `tracing()` is false nothing is made.
 */
import {
  type Attributes,
  context,
  isSpanContextValid,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";

export type { Span } from "@opentelemetry/api";

/** A place in a trace that something can hang from. */
export type TraceRef = SpanContext;

let known: Tracer | null | undefined;

function tracer(): Tracer | null {
  if (known === undefined) {
    const provider = trace.getTracerProvider();
    const none = provider instanceof ProxyTracerProvider && provider.getDelegateTracer("arbor") === undefined;
    known = none ? null : provider.getTracer("arbor");
  }
  return known;
}

/** Whether spans are made in this process. */
export function tracing(): boolean {
  return tracer() !== null;
}

const KIND = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** Begins a span under `parent`, or a trace of its own; `undefined` when nothing is traced. `also` is linked. */
export function startSpan(
  name: string,
  kind: keyof typeof KIND,
  parent: TraceRef | undefined,
  attributes: Attributes,
  also: Iterable<TraceRef> = [],
): Span | undefined {
  return tracer()?.startSpan(
    name,
    { kind: KIND[kind], attributes, links: [...also].map((context) => ({ context })) },
    parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
  );
}

/** Where others may hang their spans from this one. */
export function refOf(span: Span | undefined): TraceRef | undefined {
  return span?.spanContext();
}

/** Ends a span; with `problem` (a code, nothing secret) as one that failed. */
export function endSpan(span: Span | undefined, problem?: string): void {
  if (problem !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message: problem });
  span?.end();
}

/** Does work with a span as the active one, for what makes spans of its own underneath. */
export function within<T>(span: Span | undefined, work: () => T): T {
  return span === undefined ? work() : context.with(trace.setSpan(context.active(), span), work);
}

/** The span that is active, such as the one that the runtime's HTTP server began. */
export function activeSpan(): Span | undefined {
  return tracer() === null ? undefined : trace.getActiveSpan();
}

/** `00-<trace>-<span>-<flags>`, as W3C Trace Context has it. */
export function traceparentOf(ref: TraceRef | undefined): string | undefined {
  if (ref === undefined || !isSpanContextValid(ref)) return undefined;
  return `00-${ref.traceId}-${ref.spanId}-${(ref.traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}

/** Shape of a `traceparent`, of version 00 or a later one, which may have more behind it. */
export const TRACEPARENT =
  /^(?:00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})|(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[\x20-\x7e]{0,128})?)$/;

/** The place that a `traceparent` names; `undefined` where nothing is traced, or for anything that is not well-formed. */
export function parseTraceparent(text: string | null | undefined): TraceRef | undefined {
  if (text === null || text === undefined || tracer() === null) return undefined;
  const match = TRACEPARENT.exec(text);
  if (match === null) return undefined;
  const ref: TraceRef = {
    traceId: (match[1] ?? match[4])!,
    spanId: (match[2] ?? match[5])!,
    // Only the sampled flag has a meaning here.
    traceFlags: Number.parseInt((match[3] ?? match[6])!, 16) & 1,
    isRemote: true,
  };
  return isSpanContextValid(ref) ? ref : undefined;
}
