/** What shared wallets are described by, as plain JSON. */
import type { ConstructInput, PolicyTemplate } from "#src/wallet/build/types.ts";
import type { Path, Xpub } from "#src/wallet/keys/types.ts";

/** A script as people write it; leaves are names such as `cosigner#0`, or keys. The form of the wire. */
export type ScriptForm = PolicyTemplate;

/** What a template is for: to spend, or to delegate. */
export type CredentialType = "payment" | "delegation";

/** A script, and the account keys of those whom its names stand for; a key may be missing as yet. */
export interface ScriptTemplate {
  readonly script: ScriptForm;
  /** By name, as `cosigner#0`. */
  readonly keys: { readonly [cosigner: string]: Xpub };
}

/** How strictly a script is looked at: whether the ledger could ever accept it, or whether it is wise as well. */
export type ValidationLevel = "none" | "required" | "recommended";

/** Job `sharedCredentials`: hashes of a template's scripts of a role at indices `from` … `from + count − 1`. */
export interface SharedCredentialsInput {
  readonly template: ScriptTemplate;
  readonly role: number;
  readonly from: number;
  readonly count: number;
}

/** Jobs `sharedConstruct` and `sharedFees`: `means.scripts` are made of the templates. */
export interface SharedConstructInput extends ConstructInput {
  readonly payment: ScriptTemplate;
  readonly delegation?: ScriptTemplate | undefined;
}

/** Job `sharedSigning`: what of a transaction (CBOR) is a wallet's own, by the hash of each script and the path of the wallet's key in it. */
export interface SharedSigningInput {
  readonly transaction: Uint8Array;
  readonly account: Xpub;
  readonly own: readonly { readonly script: string; readonly path: Path }[];
}

/** How far signing is, for one of the cosigners. */
export interface SharedSigning {
  /** What is signed, 64 hexadecimal digits. */
  readonly hash: string;
  /** Paths of the wallet's keys that still have to sign, each once. */
  readonly paths: readonly Path[];
  /** Whether the signatures satisfy all of the wallet's scripts. */
  readonly agrees: boolean;
  /** Signatures that these scripts may need, and those of their keys that are there. */
  readonly expected: number;
  readonly detected: number;
}
