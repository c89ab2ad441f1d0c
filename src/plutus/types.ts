/** Phase 2 as the rest of the house sees it: a function from a transaction to the units each script run took. */
import type { CollectError } from "#src/cardano/failure.ts";
import type { Parameters, SlotConfig, Units } from "#src/cardano/parameters.ts";
import type { Utxo } from "#src/cardano/output.ts";

/** Purpose of a redeemer, by its tag in the witness set. */
export const PURPOSES = ["spend", "mint", "cert", "reward", "vote", "propose"] as const;
export type Purpose = (typeof PURPOSES)[number];

/** What one script run took. */
export interface RedeemerUnits {
  readonly purpose: Purpose;
  readonly index: number;
  readonly units: Units;
}

/** Units of every redeemer whose script ran, or why there are none. */
export type Evaluation =
  | { readonly ok: true; readonly redeemers: readonly RedeemerUnits[] }
  | ScriptRefusal
  | OverLimit
  | NotCollected
  | Undecodable;

/** A script ran and failed, by its own error, by its redeemer's units or by its bytes; `logs` are the messages that it traced. */
export interface ScriptRefusal {
  readonly ok: false;
  readonly kind: "refused";
  readonly message: string;
  readonly logs: readonly string[];
}

/** Without limits of redeemers: the scripts take more than is measured; `units` is what they took together until then. */
export interface OverLimit {
  readonly ok: false;
  readonly kind: "over_limit";
  readonly message: string;
  readonly units: Units;
}

/** The scripts cannot be run on the transaction (ledger: `CollectErrors`), which says nothing about them. */
export interface NotCollected {
  readonly ok: false;
  readonly kind: "not_collected";
  readonly message: string;
  readonly errors: readonly CollectError[];
}

/** The ledger's decoder refuses the transaction, or an output behind its inputs. */
export interface Undecodable {
  readonly ok: false;
  readonly kind: "undecodable";
  readonly message: string;
}

/** What a transaction is evaluated against: `utxos` are its inputs, reference inputs and collateral. */
export interface EvaluationInput {
  /** CBOR of the whole transaction. */
  readonly transaction: Uint8Array;
  readonly utxos: readonly Utxo[];
  readonly parameters: Pick<Parameters, "costModels" | "maxTxUnits" | "protocolVersion">;
  readonly slots: SlotConfig;
  /** Whether each script may take what its redeemer states and no more, as in the ledger; unless set, units are measured. */
  readonly limited?: boolean;
}

/** Evaluates every script of a transaction. Rejects when there is no machine at hand. */
export type Evaluate = (input: EvaluationInput) => Promise<Evaluation>;
