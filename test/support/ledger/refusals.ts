/**
 * A transaction for each failure that the ledger gives. A failure that is added to the union needs an entry here: one
 * that is missing is a type error.
 */
import type { Encodable } from "#src/cardano/cbor.ts";
import type { FailureName } from "#src/cardano/failure.ts";
import { mainnetParameters, mainnetParametersAt } from "#src/ledger/parameters.ts";
import { agrees, agreesWithThree, plutusHash } from "../plutus/scripts.ts";
import { ada, alice, atScript, bob, output, World } from "./draft.ts";
import { refusedCertificates } from "./refusedCertificates.ts";
import {
  anchor,
  certify,
  datum,
  GOV_DEPOSIT,
  type NotGiven,
  of,
  pay,
  propose,
  type RefusedDraft,
  spending,
  zeros,
} from "./refusedDrafts.ts";
import { refusedTransactions } from "./refusedTransactions.ts";

/** By the name of the failure; why the ledger never gives it, otherwise. */
export const refusals: Readonly<Record<FailureName, RefusedDraft | NotGiven>> = {
  ...refusedTransactions,
  ...refusedCertificates,
};

/** More transactions, whose failures have several entries or a form of their own. */
export const furtherRefusals: readonly (readonly [what: string, RefusedDraft])[] = [
  ["an output that is too small, after others", {
    names: ["BabbageOutputTooSmallUTxO"],
    draft: () => ({ outputs: [2n * ada, 700_000n, 1n].map((n) => output(bob.address, n)), paid: 2n * ada + 700_001n }),
  }],
  ["a collateral return that is too small", {
    names: ["BabbageOutputTooSmallUTxO"],
    draft: (world) => {
      const draft = spending(world, agrees, world.fund(alice.address, 9n * ada));
      return { ...draft, fields: { ...draft.fields, 16: output(alice.address, 1_000n) } };
    },
  }],
  ["a script that accepts, which the transaction denies", {
    names: ["ValidationTagMismatch"],
    draft: (world) => ({ ...spending(world), valid: false }),
  }],
  ["no cost model", {
    names: ["CollectErrors"],
    draft: (world) => {
      const costModels = new Map([...mainnetParameters.costModels].filter(([language]) => language !== 2));
      world.state.parameters = { ...world.state.parameters, costModels };
      return spending(world);
    },
  }],
  ["an inline datum for Plutus V1", {
    names: ["CollectErrors"],
    draft: (world) => ({
      ...spending(world),
      inputs: [world.fund(atScript(plutusHash(1, agreesWithThree)), 10n * ada, { datum })],
      plutus: { 1: [agreesWithThree] },
    }),
  }],
  ["two proposals with accounts that do not exist", {
    names: ["ProposalReturnAccountDoesNotExist", "ProposalReturnAccountDoesNotExist"],
    draft: (world) => {
      const draft = propose(world, [6]);
      const proposal: Encodable = [GOV_DEPOSIT, bob.reward, [6], anchor];
      return {
        ...draft,
        inputs: [world.fund(alice.address, 300_000n * ada)],
        fields: { 20: [proposal, [GOV_DEPOSIT, bob.reward, [6], ["https://other.example", zeros]]] },
        extra: -2n * GOV_DEPOSIT,
      };
    },
  }],
  ["a start in the future", {
    names: ["OutsideValidityIntervalUTxO"],
    draft: () => ({ ...pay, fields: { 8: 1_001 } }),
  }],
  ["failures of several rules", {
    names: [
      "ConwayTreasuryValueMismatch",
      "StakeKeyNotRegisteredDELEG",
      "MissingVKeyWitnessesUTXOW",
      "MissingTxMetadata",
      "OutsideValidityIntervalUTxO",
      "FeeTooSmallUTxO",
      "ValueNotConservedUTxO",
      "WrongNetworkInTxBody",
    ],
    draft: (world) => ({
      ...certify(world, [[1, of(alice)]], 1n),
      keys: [],
      fee: 1_000n,
      fields: { 3: 5, 7: zeros, 15: 1, 21: 1 },
    }),
  }],
];

/** A ledger for a refused transaction. */
export function worldOf({ major = 11 }: RefusedDraft): World {
  return new World(mainnetParametersAt(major));
}
