/** Checks a token's new root from its old root, its requests and their proofs. */
import { equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { changeOf, EMPTY_ROOT, type Request } from "#src/contract/datum.ts";
import type { Action, SpendRedeemer } from "#src/contract/redeemer.ts";
import { readSlot, topBranchRoot, withSlot } from "#src/forestry/topBranch.ts";
import type { ContractInput, State } from "#src/contract/summary/contractInputs.ts";
import { rootWith, rootWithout } from "#src/forestry/verify.ts";

/** Whether a token's new root follows from the old one and the requests; null if some part is not resolved. */
export function isRootProven(
  booted: boolean,
  ended: boolean,
  before: ContractInput | undefined,
  after: State | undefined,
  requests: readonly ContractInput[],
  complete: boolean,
): boolean | null {
  if (booted) return after?.root === EMPTY_ROOT;
  if (ended) return before?.redeemer?.type === "end";
  if (!before?.state || !after || !complete) return null;
  if (before.redeemer?.type !== "modify") return false;
  const { actions, crown } = before.redeemer;
  if (actions.length !== requests.length) return false;
  const start = crown ? topBranchRoot(crown) : fromHex(before.state.root);
  if (!start || toHex(start) !== before.state.root) return false;
  // the root, or the shared top branch that hashes to it
  let root: Uint8Array | undefined = crown ?? fromHex(before.state.root);
  for (const [i, action] of actions.entries()) {
    const { request, redeemer } = requests[i] ?? {};
    const fits = redeemer?.type === REDEEMERS[action.type];
    root = root && request && fits ? (crown ? topBranchAfter : next)(root, request, action) : undefined;
  }
  const end = root && crown ? topBranchRoot(root) : root;
  return end !== undefined && toHex(end) === after.root;
}

/** The redeemer of a request, by the action on it. */
const REDEEMERS: { readonly [T in Action["type"]]: SpendRedeemer["type"] } = {
  apply: "contribute",
  skip: "retract",
  refuse: "refuse",
};

/** The shared top branch after one request's action. */
function topBranchAfter(crown: Uint8Array, request: Request, action: Action): Uint8Array | undefined {
  const { path } = changeOf(request.key, request.operation);
  const held = next(readSlot(crown, path), request, action, 1);
  return held && withSlot(crown, path, held);
}

/**
 * The root after one request's action; undefined if the proof does not lead to the old root. With `above` nibbles the roots
 * are those of a sub-trie at that depth.
 */
function next(root: Uint8Array, { key, operation }: Request, action: Action, above = 0): Uint8Array | undefined {
  if (action.type !== "apply") return root;
  const change = changeOf(key, operation);
  const { path, value } = change;
  const without = () => rootWithout(path, action.proof, above);
  const before = change.type === "insert"
    ? without()
    : rootWith(path, change.type === "update" ? change.old : value, action.proof, above);
  if (!before || !equalBytes(before, root)) return undefined;
  return change.type === "delete" ? without() : rootWith(path, value, action.proof, above);
}
