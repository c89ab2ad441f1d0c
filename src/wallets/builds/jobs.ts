/** The jobs of builder threads that wallets add: keys, signatures, addresses and transactions. */
import type { Failure, Result } from "#src/base/result.ts";
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

export type { Builders } from "#src/threads/builders.ts";

declare module "#src/threads/jobs.ts" {
  interface Jobs {
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
}
