/** What a signer intends a transaction to do, and within which limits. */
import type { Failure } from "#src/base/result.ts";

/** Limits on a transaction; amounts are lovelace. */
export interface Limits {
  /** The requester's address, as text. It pays, signs and receives the change. */
  readonly address: string;
  /** Other addresses of the requester's wallet, as text: they may pay as well, and get change. */
  readonly own?: readonly string[] | undefined;
  /** Maximum fee; default 3 ada. */
  readonly maxFee?: bigint | undefined;
  /** Maximum that the transaction may lock at the contract, including a request's fee; default 10 ada. */
  readonly maxLocked?: bigint | undefined;
  /** Maximum fee that a request may offer to the token's owner, out of what it locks; default 1 ada. */
  readonly maxOffered?: bigint | undefined;
  /** Maximum loss if a script fails; default twice `maxFee`. */
  readonly maxCollateral?: bigint | undefined;
  /** The latest slot up to which it may be valid. Without this the transaction still needs an upper bound, at any slot. */
  readonly validUntil?: bigint | number | undefined;
  /** Hash of the contract version; default any published version. */
  readonly policy?: string | undefined;
}

/** What the signer intends. Requests are `<transaction hash>-<output index>`; keys and values are text. */
export type Intent =
  & Limits
  & (
    /** `token`: the id that the new token must have. */
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
    /** `requests`: exactly these; default any requests of the token. `refuse`: exactly these; default none. `root`: the root afterwards. */
    | {
      readonly type: "apply";
      readonly token: string;
      readonly requests?: readonly string[] | undefined;
      readonly refuse?: readonly string[] | undefined;
      readonly root?: string | undefined;
    }
    /** `to`: the next owner's address or payment key hash. */
    | { readonly type: "transfer"; readonly token: string; readonly to: string }
    | { readonly type: "end"; readonly token: string }
  );

/** One way in which a transaction differs from the intent. */
export interface Reason {
  readonly code: string;
  readonly message: string;
}

/** `not_as_intended`; `details.reasons` holds every reason. */
export type NotIntended = Failure<"not_as_intended"> & { readonly details: { readonly reasons: readonly Reason[] } };

/** Whether a source other than the transaction's builder confirms an output (`<hash>-<index>`). */
export type Vouched = (outputRef: string) => boolean;

/** An intent of one type. */
export type IntentOf<T extends Intent["type"]> = Extract<Intent, { type: T }>;
