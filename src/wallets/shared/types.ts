/** Descriptions of shared wallets, as plain JSON. */
import type { ConstructInput, PolicyTemplate } from "#src/wallets/builds/types.ts";
import type { Path, Xpub } from "#src/cardano/keys/types.ts";

/** A script as the API has it; leaves are names such as `cosigner#0`, or keys. */
export type ScriptForm = PolicyTemplate;

/** Use of a template: spending or delegation. */
export type CredentialType = "payment" | "delegation";

/** A script and the account keys of its cosigners; keys may still be missing. */
export interface ScriptTemplate {
  readonly script: ScriptForm;
  /** By name, such as `cosigner#0`. */
  readonly keys: { readonly [cosigner: string]: Xpub };
}

/** How strictly a script is validated: `required`, the ledger could accept it; `recommended`, it is sensible too. */
export type ValidationLevel = "none" | "required" | "recommended";

/** Job `sharedCredentials`: hashes of a template's scripts of a role at indices `from` … `from + count − 1`. */
export interface SharedCredentialsInput {
  readonly template: ScriptTemplate;
  readonly role: number;
  readonly from: number;
  readonly count: number;
}

/** Jobs `sharedConstruct` and `sharedFees`: `means.scripts` are derived from the templates. */
export interface SharedConstructInput extends ConstructInput {
  readonly payment: ScriptTemplate;
  readonly delegation?: ScriptTemplate | undefined;
}

/** Job `sharedSigning`: a transaction (CBOR) and the wallet's scripts in it, each with the path of the wallet's key. */
export interface SharedSigningInput {
  readonly transaction: Uint8Array;
  readonly account: Xpub;
  readonly own: readonly { readonly script: string; readonly path: Path }[];
}

/** Progress of signing, for one cosigner. */
export interface SharedSigning {
  /** Hash of the body, which is signed: 64 hexadecimal digits. */
  readonly hash: string;
  /** Paths of the wallet's keys that must still sign, each once. */
  readonly paths: readonly Path[];
  /** Whether the signatures satisfy all of the wallet's scripts. */
  readonly agrees: boolean;
  /** Signatures that these scripts need at most, and signatures of their keys that are present. */
  readonly expected: number;
  readonly detected: number;
}
