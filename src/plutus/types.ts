/** Phase-2 validation for the other modules: a function from a transaction to the execution units of each script run. */
import type { CollectError, RedeemerPointer } from "#src/cardano/failure.ts";
import type { Result } from "#src/base/result.ts";
import type { Parameters, SlotConfig, Units } from "#src/cardano/parameters.ts";
import type { Utxo } from "#src/cardano/output.ts";

/** Purpose of a redeemer, by its tag in the witness set. */
export const PURPOSES = ["spend", "mint", "cert", "reward", "vote", "propose"] as const;
export type Purpose = (typeof PURPOSES)[number];

/** Execution units that one script run used. */
export interface RedeemerUnits {
  readonly purpose: Purpose;
  readonly index: number;
  readonly units: Units;
}

/** Units of every redeemer whose script ran, or the reason for a failure. */
export type Evaluation =
  | { readonly ok: true; readonly redeemers: readonly RedeemerUnits[] }
  | ScriptRefusal
  | OverLimit
  | NotCollected
  | Undecodable;

/** A script failed: by its own error, by exceeding its redeemer's units, or because its bytes are no program. `logs` are the messages it traced. */
export interface ScriptRefusal {
  readonly ok: false;
  readonly kind: "refused";
  readonly message: string;
  readonly logs: readonly string[];
}

/** Without redeemers' limits: the scripts exceed the largest measured amount. `units` is their total use up to that point. */
interface OverLimit {
  readonly ok: false;
  readonly kind: "over_limit";
  readonly message: string;
  readonly units: Units;
}

/** The scripts could not be started (ledger: `CollectErrors`); nothing is known about their result. */
interface NotCollected {
  readonly ok: false;
  readonly kind: "not_collected";
  readonly message: string;
  readonly errors: readonly CollectError[];
}

/** The ledger's decoder refuses the transaction, or an output that it refers to. */
export interface Undecodable {
  readonly ok: false;
  readonly kind: "undecodable";
  readonly message: string;
}

/** A transaction and its environment. `utxos` are the outputs that its inputs, reference inputs and collateral refer to. */
export interface EvaluationInput {
  /** CBOR of the whole transaction. */
  readonly transaction: Uint8Array;
  readonly utxos: readonly Utxo[];
  readonly parameters: Pick<Parameters, "costModels" | "maxTxUnits" | "protocolVersion">;
  readonly slots: SlotConfig;
  /** First slot without a known time; undefined: all have one. */
  readonly horizon?: number | undefined;
  /** Whether each script is limited to its redeemer's units, as in the ledger. Default: units are measured. */
  readonly limited?: boolean;
}

/** Evaluates every script of a transaction. Rejects if no evaluator thread is available. */
export type Evaluate = (input: EvaluationInput) => Promise<Evaluation>;

/** Why a redeemer gives no units. `no_target`: it points to nothing that a Plutus script has to agree to. */
export type RedeemerFailure =
  | { readonly kind: "no_target" }
  | { readonly kind: "no_script"; readonly script: string }
  | { readonly kind: "no_datum"; readonly datum: string }
  | { readonly kind: "no_cost_model"; readonly language: 1 | 2 | 3 }
  | { readonly kind: "failed"; readonly message: string; readonly logs: readonly string[] };

/** Units that each redeemer needs, or why it has none; or why no script can see the transaction. */
export type Measurement =
  | {
    readonly ok: true;
    readonly redeemers: readonly (RedeemerPointer & { readonly result: Result<Units, RedeemerFailure> })[];
  }
  | Undecodable
  | {
    readonly ok: false;
    readonly kind: "no_context";
    /** The ledger's name of the failure. */
    readonly reason: string;
    /** The part of the transaction that causes it. */
    readonly about: string;
  };

/** Measures every redeemer of a transaction by itself. Rejects if no evaluator thread is available. */
export type MeasureRedeemers = (input: EvaluationInput) => Promise<Measurement>;
