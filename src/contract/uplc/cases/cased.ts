/**
 * Compilation for protocol version 11, whose `case` branches on booleans, integers, lists and pairs (Plutus Core: case on
 * constants) and binds both parts of a list or pair. It takes a third of the steps of a delayed choice.
 */
import { builtin, mapChildren, type Node, read, write } from "#src/contract/uplc/cases/node.ts";
import { shared } from "#src/contract/uplc/cases/share.ts";
import { simplified } from "#src/contract/uplc/cases/simplify.ts";
import type { Term } from "#src/contract/uplc/term.ts";

/** An equivalent closed term: it has the same value, or fails as well. */
export function cased(term: Term, traces: boolean): Term {
  const node = simplified(read(term));
  return write(shared(traces ? traced(node) : node));
}

/** The node with failures that trace their messages. */
function traced(node: Node): Node {
  if (node.kind !== "error" || node.message === "") return mapChildren(node, traced);
  const message: Node = { kind: "constant", constant: { type: "string", value: node.message } };
  const error: Node = { kind: "delay", body: { kind: "error", message: "" } };
  return { kind: "force", body: { kind: "apply", fun: builtin("trace"), args: [message, error] } };
}
