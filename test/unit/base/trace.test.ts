/** Trace contexts as text, and spans through a provider that a test installs. */
import { type Attributes, type Link, ROOT_CONTEXT, type Span, type SpanContext, trace } from "@opentelemetry/api";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { endSpan, parseTraceparent, refOf, startSpan, traceparentOf, tracing } from "#src/base/trace.ts";

// The module keeps the first tracer that it finds, and unit tests share a process.
vi.hoisted(() => void vi.resetModules());

interface Made {
  readonly name: string;
  readonly parent: SpanContext | undefined;
  readonly links: readonly Link[];
  readonly attributes: Attributes;
  ended: boolean;
  problem?: string | undefined;
}
const made: Made[] = [];

beforeAll(() => {
  let count = 0;
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan: (name, options, context) => {
        const parent = trace.getSpanContext(context ?? ROOT_CONTEXT);
        const one: Made = {
          name,
          parent,
          links: options?.links ?? [],
          attributes: options?.attributes ?? {},
          ended: false,
        };
        made.push(one);
        const spanId = (++count).toString(16).padStart(16, "0");
        return {
          spanContext: () => ({ traceId: parent?.traceId ?? "a".repeat(32), spanId, traceFlags: 1 }),
          setStatus: ({ message }: { message?: string }) => void (one.problem = message),
          end: () => void (one.ended = true),
        } as unknown as Span;
      },
      startActiveSpan: () => {
        throw new Error("not used");
      },
    }),
  });
});
afterAll(() => {
  trace.disable();
  vi.resetModules();
});

describe("spans", () => {
  it("have the given parent, in this process and in another", () => {
    expect(tracing()).toBe(true);
    const span = startSpan("ask", "client", undefined, { "arbor.kind": "token" });
    const there = parseTraceparent(traceparentOf(refOf(span)));
    const turn = startSpan("turn", "consumer", there, {}, [refOf(span)!]);
    endSpan(turn, "failed");
    endSpan(span);
    expect(made.map(({ name, parent, ended, problem }) => [name, parent?.spanId, ended, problem])).toEqual([
      ["ask", undefined, true, undefined],
      ["turn", refOf(span)!.spanId, true, "failed"],
    ]);
    expect(made[1]!.parent).toMatchObject({ traceId: refOf(span)!.traceId, isRemote: true });
    expect(made[1]!.links.map(({ context }) => context.spanId)).toEqual([refOf(span)!.spanId]);
  });
});

describe("traceparent", () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const spanId = "00f067aa0ba902b7";

  it("is parsed according to W3C Trace Context", () => {
    expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, traceFlags: 1, isRemote: true });
    expect(parseTraceparent(`00-${traceId}-${spanId}-fe`)?.traceFlags).toBe(0);
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-what-comes-later`)?.spanId).toBe(spanId);
    expect(traceparentOf(parseTraceparent(`00-${traceId}-${spanId}-01`))).toBe(`00-${traceId}-${spanId}-01`);
  });

  it.each([
    "",
    "00",
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${spanId}-1`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01\n`,
    `cc-${traceId}-${spanId}-01-${"x".repeat(200)}`,
  ])("is ignored if malformed: %j", (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});
