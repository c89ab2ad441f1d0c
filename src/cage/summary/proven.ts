/** Whether what is known of a token explains its new state. */
import { equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { changeOf, EMPTY_ROOT, type Request } from "#src/cage/datum.ts";
import type { Action } from "#src/cage/redeemer.ts";
import { crownRoot, slotIn, withSlot } from "#src/forestry/crown.ts";
import type { Spent, State } from "#src/cage/summary/spent.ts";
import { rootWith, rootWithout } from "#src/forestry/verify.ts";

/** Whether a token's root after follows from the one before and the requests; null where not all is known. */
export function provenBy(
  booted: boolean,
  ended: boolean,
  before: Spent | undefined,
  after: State | undefined,
  requests: readonly Spent[],
  complete: boolean,
): boolean | null {
  if (booted) return after?.root === EMPTY_ROOT;
  if (ended) return before?.redeemer?.type === "end";
  if (!before?.state || !after || !complete) return null;
  if (before.redeemer?.type !== "modify") return false;
  const { actions, crown } = before.redeemer;
  if (actions.length !== requests.length) return false;
  const start = crown ? crownRoot(crown) : fromHex(before.state.root);
  if (!start || toHex(start) !== before.state.root) return false;
  // the root, or the crown that leads to it
  let root: Uint8Array | undefined = crown ?? fromHex(before.state.root);
  requests.forEach(({ request, redeemer }, i) => {
    const action = actions[i]!;
    const fits = redeemer?.type === (action.type === "apply" ? "contribute" : "retract");
    root = root && fits ? (crown ? crownAfter : next)(root, request!, action) : undefined;
  });
  const end = root && crown ? crownRoot(root) : root;
  return end !== undefined && toHex(end) === after.root;
}

/** The crown after an action on a request. */
function crownAfter(crown: Uint8Array, request: Request, action: Action): Uint8Array | undefined {
  const { path } = changeOf(request.key, request.operation);
  const held = next(slotIn(crown, path), request, action, 1);
  return held && withSlot(crown, path, held);
}

/** The root after an action on a request; undefined where the proof does not start at the root before. Nibbles `above` make it a sub-trie's. */
function next(root: Uint8Array, { key, operation }: Request, action: Action, above = 0): Uint8Array | undefined {
  if (action.type === "skip") return root;
  const change = changeOf(key, operation);
  const { path, value } = change;
  const without = () => rootWithout(path, action.proof, above);
  const before = change.type === "insert"
    ? without()
    : rootWith(path, change.type === "update" ? change.old : value, action.proof, above);
  if (!before || !equalBytes(before, root)) return undefined;
  return change.type === "delete" ? without() : rootWith(path, value, action.proof, above);
}
