/** Phase 2 as the rest of the house sees it: a function from a transaction to the units each script run took. */
import type { Parameters, SlotConfig, Units } from "#src/cardano/parameters.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";

/** Purpose of a redeemer, by its tag in the witness set. */
export const PURPOSES = ["spend", "mint", "cert", "reward", "vote", "propose"] as const;
export type Purpose = (typeof PURPOSES)[number];

/** What one script run took. */
export interface RedeemerUnits {
  readonly purpose: Purpose;
  readonly index: number;
  readonly units: Units;
}

/** Units of every redeemer; or a script's refusal; or no verdict at all. */
export type Evaluation =
  | { readonly ok: true; readonly redeemers: readonly RedeemerUnits[] }
  | ScriptRefusal
  | UnreadableInput;

/** A script ran and refused; `logs` are the messages that it traced. */
export interface ScriptRefusal {
  readonly ok: false;
  readonly kind: "refused";
  readonly message: string;
  readonly logs: readonly string[];
}

/** The machine could not read what it was given, which says nothing about the scripts. */
export interface UnreadableInput {
  readonly ok: false;
  readonly kind: "unreadable";
  readonly message: string;
  /** Those of the outputs given that it cannot read. */
  readonly outputs: readonly OutRef[];
}

/** What a transaction is evaluated against: `utxos` are its inputs, reference inputs and collateral. */
export interface EvaluationInput {
  /** CBOR of the whole transaction. */
  readonly transaction: Uint8Array;
  readonly utxos: readonly Utxo[];
  readonly parameters: Pick<Parameters, "costModels" | "maxTxUnits" | "protocolVersion">;
  readonly slots: SlotConfig;
}

/** Evaluates every script of a transaction; the units in its redeemers are not limits here. Rejects when there is no machine at hand. */
export type Evaluate = (input: EvaluationInput) => Promise<Evaluation>;
