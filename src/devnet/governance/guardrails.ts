/** Guardrails scripts that the devnet can run for its own proposals: those of a genesis that it can be like. */
import { fromHex } from "#src/base/bytes.ts";
import { encode, Tagged } from "#src/cardano/cbor.ts";
import { DEVKIT_CONSTITUTION } from "#src/devnet/genesis/yaciDevkit.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import type { Skeleton } from "#src/transaction/balance.ts";

/** What a proposal needs for its guardrails script. */
interface Guardrails {
  readonly witness: Pick<Skeleton, "scripts" | "redeemers">;
  readonly measure: Measure;
}

/** A Plutus V3 script that accepts everything: its flat bytes in CBOR. */
const ACCEPTS = fromHex("450101002499");
/** More than it uses. */
const UNITS = { memory: 10_000n, steps: 5_000_000n };

/** What a proposal by this guardrails script (its hash) needs; undefined where the devnet does not have it. */
export function guardrailsOf(script: string): Guardrails | undefined {
  if (script !== DEVKIT_CONSTITUTION.script) return undefined;
  const data = encode(new Tagged(121, []));
  return {
    witness: { scripts: [ACCEPTS], redeemers: [{ for: { purpose: "propose", index: 0 }, data }] },
    measure: () => ({ ok: true, redeemers: [{ purpose: "propose", index: 0, units: UNITS }] }),
  };
}
