/** What somebody means to sign, and within which bounds. */
import type { Failure } from "#src/base/result.ts";

/** How far a transaction may go; amounts are lovelace. */
export interface Limits {
  /** The requester's address, as text: it pays, signs and gets the change. */
  readonly address: string;
  /** Most fee; 3 ada unless said otherwise. */
  readonly maxFee?: bigint | undefined;
  /** Most that may come to stand at the contract for it, fee of a request included; 10 ada unless said otherwise. */
  readonly maxLocked?: bigint | undefined;
  /** Most that a request may offer to the owner of the token, out of what it locks; 1 ada unless said otherwise. */
  readonly maxOffered?: bigint | undefined;
  /** Most that is lost if a script fails; twice `maxFee` unless said otherwise. */
  readonly maxCollateral?: bigint | undefined;
  /** The slot after which it must no longer be valid. Without one it must be bounded, by whatever slot. */
  readonly validUntil?: bigint | number | undefined;
  /** Hash of the contract that is meant; any published version unless said otherwise. */
  readonly policy?: string | undefined;
}

/** What somebody means to sign. Requests are `<transaction hash>-<output index>`, keys and values texts. */
export type Intent =
  & Limits
  & (
    /** `token`: the id that it must have. */
    | { readonly type: "boot"; readonly token?: string | undefined }
    | { readonly type: "insert"; readonly token: string; readonly key: string; readonly newValue: string }
    | {
      readonly type: "update";
      readonly token: string;
      readonly key: string;
      readonly oldValue: string;
      readonly newValue: string;
    }
    | { readonly type: "delete"; readonly token: string; readonly key: string; readonly oldValue: string }
    | { readonly type: "retract"; readonly request: string }
    /** `requests`: exactly those; without them whichever of the token's there are. `root`: the one it must lead to. */
    | {
      readonly type: "apply";
      readonly token: string;
      readonly requests?: readonly string[] | undefined;
      readonly root?: string | undefined;
    }
    /** `to`: the next owner's address, or the hash of his key. */
    | { readonly type: "transfer"; readonly token: string; readonly to: string }
    | { readonly type: "end"; readonly token: string }
  );

/** Something in which a transaction is not what is meant. */
export interface Reason {
  readonly code: string;
  readonly message: string;
}

/** `not_as_intended`: `details.reasons` has every reason. */
export type NotIntended = Failure<"not_as_intended"> & { readonly details: { readonly reasons: readonly Reason[] } };

/** Whether somebody else than who built the transaction says what an output (`<hash>-<index>`) is. */
export type Vouched = (outputRef: string) => boolean;

/** The members of one kind of intent. */
export type Of<T extends Intent["type"]> = Extract<Intent, { type: T }>;
