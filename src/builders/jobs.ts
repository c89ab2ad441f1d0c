/**
 * What the threads can do. Inputs and outputs are plain values that cross threads by structured clone: no functions, no classes.
 */
import type { Failure, Result } from "#src/base/result.ts";
import type { Evaluation, EvaluationInput } from "#src/plutus/types.ts";
import type { BuildFailure, BuildInput, Built } from "#src/cage/transactions/common.ts";
import type { BuiltBoot } from "#src/cage/transactions/boot.ts";
import type { BuiltRequest, RequestInput } from "#src/cage/transactions/request.ts";
import type { RetractInput } from "#src/cage/transactions/retract.ts";
import type { BuiltUpdate, UpdateFailure, UpdateInput } from "#src/cage/transactions/update.ts";
import type { BuiltBatch } from "#src/cage/transactions/batch.ts";
import type { BuiltTransfer, TransferFailure, TransferInput } from "#src/cage/transactions/transfer.ts";
import type { EndInput } from "#src/cage/transactions/end.ts";
import type { CutMismatch } from "#src/forestry/cut.ts";
import type { BundleFailure, BundleInput } from "#src/builders/bundle.ts";
import type { Summary } from "#src/api/summary.ts";
import type { Undecodable } from "#src/cage/summary/explain.ts";
import type { ExplainInput } from "#src/builders/explain.ts";
import type { FactsAtHand } from "#src/builders/facts.ts";
import type { ProveFailure, ProveInput, Proven } from "#src/builders/proofs.ts";
import type {
  DerivedHashes,
  DeriveInput,
  KeySignature,
  OpenedRoot,
  OpenRootInput,
  PublicKeysInput,
  ResealInput,
  SealedKey,
  SignInput,
  Xpub,
} from "#src/wallet/keys/types.ts";

import type {
  BalanceInput,
  BalanceTxFailure,
  ConstructedTransaction,
  ConstructFailure,
  ConstructInput,
  DecodedTransaction,
  DecodeFailure,
  DecodeInput,
  FeeEstimate,
  MigrateFailure,
  MigrateInput,
} from "#src/wallet/build/types.ts";

import type {
  SharedConstructInput,
  SharedCredentialsInput,
  SharedSigning,
  SharedSigningInput,
} from "#src/wallet/shared/types.ts";

/** Jobs by name, each from its input to its result. */
export interface Jobs {
  /** Loads what jobs need, so that the first real one does not wait. */
  warm(input: null): Result<null, never>;
  boot(input: BuildInput): Result<BuiltBoot, BuildFailure>;
  request(input: RequestInput): Result<BuiltRequest, BuildFailure>;
  retract(input: RetractInput): Result<Built, BuildFailure>;
  update(input: UpdateInput & { readonly facts: FactsAtHand }): Result<BuiltUpdate, UpdateFailure>;
  /** As many of the requests as can be applied and as fit. */
  batch(input: UpdateInput & { readonly facts: FactsAtHand }): Result<BuiltBatch, UpdateFailure>;
  transfer(input: TransferInput): Result<BuiltTransfer, TransferFailure>;
  end(input: EndInput): Result<Built, BuildFailure>;
  /** What a transaction does. */
  explain(input: ExplainInput): Result<Summary, Undecodable>;
  evaluate(input: EvaluationInput): Result<Evaluation, never>;
  /** Root of facts, 32 bytes in hexadecimal. */
  root(input: FactsAtHand): Result<string, CutMismatch>;
  /** Cut of facts, and their root. */
  cut(input: FactsAtHand): Result<{ readonly root: string; readonly cut: Uint8Array }, CutMismatch>;
  /** A fact or its absence, proven. */
  prove(input: ProveInput): Result<Proven, ProveFailure>;
  /** The text of a module for browsers. */
  bundle(input: BundleInput): Result<string, BundleFailure>;
  openRoot(input: OpenRootInput): Result<OpenedRoot, Failure<"bad_mnemonic">>;
  /** One signature a path on each message, in their order. */
  signMessages(input: SignInput): Result<readonly (readonly KeySignature[])[], WrongPassphrase>;
  reseal(input: ResealInput): Result<SealedKey, WrongPassphrase>;
  publicKeys(input: PublicKeysInput): Result<readonly Xpub[], WrongPassphrase>;
  deriveCredentials(input: DeriveInput): Result<DerivedHashes, never>;
  /** Hashes of a shared wallet's scripts. */
  sharedCredentials(input: SharedCredentialsInput): Result<DerivedHashes, never>;
  /** A wallet's transaction. */
  construct(input: ConstructInput): Result<ConstructedTransaction, ConstructFailure>;
  /** What such a transaction would cost. */
  fees(input: ConstructInput): Result<FeeEstimate, ConstructFailure>;
  /** As `construct`, for a shared wallet: the scripts behind its coins are made along. */
  sharedConstruct(input: SharedConstructInput): Result<ConstructedTransaction, ConstructFailure>;
  /** How far the signing of a shared wallet's transaction is. */
  sharedSigning(input: SharedSigningInput): Result<SharedSigning, DecodeFailure>;
  sharedFees(input: SharedConstructInput): Result<FeeEstimate, ConstructFailure>;
  /** Unsigned transactions that carry all that a wallet holds to other addresses. */
  migrate(input: MigrateInput): Result<readonly Uint8Array[], MigrateFailure>;
  /** A partial transaction completed out of a wallet. */
  balance(input: BalanceInput): Result<ConstructedTransaction, BalanceTxFailure>;
  decode(input: DecodeInput): Result<DecodedTransaction, DecodeFailure>;
}

/** A root key that did not open. */
export type WrongPassphrase = Failure<"wrong_encryption_passphrase">;

export type JobName = keyof Jobs;
export type JobInput<J extends JobName> = Parameters<Jobs[J]>[0];
type JobResult<J extends JobName> = ReturnType<Jobs[J]>;
/** The good answer of a job. */
export type JobValue<J extends JobName> = Extract<JobResult<J>, { ok: true }>["value"];
/** The failures a job itself may answer with. */
export type JobFailure<J extends JobName> = Extract<JobResult<J>, { ok: false }>["error"];

/**
 * Failures of the threads themselves: `overloaded` the queue is full or the service is stopping, `deadline` not done in time, `crashed` the
 * thread broke (it is replaced).
 */
export type ThreadFailure = Failure<"overloaded" | "deadline" | "crashed">;

/** What a thread is sent. */
export interface Order {
  readonly id: number;
  readonly job: JobName;
  readonly input: unknown;
}

/** What a thread sends back; `broke` is the message of an error that no job should throw. */
export type Report =
  | { readonly id: number; readonly result: Result<unknown, Failure> }
  | { readonly id: number; readonly broke: string };
