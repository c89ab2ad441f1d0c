/**
 * Spans by OpenTelemetry's API only. The process's tracer provider exports them (`OTEL_DENO=true` on Deno, an SDK
 * loaded before the program on Node); without a provider no spans are created.
 *
 * Assumptions: the provider is registered before the first span, or never. Work is batched and queued, so the parent of
 * a span is passed as a value (`TraceRef`), not taken from the active context.
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

/** A possible parent of a span. */
export type TraceRef = SpanContext;

let cached: Tracer | null | undefined;

function tracer(): Tracer | null {
  if (cached === undefined) {
    const provider = trace.getTracerProvider();
    const none = provider instanceof ProxyTracerProvider && provider.getDelegateTracer("arbor") === undefined;
    cached = none ? null : provider.getTracer("arbor");
  }
  return cached;
}

/** Whether this process creates spans. */
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

/**
 * Starts a span as a child of `parent`, by default as a new trace, linked to `also`; `undefined` without a provider.
 */
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

/** A span as the parent of others. */
export function refOf(span: Span | undefined): TraceRef | undefined {
  return span?.spanContext();
}

/** Ends a span; with `problem` (an error code without secrets) as failed. */
export function endSpan(span: Span | undefined, problem?: string): void {
  if (problem !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message: problem });
  span?.end();
}

/** Runs work with a span as the active one, for libraries that create child spans. */
export function within<T>(span: Span | undefined, work: () => T): T {
  return span === undefined ? work() : context.with(trace.setSpan(context.active(), span), work);
}

/** The active span, such as the one of Deno's HTTP server. */
export function activeSpan(): Span | undefined {
  return tracer() === null ? undefined : trace.getActiveSpan();
}

/** `00-<trace>-<span>-<flags>` (W3C Trace Context). */
export function traceparentOf(ref: TraceRef | undefined): string | undefined {
  if (ref === undefined || !isSpanContextValid(ref)) return undefined;
  return `00-${ref.traceId}-${ref.spanId}-${(ref.traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}

/** Syntax of a `traceparent` of version 00, or of a later version, which may have a suffix. */
export const TRACEPARENT =
  /^(?:00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})|(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[\x20-\x7e]{0,128})?)$/;

/** The parent in a `traceparent`; `undefined` when it is malformed or there is no provider. */
export function parseTraceparent(text: string | null | undefined): TraceRef | undefined {
  if (text === null || text === undefined || tracer() === null) return undefined;
  const match = TRACEPARENT.exec(text);
  if (match === null) return undefined;
  const [, version0Trace, version0Span, version0Flags, laterTrace, laterSpan, laterFlags] = match;
  const traceId = version0Trace ?? laterTrace;
  const spanId = version0Span ?? laterSpan;
  const flags = version0Flags ?? laterFlags;
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Only the sampled flag has a meaning here.
  const ref: TraceRef = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(ref) ? ref : undefined;
}
