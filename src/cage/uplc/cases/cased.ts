/**
 * Compilation for protocol version 11: `case` chooses by booleans, integers, lists and pairs (Plutus Core: case on constants), and gives both halves of
 * what it takes apart. It takes a third of the steps of a delayed choice.
 */
import { builtin, mapChildren, type Node, read, write } from "#src/cage/uplc/cases/node.ts";
import { shared } from "#src/cage/uplc/cases/share.ts";
import { simplified } from "#src/cage/uplc/cases/simplify.ts";
import type { Term } from "#src/cage/uplc/term.ts";

/** A closed term that comes to the same as the one given: to the same value, or to a failure. */
export function cased(term: Term, traces: boolean): Term {
  const node = simplified(read(term));
  return write(shared(traces ? traced(node) : node));
}

/** Failures trace their messages. */
function traced(node: Node): Node {
  if (node.kind !== "error" || node.message === "") return mapChildren(node, traced);
  const message: Node = { kind: "constant", constant: { type: "string", value: node.message } };
  const error: Node = { kind: "delay", body: { kind: "error", message: "" } };
  return { kind: "force", body: { kind: "apply", fun: builtin("trace"), args: [message, error] } };
}
