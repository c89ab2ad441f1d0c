/** Certificates of the Conway era. */
import type { Credential } from "#src/cardano/address.ts";
import { as, asSet, CborError, type Item, raw } from "#src/cardano/cbor.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import {
  anchorOrNil,
  credential,
  hash,
  ratio,
  type RewardAccount,
  rewardAccount,
  text,
  tuple,
  uint,
  unique,
} from "#src/ledger/decode/strict.ts";
import { credentialKey } from "#src/ledger/state.ts";

/** Whom an account delegates to: a pool, a representative (its key, `abstain` or `no confidence`), or both. */
export interface Delegatee {
  readonly pool?: string;
  readonly drep?: string;
}

/** A certificate. Deposits and refunds are lovelace and absent in the two kinds of Shelley that do not state them. */
export type Certificate =
  | { readonly kind: "register"; readonly credential: Credential; readonly deposit?: bigint; readonly to?: Delegatee }
  | { readonly kind: "unregister"; readonly credential: Credential; readonly refund?: bigint }
  | { readonly kind: "delegate"; readonly credential: Credential; readonly to: Delegatee }
  | {
    readonly kind: "register pool";
    readonly pool: string;
    /** Hash of its VRF key, in hexadecimal. */
    readonly vrf: string;
    /** Lovelace that its owners promise to delegate to it. */
    readonly pledge: bigint;
    /** Lovelace of its rewards that go to its account before all else. */
    readonly cost: bigint;
    /** Share of the rest that goes there too. */
    readonly margin: Ratio;
    readonly account: RewardAccount;
    readonly owners: readonly string[];
    /** Bytes of the hash of its metadata, where it has any. */
    readonly metadataHashSize?: number;
    readonly raw: Uint8Array;
  }
  | { readonly kind: "retire pool"; readonly pool: string; readonly epoch: bigint }
  | { readonly kind: "authorize"; readonly cold: Credential; readonly hot: Credential }
  | { readonly kind: "resign"; readonly cold: Credential }
  | { readonly kind: "register drep"; readonly credential: Credential; readonly deposit: bigint }
  | { readonly kind: "unregister drep"; readonly credential: Credential; readonly refund: bigint }
  | { readonly kind: "update drep"; readonly credential: Credential };

/** Elements of each kind's array, its tag included; absent tags are no certificates of Conway. */
const LENGTHS: ReadonlyMap<number, number> = new Map([
  [0, 2],
  [1, 2],
  [2, 3],
  [3, 10],
  [4, 3],
  [7, 3],
  [8, 3],
  [9, 3],
  [10, 4],
  [11, 4],
  [12, 4],
  [13, 5],
  [14, 3],
  [15, 3],
  [16, 4],
  [17, 3],
  [18, 3],
]);

/** Reads a certificate. Throws `CborError`. */
export function readCertificate(item: Item): Certificate {
  const [tag, ...rest] = as(item, "array").value;
  const kind = Number(uint(tag, "kind of certificate", 18n));
  if (LENGTHS.get(kind) !== rest.length + 1) throw new CborError(`no certificate of kind ${kind} has such a length`);
  const [a, b, c, d] = rest;
  const pool = (of: Item | undefined) => hash(of, "pool", 28);
  const coin = (of: Item | undefined) => uint(of, "deposit");
  switch (kind) {
    case 0:
      return { kind: "register", credential: credential(a) };
    case 1:
      return { kind: "unregister", credential: credential(a) };
    case 2:
      return { kind: "delegate", credential: credential(a), to: { pool: pool(b) } };
    case 3:
      return readPool(rest, raw(item));
    case 4:
      return { kind: "retire pool", pool: pool(a), epoch: uint(b, "epoch") };
    case 7:
      return { kind: "register", credential: credential(a), deposit: coin(b) };
    case 8:
      return { kind: "unregister", credential: credential(a), refund: coin(b) };
    case 9:
      return { kind: "delegate", credential: credential(a), to: { drep: readDRep(b) } };
    case 10:
      return { kind: "delegate", credential: credential(a), to: { pool: pool(b), drep: readDRep(c) } };
    case 11:
      return { kind: "register", credential: credential(a), to: { pool: pool(b) }, deposit: coin(c) };
    case 12:
      return { kind: "register", credential: credential(a), to: { drep: readDRep(b) }, deposit: coin(c) };
    case 13:
      return {
        kind: "register",
        credential: credential(a),
        to: { pool: pool(b), drep: readDRep(c) },
        deposit: coin(d),
      };
    case 14:
      return { kind: "authorize", cold: credential(a), hot: credential(b) };
    case 15:
      anchorOrNil(b);
      return { kind: "resign", cold: credential(a) };
    case 16:
      anchorOrNil(c);
      return { kind: "register drep", credential: credential(a), deposit: coin(b) };
    case 17:
      return { kind: "unregister drep", credential: credential(a), refund: coin(b) };
    default:
      anchorOrNil(b);
      return { kind: "update drep", credential: credential(a) };
  }
}

/** `drep`: the key of a credential, `abstain` or `no confidence`. */
function readDRep(item: Item | undefined): string {
  const [tag, of] = tuple(item, "drep", 1, 2);
  const kind = Number(uint(tag, "kind of drep", 3n));
  if ((of === undefined) !== (kind > 1)) throw new CborError("drep of the wrong length");
  if (kind === 2) return "abstain";
  if (kind === 3) return "no confidence";
  return credentialKey({ kind: kind === 1 ? "script" : "key", hash: hash(of, "drep", 28) });
}

function readPool(parts: readonly Item[], bytes: Uint8Array): Certificate {
  const [operator, vrf, pledge, cost, margin, account, owners, relays, metadata] = parts;
  as(relays, "array").value.forEach(checkRelay);
  const [url, of] = metadata?.type === "null" ? [] : tuple(metadata, "pool metadata", 2);
  if (url) text(url, "pool metadata", 128);
  return {
    kind: "register pool",
    pool: hash(operator, "pool", 28),
    vrf: hash(vrf, "VRF key", 32),
    pledge: uint(pledge, "pledge"),
    cost: uint(cost, "pool cost"),
    margin: ratio(margin, "margin", true),
    account: rewardAccount(account),
    owners: unique(asSet(owners), "pool owners", (owner) => hash(owner, "pool owner", 28)),
    ...(of ? { metadataHashSize: as(of, "bytes").value.length } : {}),
    raw: bytes,
  };
}

function checkRelay(item: Item): void {
  const [tag, ...rest] = tuple(item, "relay", 2, 3, 4);
  const kind = Number(uint(tag, "kind of relay", 2n));
  if (rest.length !== [3, 2, 1][kind]) throw new CborError("relay of the wrong length");
  const optional = (of: Item | undefined, check: (of: Item) => void) => of && of.type !== "null" && check(of);
  if (kind < 2) optional(rest[0], (port) => uint(port, "port", 65_535n));
  if (kind === 0) {
    optional(rest[1], (address) => hash(address, "IPv4 address", 4));
    optional(rest[2], (address) => hash(address, "IPv6 address", 16));
  } else text(rest[kind === 1 ? 1 : 0], "DNS name", 128);
}

/** Who must agree to a certificate, by key or script; none for registration as Shelley had it. Pools answer by keys (`poolKeys`). */
export function certificateWitness(certificate: Certificate): Credential | undefined {
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

/** Hashes of the keys that must sign for a pool: its cold key, and its owners when it is registered. */
export function poolKeys(certificate: Certificate): readonly string[] {
  if (certificate.kind === "register pool") return [certificate.pool, ...certificate.owners];
  return certificate.kind === "retire pool" ? [certificate.pool] : [];
}
