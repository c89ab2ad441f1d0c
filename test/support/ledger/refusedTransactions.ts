/** A transaction for each failure of the rules LEDGER, UTXOW, UTXO and UTXOS. */
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import type { FailureName } from "#src/cardano/failure.ts";
import { byronAddress } from "../chain/byron.ts";
import { agrees, agreesWithThree, plutusHash, refusesSaying } from "../plutus/scripts.ts";
import { ada, alice, asset, atKey, atScript, bob, datumHash, nativeHash, reference, signedBy } from "./draft.ts";
import {
  datum,
  elsewhere,
  gone,
  mine,
  type NotGiven,
  pay,
  paying,
  type RefusedDraft,
  spending,
  tokens,
  withdraw,
  zeros,
} from "./refusedDrafts.ts";

export const refusedTransactions = {
  DeserialiseFailure: "no rule: the bytes are no transaction",
  EraMismatch: "no rule: the node socket compares the eras of a submission",
  EarlierEraFailure: "of nodes before Conway",
  UnknownFailure: "of other nodes",

  ConwayTreasuryValueMismatch: {
    names: ["ConwayTreasuryValueMismatch"],
    draft: () => ({ ...pay, fields: { 21: 1 } }),
  },
  ConwayTxRefScriptsSizeTooBig: {
    names: ["ConwayTxRefScriptsSizeTooBig", "FeeTooSmallUTxO"],
    draft: (world) => {
      const script: Encodable = [3, new Uint8Array(210_000)];
      return { ...pay, fields: { 18: [reference(world.fund(bob.address, 5n * ada, { script }))] } };
    },
  },
  ConwayWdrlNotDelegatedToDRep: {
    names: ["ConwayWdrlNotDelegatedToDRep"],
    draft: (world) => {
      world.register(bob);
      return withdraw(world, bob.reward, 0n);
    },
  },
  ConwayMempoolFailure: {
    names: ["ConwayMempoolFailure"],
    draft: (world) => {
      world.submission = { horizon: undefined };
      return { inputs: [{ ...world.fund(alice.address), ref: gone }] };
    },
  },
  ConwayWithdrawalsMissingAccounts: {
    names: ["ConwayWdrlNotDelegatedToDRep", "ConwayWithdrawalsMissingAccounts"],
    draft: (world) => withdraw(world, bob.reward, 0n),
  },
  ConwayIncompleteWithdrawals: {
    names: ["ConwayIncompleteWithdrawals"],
    draft: (world) => withdraw(world, alice.reward, 4n * ada),
  },

  InvalidWitnessesUTXOW: {
    names: ["InvalidWitnessesUTXOW"],
    draft: () => ({
      ...pay,
      witnesses: { 0: [[publicKey(alice.payment), sign(alice.payment, blake2b256(Uint8Array.of(1)))]] },
    }),
  },
  MissingVKeyWitnessesUTXOW: { names: ["MissingVKeyWitnessesUTXOW"], draft: () => ({ ...pay, keys: [] }) },
  MissingScriptWitnessesUTXOW: {
    names: ["MissingScriptWitnessesUTXOW"],
    draft: () => ({ mint: tokens }),
  },
  ExtraneousScriptWitnessesUTXOW: { names: ["ExtraneousScriptWitnessesUTXOW"], draft: () => ({ native: [mine] }) },
  ScriptWitnessNotValidatingUTXOW: {
    names: ["ScriptWitnessNotValidatingUTXOW"],
    draft: () => ({ mint: new Map([[asset(nativeHash(signedBy(bob))), 1n]]), native: [signedBy(bob)] }),
  },
  MalformedScriptWitnesses: {
    names: ["MalformedScriptWitnesses"],
    draft: () => {
      const script = Uint8Array.of(0x42, 1, 2);
      return { mint: new Map([[asset(plutusHash(3, script)), 1n]]), plutus: { 3: [script] }, redeemers: [[1, 0]] };
    },
  },
  MalformedReferenceScripts: {
    names: ["MalformedReferenceScripts"],
    draft: () => paying(bob.address, 2n * ada, { script: [3, Uint8Array.of(0x42, 1, 2)] }),
  },
  MissingTxBodyMetadataHash: {
    names: ["MissingTxBodyMetadataHash"],
    draft: () => ({ ...pay, auxiliary: new Map([[674, "x"]]), fields: { 7: null } }),
  },
  MissingTxMetadata: { names: ["MissingTxMetadata"], draft: () => ({ ...pay, fields: { 7: zeros } }) },
  ConflictingMetadataHash: {
    names: ["ConflictingMetadataHash"],
    draft: () => ({ ...pay, auxiliary: new Map([[674, "x"]]), fields: { 7: zeros } }),
  },
  InvalidMetadata: { names: ["InvalidMetadata"], draft: () => ({ ...pay, auxiliary: new Map([[1, "x".repeat(65)]]) }) },
  MissingRedeemers: {
    names: ["ExtraRedeemers", "MissingRedeemers"],
    draft: (world) => ({ ...spending(world), redeemers: [[1, 0]] }),
  },
  ExtraRedeemers: {
    names: ["ExtraRedeemers"],
    draft: (world) => ({ ...spending(world), redeemers: [[0, 0], [0, 1]] }),
  },
  MissingRequiredDatums: {
    names: ["MissingRequiredDatums"],
    draft: (world) => ({
      ...spending(world),
      inputs: [world.fund(atScript(plutusHash(3, agrees)), 10n * ada, { datumHash: datumHash(datum) })],
    }),
  },
  NotAllowedSupplementalDatums: {
    names: ["NotAllowedSupplementalDatums"],
    draft: (world) => ({ ...spending(world), datums: [datum] }),
  },
  UnspendableUTxONoDatumHash: {
    names: ["UnspendableUTxONoDatumHash"],
    draft: (world) => ({
      ...spending(world),
      inputs: [world.fund(atScript(plutusHash(2, agreesWithThree)))],
      plutus: { 2: [agreesWithThree] },
    }),
  },
  PPViewHashesDontMatch: {
    names: ["PPViewHashesDontMatch"],
    major: 10,
    draft: (world) => ({ ...spending(world), fields: { 11: zeros } }),
  },
  ScriptIntegrityHashMismatch: {
    names: ["ScriptIntegrityHashMismatch"],
    draft: (world) => ({ ...spending(world), fields: { 11: zeros } }),
  },

  InputSetEmptyUTxO: {
    names: ["InputSetEmptyUTxO", "ValueNotConservedUTxO"],
    draft: () => ({ ...pay, inputs: [], extra: 5n * ada }),
  },
  BadInputsUTxO: {
    names: ["BadInputsUTxO", "ValueNotConservedUTxO"],
    draft: (world) => ({ inputs: [{ ...world.fund(alice.address), ref: gone }] }),
  },
  BabbageNonDisjointRefInputs: {
    names: ["BabbageNonDisjointRefInputs"],
    major: 10,
    draft: (world) => {
      const input = world.fund(alice.address);
      return { inputs: [input], fields: { 18: [reference(input)] } };
    },
  },
  OutsideValidityIntervalUTxO: {
    names: ["OutsideValidityIntervalUTxO"],
    draft: () => ({ ...pay, fields: { 3: 1_000, 8: 7 } }),
  },
  MaxTxSizeUTxO: {
    names: ["MaxTxSizeUTxO"],
    draft: (world) => ({ inputs: Array.from({ length: 460 }, () => world.fund(alice.address)), fee: 2n * ada }),
  },
  FeeTooSmallUTxO: { names: ["FeeTooSmallUTxO"], draft: () => ({ ...pay, fee: 1_000n }) },
  ValueNotConservedUTxO: {
    names: ["ValueNotConservedUTxO"],
    draft: () => paying(bob.address, 2n * ada, { assets: tokens }),
  },
  WrongNetwork: { names: ["WrongNetwork"], draft: () => paying(atKey(bob.hash, 1)) },
  WrongNetworkWithdrawal: {
    names: ["ConwayWithdrawalsMissingAccounts", "WrongNetworkWithdrawal"],
    draft: (world) => withdraw(world, elsewhere, 5n * ada),
  },
  WrongNetworkInTxBody: { names: ["WrongNetworkInTxBody"], draft: () => ({ ...pay, fields: { 15: 1 } }) },
  BabbageOutputTooSmallUTxO: { names: ["BabbageOutputTooSmallUTxO"], draft: () => paying(bob.address, 700_000n) },
  OutputTooBigUTxO: {
    names: ["OutputTooBigUTxO"],
    draft: () => ({
      mint: new Map(Array.from({ length: 151 }, (_, i) => [asset(nativeHash(mine), `${i}`.padStart(32, "0")), 1n])),
      native: [mine],
      fee: 2n * ada,
    }),
  },
  OutputBootAddrAttrsTooBig: {
    names: ["OutputBootAddrAttrsTooBig"],
    draft: () => paying(byronAddress({ root: new Uint8Array(28), attributes: { 1: encode(new Uint8Array(70)) } })),
  },
  OutputTooSmallUTxO: "of eras before Babbage",
  OutsideForecast: "a node's own check of it never fails: the context of scripts does",
  ExUnitsTooBigUTxO: {
    names: ["ExUnitsTooBigUTxO"],
    draft: (world) => ({ ...spending(world), redeemers: [[0, 0, 16_500_001, 1_000_000]], fee: 2n * ada }),
  },
  NoCollateralInputs: {
    names: ["InsufficientCollateral", "NoCollateralInputs"],
    draft: (world) => ({ ...spending(world), fields: { 13: null } }),
  },
  TooManyCollateralInputs: {
    names: ["TooManyCollateralInputs"],
    draft: (world) => spending(world, agrees, ...[1, 2, 3, 4].map(() => world.fund(alice.address))),
  },
  ScriptsNotPaidUTxO: {
    names: ["ScriptsNotPaidUTxO"],
    draft: (world) => spending(world, agrees, world.fund(atScript(plutusHash(3, agrees)))),
  },
  CollateralContainsNonADA: {
    names: ["CollateralContainsNonADA"],
    draft: (world) => spending(world, agrees, world.fund(alice.address, 9n * ada, { assets: tokens })),
  },
  InsufficientCollateral: {
    names: ["InsufficientCollateral"],
    draft: (world) => spending(world, agrees, world.fund(alice.address, 599_999n)),
  },
  IncorrectTotalCollateralField: {
    names: ["IncorrectTotalCollateralField"],
    draft: (world) => {
      const draft = spending(world, agrees, world.fund(alice.address, 9n * ada));
      return { ...draft, fields: { ...draft.fields, 17: 9n * ada - 1n } };
    },
  },

  ValidationTagMismatch: {
    names: ["ValidationTagMismatch"],
    draft: (world) => spending(world, refusesSaying("never")),
  },
  CollectErrors: {
    names: ["CollectErrors"],
    draft: (world) => {
      world.submission = { horizon: 7_200 };
      return { ...spending(world), fields: { 3: 7_200 } };
    },
  },
} satisfies Partial<Record<FailureName, RefusedDraft | NotGiven>>;
