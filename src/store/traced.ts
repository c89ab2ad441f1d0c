/**
 * Spans for statements. A statement or a transaction that starts while a span is active gets a child span, with the
 * text of the statement but without its values. Background work (renewals, sweeps) has no active span, and so no
 * traces. Without a tracer nothing is wrapped.
 */
import { activeSpan, endSpan, refOf, startSpan, tracing, within } from "#src/base/trace.ts";

type Call = (...args: never[]) => unknown;
interface Pending {
  then(onValue?: (value: unknown) => unknown, onError?: (error: unknown) => unknown): Promise<unknown>;
}

/** The same pool with spans for its statements and transactions. */
export function traced<S extends Call & { readonly begin: unknown }>(sql: S): S {
  if (!tracing()) return sql;
  return new Proxy(sql, {
    apply: (target, self, args: unknown[]) => {
      const made = Reflect.apply(target, self, args);
      const [strings] = args as [readonly string[] & { raw?: readonly string[] }];
      // Only a template is a statement; other calls create fragments.
      if (strings?.raw !== undefined) watch(made as Pending, strings);
      return made;
    },
    get: (target, name) => {
      const member = Reflect.get(target, name);
      if (name !== "begin") return member;
      return (...args: unknown[]) => {
        const span = begin("transaction");
        if (span === undefined) return Reflect.apply(member as Call, target, args);
        const done = within(span, () => Reflect.apply(member as Call, target, args)) as Promise<unknown>;
        done.then(() => endSpan(span), (error) => endSpan(span, codeOf(error)));
        return done;
      };
    },
  });
}

/** Starts a span when a query is first awaited, which is when it runs, and ends it with the query. */
function watch(query: Pending, strings: readonly string[]): void {
  const then = query.then;
  query.then = function (onValue, onError) {
    query.then = then;
    const text = strings.map((part, i) => i === 0 ? part : `$${i}${part}`).join("").replace(/\s+/g, " ").trim();
    const span = begin(text.split(" ", 1)[0]!.toLowerCase(), text);
    if (span !== undefined) then.call(query, () => endSpan(span), (error) => endSpan(span, codeOf(error)));
    return then.call(query, onValue, onError);
  };
}

function begin(operation: string, text?: string) {
  const parent = refOf(activeSpan());
  if (parent === undefined) return undefined;
  return startSpan(`sql ${operation}`, "client", parent, {
    "db.system.name": "postgresql",
    "db.operation.name": operation,
    ...(text === undefined ? {} : { "db.query.text": text.slice(0, 1_000) }),
  });
}

/** The error code of PostgreSQL or of the connection; not the message, which may quote values. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "failed");
}
