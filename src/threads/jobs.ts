/**
 * The jobs of builder threads. Inputs and results are plain values for structured clone: no functions, no class
 * instances.
 */
import type { Failure, Result } from "#src/base/result.ts";
import type { Evaluation, EvaluationInput, Measurement } from "#src/plutus/types.ts";
import type { BuildFailure, BuildInput, Built } from "#src/contract/transactions/common.ts";
import type { BuiltBoot } from "#src/contract/transactions/boot.ts";
import type { BuiltRequest, RequestInput } from "#src/contract/transactions/request.ts";
import type { RetractInput } from "#src/contract/transactions/retract.ts";
import type { BuiltUpdate, UpdateFailure, UpdateInput } from "#src/contract/transactions/update.ts";
import type { BuiltBatch } from "#src/contract/transactions/batch.ts";
import type { BuiltTransfer, TransferFailure, TransferInput } from "#src/contract/transactions/transfer.ts";
import type { EndInput } from "#src/contract/transactions/end.ts";
import type { CutMismatch } from "#src/forestry/cut.ts";
import type { BundleFailure, BundleFile, BundleInput } from "#src/threads/bundle.ts";
import type { Summary } from "#src/contract/summary/schema.ts";
import type { Undecodable } from "#src/contract/summary/summarize.ts";
import type { ExplainInput } from "#src/tokens/builds/explain.ts";
import type { PackedFacts, StateFacts } from "#src/tokens/builds/packedFacts.ts";
import type { PathProof, ProveFailure, ProveInput } from "#src/tokens/builds/proofs.ts";
import type {
  DerivedHashes,
  DeriveInput,
  KeySignature,
  MnemonicKeysInput,
  MnemonicSignInput,
  OpenedRoot,
  OpenRootInput,
  PublicKeysInput,
  ResealInput,
  SealedKey,
  SignInput,
  WrongPassphrase,
  Xpub,
} from "#src/cardano/keys/types.ts";

import type {
  BalanceInput,
  BalanceTxFailure,
  ConsolidateInput,
  ConstructedTransaction,
  ConstructFailure,
  ConstructInput,
  DecodedTransaction,
  DecodeFailure,
  DecodeInput,
  FeeEstimate,
  MigrateFailure,
  MigrateInput,
} from "#src/wallets/builds/types.ts";

import type {
  SharedConstructInput,
  SharedCredentialsInput,
  SharedSigning,
  SharedSigningInput,
} from "#src/wallets/shared/types.ts";

/** Jobs by name, each from its input to its result. */
export interface Jobs {
  /** Loads the code that jobs need, so that the first one does not wait. */
  warm(input: null): Result<null, never>;
  boot(input: BuildInput): Result<BuiltBoot, BuildFailure>;
  request(input: RequestInput): Result<BuiltRequest, BuildFailure>;
  retract(input: RetractInput): Result<Built, BuildFailure>;
  update(input: UpdateInput & StateFacts): Result<BuiltUpdate, UpdateFailure>;
  /** An update with as many of the requests as apply and fit. */
  batch(input: UpdateInput & StateFacts): Result<BuiltBatch, UpdateFailure>;
  transfer(input: TransferInput): Result<BuiltTransfer, TransferFailure>;
  end(input: EndInput): Result<Built, BuildFailure>;
  /** Summary of a transaction. */
  explain(input: ExplainInput): Result<Summary, Undecodable>;
  evaluate(input: EvaluationInput): Result<Evaluation, never>;
  /** Units of each redeemer by itself. */
  measure(input: EvaluationInput): Result<Measurement, never>;
  /** Root of the facts, 32 bytes in hexadecimal. */
  root(input: PackedFacts): Result<string, CutMismatch>;
  /** Cut of the facts, and their root. */
  cut(input: PackedFacts): Result<{ readonly root: string; readonly cut: Uint8Array }, CutMismatch>;
  /** A proof of a fact or of its absence. */
  prove(input: ProveInput): Result<PathProof, ProveFailure>;
  /** Text of a module for browsers. */
  bundle(input: BundleInput): Result<BundleFile[], BundleFailure>;
  openRoot(input: OpenRootInput): Result<OpenedRoot, Failure<"bad_mnemonic">>;
  /** One signature per path on each message, in order. */
  signMessages(input: SignInput): Result<readonly (readonly KeySignature[])[], WrongPassphrase>;
  reseal(input: ResealInput): Result<SealedKey, WrongPassphrase>;
  publicKeys(input: PublicKeysInput): Result<readonly Xpub[], WrongPassphrase>;
  mnemonicKeys(input: MnemonicKeysInput): Result<readonly Xpub[], Failure<"bad_mnemonic">>;
  signWithMnemonic(input: MnemonicSignInput): Result<readonly KeySignature[], Failure<"bad_mnemonic">>;
  deriveCredentials(input: DeriveInput): Result<DerivedHashes, never>;
  /** Hashes of a shared wallet's scripts. */
  sharedCredentials(input: SharedCredentialsInput): Result<DerivedHashes, never>;
  /** A wallet's transaction. */
  construct(input: ConstructInput): Result<ConstructedTransaction, ConstructFailure>;
  /** The cost of such a transaction. */
  fees(input: ConstructInput): Result<FeeEstimate, ConstructFailure>;
  /** As `construct`, for a shared wallet; includes the scripts of its coins. */
  sharedConstruct(input: SharedConstructInput): Result<ConstructedTransaction, ConstructFailure>;
  /** The state of signing of a shared wallet's transaction. */
  sharedSigning(input: SharedSigningInput): Result<SharedSigning, DecodeFailure>;
  sharedFees(input: SharedConstructInput): Result<FeeEstimate, ConstructFailure>;
  /** Unsigned transactions that move everything a wallet holds to other addresses. */
  migrate(input: MigrateInput): Result<readonly Uint8Array[], MigrateFailure>;
  /** Unsigned transactions that merge small coins of a wallet. */
  consolidate(
    input: ConsolidateInput,
  ): Result<readonly Uint8Array[], Failure<"nothing_to_consolidate" | "invalid_validity_bounds">>;
  /** A partial transaction, completed with a wallet's coins. */
  balance(input: BalanceInput): Result<ConstructedTransaction, BalanceTxFailure>;
  decode(input: DecodeInput): Result<DecodedTransaction, DecodeFailure>;
}

export type JobName = keyof Jobs;
export type JobInput<J extends JobName> = Parameters<Jobs[J]>[0];
type JobResult<J extends JobName> = ReturnType<Jobs[J]>;
/** The value of a successful job. */
export type JobValue<J extends JobName> = Extract<JobResult<J>, { ok: true }>["value"];
/** The failures of a job itself. */
export type JobFailure<J extends JobName> = Extract<JobResult<J>, { ok: false }>["error"];

/**
 * Failures of the threads: `overloaded`: the queue is full or the service is stopping; `deadline`: not done in time;
 * `crashed`: the thread ended (it is replaced).
 */
export type ThreadFailure = Failure<"overloaded" | "deadline" | "crashed">;

/** The message to a thread. */
export interface JobOrder {
  readonly id: number;
  readonly job: JobName;
  readonly input: unknown;
}

/** The message from a thread; `broke` is the message of an unexpected error. */
export type JobReport =
  | { readonly id: number; readonly result: Result<unknown, Failure> }
  | { readonly id: number; readonly broke: string };
