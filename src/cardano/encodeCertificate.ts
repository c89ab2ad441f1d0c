/** Encodes certificates of accounts and of representatives, as wallets write them. */
import { fromHex } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import type { Anchor, Certificate, DRep } from "#src/cardano/certificates.ts";

/** A certificate of an account: registration, end of registration, or delegation. */
export type AccountCertificate = Extract<Certificate, { kind: "register" | "unregister" | "delegate" }>;

/** A certificate of a representative: registration, change of its metadata, end of registration. */
export type DRepCertificate = Extract<Certificate, { kind: "register drep" | "update drep" | "unregister drep" }>;

/** `[kind, hash]`. */
export function encodableCredential({ kind, hash }: Credential): Encodable {
  return [kind === "key" ? 0 : 1, fromHex(hash)];
}

function drep(to: DRep): Encodable {
  if (to.kind === "abstain") return [2];
  return to.kind === "no confidence" ? [3] : encodableCredential(to);
}

/** `[url, hash]`, or null. */
export function encodableAnchor(anchor: Anchor | undefined): Encodable {
  return anchor ? [anchor.url, fromHex(anchor.hash)] : null;
}

/** Kinds of certificates that only delegate, by what they delegate to. */
const DELEGATIONS = [2, 9, 10] as const;

/** A delegation's kind (0 pool, 1 representative, 2 both) and its encoded targets. */
function target({ pool, drep: to }: { readonly pool?: string; readonly drep?: DRep }): [0 | 1 | 2, Encodable[]] {
  if (pool !== undefined && to) return [2, [fromHex(pool), drep(to)]];
  if (to) return [1, [drep(to)]];
  if (pool !== undefined) return [0, [fromHex(pool)]];
  throw new TypeError("a delegation without a pool and a representative");
}

/**
 * CBOR of a certificate, in the Conway form that states the deposit or refund; without an amount, in the Shelley form, where
 * the protocol parameters define it.
 *
 * @throws {TypeError} if a delegation has no target, or a registration with delegation has no deposit
 */
export function encodeCertificate(certificate: AccountCertificate | DRepCertificate): Uint8Array {
  const who = encodableCredential(certificate.credential);
  switch (certificate.kind) {
    case "register": {
      const { deposit, to } = certificate;
      if (!to) return encode(deposit === undefined ? [0, who] : [7, who, deposit]);
      if (deposit === undefined) throw new TypeError("a registration that delegates states its deposit");
      const [kind, rest] = target(to);
      return encode([11 + kind, who, ...rest, deposit]);
    }
    case "unregister":
      return encode(certificate.refund === undefined ? [1, who] : [8, who, certificate.refund]);
    case "register drep":
      return encode([16, who, certificate.deposit, encodableAnchor(certificate.anchor)]);
    case "unregister drep":
      return encode([17, who, certificate.refund]);
    case "update drep":
      return encode([18, who, encodableAnchor(certificate.anchor)]);
    default: {
      const [kind, rest] = target(certificate.to);
      return encode([DELEGATIONS[kind], who, ...rest]);
    }
  }
}
