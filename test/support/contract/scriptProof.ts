/** The contract's proof verifier alone: its result for one operation. */
import type { Data } from "#src/cardano/data.ts";
import { rootAfter } from "#src/contract/validator/operation.ts";
import { withFollow } from "#src/contract/validator/proof.ts";
import { blake2b, equalBytes, unBytes, unConstr, unList } from "#src/contract/uplc/builtin.ts";
import { check, fn, int, unit } from "#src/contract/uplc/expression.ts";
import type { Data as DataType, Unit } from "#src/contract/uplc/term.ts";
import { type Run, run } from "./scriptContext.ts";

/** (root before, key, operation, proof, root after) */
const follows = withFollow((follow) =>
  fn<[DataType, DataType, DataType, DataType, DataType], Unit>((root, key, operation, proof, after) =>
    check(
      equalBytes(
        rootAfter(follow, unBytes(root), blake2b(unBytes(key)), int(0), unConstr(operation), unList(proof)),
        unBytes(after),
      ),
      "another root",
      unit,
    )
  )
);

/** Whether the contract computes one root from the other; `message` names the failed check. */
export function scriptFollows(root: Uint8Array, key: Uint8Array, operation: Data, proof: Data, after: Uint8Array): Run {
  return run(follows, root, key, operation, proof, after);
}
