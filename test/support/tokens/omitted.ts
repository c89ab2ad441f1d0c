/** Complete answers from which something was left out. */

/** A complete answer without one of its outputs (`<hash>-<index>`). Throws an `Error` where it has not exactly one such. */
// deno-lint-ignore no-explicit-any
export function withoutOutput(answer: any, member: "tokens" | "request_set", outputRefId: string): unknown {
  let left = 0;
  // deno-lint-ignore no-explicit-any
  const sets = answer[member].map((set: any) => ({
    ...set,
    // deno-lint-ignore no-explicit-any
    entries: set.entries.filter(({ ref }: any) => `${ref.tx_id}-${ref.tx_ix}` !== outputRefId || left++ > 0),
  }));
  if (left !== 1) throw new Error(`${member} has ${left} outputs ${outputRefId}`);
  return { ...answer, [member]: sets };
}
