/** Compiles an expression to the code on the ledger. */
import { blake2b224 } from "#src/cardano/hash.ts";
import { encode } from "#src/cardano/cbor.ts";
import { concat, toHex } from "#src/base/bytes.ts";
import { applied, type Expr, type Term, Variable } from "#src/contract/uplc/term.ts";
import { type BuiltinName, BUILTINS } from "#src/contract/uplc/builtinTable.ts";
import { cased } from "#src/contract/uplc/cases/cased.ts";
import { flat } from "#src/contract/uplc/flat.ts";

export interface BuildOptions {
  /** Whether failed checks trace their messages; published code has none. */
  readonly traces?: boolean;
  /**
   * Whether to use `case` on booleans, integers, lists and pairs, which exists from protocol version 11 on: so the contract is
   * built from version 3 on. Without it, it is version 2, which runs in every protocol version with Plutus V3.
   */
  readonly caseOnConstants?: boolean;
}

/** Lowers an expression to a closed term: messages become traces or disappear; each polymorphic built-in is forced once, at the top. */
export function program(
  expression: Expr<unknown>,
  { traces = false, caseOnConstants = false }: BuildOptions = {},
): Term {
  if (caseOnConstants) return cased(expression.term, traces);
  const shared = new Map<BuiltinName, Variable>();
  const body = lower(expression.term, traces, shared);
  const names = [...shared].sort(([a], [b]) => BUILTINS[a][0] - BUILTINS[b][0]);
  const values = names.map(([name]) => {
    let value: Term = { kind: "builtin", name };
    for (let i = 0; i < BUILTINS[name][1]; i++) value = { kind: "force", body: value };
    return value;
  });
  const fun = names.reduceRight<Term>((rest, [, variable]) => ({ kind: "lambda", variable, body: rest }), body);
  return { kind: "case", scrutinee: { kind: "constr", tag: 0, fields: values }, branches: [fun] };
}

function lower(term: Term, traces: boolean, shared: Map<BuiltinName, Variable>): Term {
  const again = (t: Term) => lower(t, traces, shared);
  switch (term.kind) {
    case "builtin": {
      if (BUILTINS[term.name][1] === 0) return term;
      let variable = shared.get(term.name);
      if (!variable) shared.set(term.name, variable = new Variable());
      return { kind: "variable", variable };
    }
    case "error": {
      if (!traces) return term;
      const message: Term = { kind: "constant", constant: { type: "string", value: term.message } };
      const error: Term = { kind: "delay", body: { kind: "error", message: "" } };
      return { kind: "force", body: applied(again({ kind: "builtin", name: "trace" }), message, error) };
    }
    case "forms":
      return again(term.plain());
    case "lambda":
      return { ...term, body: again(term.body) };
    case "force":
    case "delay":
      return { ...term, body: again(term.body) };
    case "apply":
      return { ...term, fun: again(term.fun), argument: again(term.argument) };
    case "constr":
      return { ...term, fields: term.fields.map(again) };
    case "case":
      return { ...term, scrutinee: again(term.scrutinee), branches: term.branches.map(again) };
    default:
      return term;
  }
}

/** The code in the form of the ledger and of blueprints (CIP-57): one CBOR byte string around the flat encoding. */
export function compiled(term: Term): Uint8Array {
  return encode(flat(term));
}

/** Hash of compiled code as a Plutus V3 script, in hexadecimal. */
export function scriptHash(code: Uint8Array): string {
  return toHex(blake2b224(concat(Uint8Array.of(3), code)));
}
