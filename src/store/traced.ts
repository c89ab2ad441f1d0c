/**
 * Spans for statements. A statement or a transaction that starts while a span is active gets a child span, with the
 * text of the statement but without its values. Background work (renewals, sweeps) has no active span, and so no
 * traces. Without a tracer nothing is wrapped.
 */
import { errorCode } from "#src/base/errorCode.ts";
import { memberOf } from "#src/base/member.ts";
import { activeSpan, endSpan, refOf, startSpan, tracing, within } from "#src/base/trace.ts";

type Call = (...args: never[]) => unknown;
interface Pending {
  then(onValue?: (value: unknown) => unknown, onError?: (error: unknown) => unknown): Promise<unknown>;
}

function isPending(made: unknown): made is Pending {
  return typeof memberOf(made, "then") === "function";
}

/** The same pool with spans for its statements and transactions. */
export function traced<S extends Call & { readonly begin: unknown }>(sql: S): S {
  if (!tracing()) return sql;
  return new Proxy(sql, {
    apply: (target, self, args: unknown[]) => {
      const made = Reflect.apply(target, self, args);
      const [strings] = args;
      // Only a template is a statement; other calls create fragments.
      if (Array.isArray(strings) && "raw" in strings && isPending(made)) watch(made, strings);
      return made;
    },
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (name !== "begin" || typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const span = begin("transaction");
        if (span === undefined) return Reflect.apply(member, target, args);
        const done: Promise<unknown> = within(span, () => Reflect.apply(member, target, args));
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
    const [operation = ""] = text.split(" ", 1);
    const span = begin(operation.toLowerCase(), text);
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
  return errorCode(error) || "failed";
}
