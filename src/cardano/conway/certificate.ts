/** Certificates of the Conway era: read by `cardano/certificates.ts`, then checked as the ledger's decoder does. */
import { fromHex, utf8 } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import { CborError, type Item, raw } from "#src/cardano/cbor.ts";
import {
  type Anchor,
  type Certificate as AnyCertificate,
  type DRep,
  type PoolParameters,
  type Relay,
  walkCertificate,
} from "#src/cardano/certificates.ts";
import { Walk } from "#src/cardano/walk.ts";
import { hasBigNumber } from "#src/cardano/conway/bigNumber.ts";
import { boundedRatio, type RewardAccount, rewardAccountOf } from "#src/cardano/conway/strict.ts";

/** A pool's registration, with its bytes, which the ledger state keeps. */
export interface PoolRegistration extends Omit<PoolParameters, "account"> {
  readonly kind: "register pool";
  readonly account: RewardAccount;
  readonly raw: Uint8Array;
}

/** A certificate. Deposits and refunds are lovelace; they are absent in the two Shelley kinds, which do not state them. */
export type Certificate = Exclude<AnyCertificate, { readonly kind: Past | "register pool" }> | PoolRegistration;

/** A certificate of one kind. */
export type CertificateOf<Kind extends Certificate["kind"]> = Extract<Certificate, { readonly kind: Kind }>;

/** Kinds that ended with Babbage. */
type Past = "delegate genesis" | "move rewards";

const MAX_WORD64 = (1n << 64n) - 1n;

/**
 * Reads a certificate.
 *
 * @throws {CborError} if the Conway ledger's decoder refuses it, for example because of a hash's length
 */
export function readCertificate(item: Item): Certificate {
  if (hasBigNumber(item)) throw new CborError("a big number in a certificate");
  const certificate = walkCertificate(new Walk(raw(item)));
  switch (certificate.kind) {
    case "delegate genesis":
    case "move rewards":
      throw new CborError(`"${certificate.kind}" is no certificate of Conway`);
    case "register":
      checkAmount(certificate.deposit, "deposit");
      if (certificate.to) checkDelegation(certificate.to);
      break;
    case "unregister":
    case "unregister drep":
      checkAmount(certificate.refund, "refund");
      break;
    case "delegate":
      checkDelegation(certificate.to);
      break;
    case "register pool":
      return checkPool(certificate, raw(item));
    case "retire pool":
      checkHash(certificate.pool, "pool", 28);
      checkAmount(certificate.epoch, "epoch");
      return certificate;
    case "authorize":
      checkCredential(certificate.hot);
      checkCredential(certificate.cold);
      return certificate;
    case "resign":
      checkAnchor(certificate.anchor);
      checkCredential(certificate.cold);
      return certificate;
    case "register drep":
      checkAmount(certificate.deposit, "deposit");
      checkAnchor(certificate.anchor);
      break;
    case "update drep":
      checkAnchor(certificate.anchor);
      break;
  }
  checkCredential(certificate.credential);
  return certificate;
}

function checkHash(hex: string, what: string, length: number): void {
  if (hex.length !== 2 * length) throw new CborError(`${what} has ${hex.length / 2} bytes`);
}

function checkAmount(amount: bigint | undefined, what: string): void {
  if (amount !== undefined && (amount < 0n || amount > MAX_WORD64)) throw new CborError(`${what} is out of range`);
}

function checkText(text: string, what: string): void {
  if (utf8(text).length > 128) throw new CborError(`${what} is longer than 128 bytes`);
}

function checkCredential({ hash }: Credential): void {
  checkHash(hash, "credential", 28);
}

function checkDelegation({ pool, drep }: { readonly pool?: string; readonly drep?: DRep }): void {
  if (pool !== undefined) checkHash(pool, "pool", 28);
  if (drep && "hash" in drep) checkHash(drep.hash, "drep", 28);
}

function checkAnchor(anchor: Anchor | undefined): void {
  if (!anchor) return;
  checkText(anchor.url, "anchor");
  checkHash(anchor.hash, "anchor", 32);
}

function checkPool(
  certificate: PoolParameters & { readonly kind: "register pool" },
  bytes: Uint8Array,
): PoolRegistration {
  const { pool, vrf, pledge, cost, margin: { numerator, denominator }, account, owners, relays, metadata } =
    certificate;
  checkHash(pool, "pool", 28);
  checkHash(vrf, "VRF key", 32);
  checkAmount(pledge, "pledge");
  checkAmount(cost, "pool cost");
  const margin = boundedRatio(numerator, denominator, "margin", true);
  for (const owner of owners) checkHash(owner, "pool owner", 28);
  if (new Set(owners).size !== owners.length) throw new CborError("pool owners has an element twice");
  relays.forEach(checkRelay);
  // the length of the metadata hash is checked by the POOL rule
  if (metadata) checkText(metadata.url, "pool metadata");
  return { ...certificate, margin, account: rewardAccountOf(fromHex(account)), raw: bytes };
}

function checkRelay(relay: Relay): void {
  if (relay.kind !== "service" && relay.port !== undefined && relay.port > 65_535) {
    throw new CborError("port is out of range");
  }
  if (relay.kind !== "address") return checkText(relay.name, "DNS name");
  if (relay.ipv4 !== undefined) checkHash(relay.ipv4, "IPv4 address", 4);
  if (relay.ipv6 !== undefined) checkHash(relay.ipv6, "IPv6 address", 16);
}

/** The credential that must witness a certificate; undefined for a registration without deposit and for pools (`poolKeys`). */
export function certificateWitness(certificate: Certificate | AnyCertificate): Credential | undefined {
  switch (certificate.kind) {
    case "register":
      return certificate.deposit === undefined ? undefined : certificate.credential;
    case "unregister":
    case "delegate":
    case "register drep":
    case "unregister drep":
    case "update drep":
      return certificate.credential;
    case "authorize":
    case "resign":
      return certificate.cold;
    default:
      return undefined;
  }
}

/** Hashes of the keys that must sign a pool certificate: the cold key and, in a registration, the owners. */
export function poolKeys(certificate: Certificate | AnyCertificate): readonly string[] {
  if (certificate.kind === "register pool") return [certificate.pool, ...certificate.owners];
  return certificate.kind === "retire pool" ? [certificate.pool] : [];
}
