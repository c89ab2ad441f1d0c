/**
 * Certificates of every era since Shelley, and the one reader of them.
 *
 * The reader does not validate: hashes may have any length, because a chain may hold unusual ones (preview has a pool of 56
 * bytes). `conway/certificate.ts` calls this reader and adds the checks of the Conway ledger's decoder;
 * `encodeCertificate.ts` writes certificates; `plutus/context/certificates.ts` translates them for scripts.
 */
import type { Credential } from "#src/cardano/address.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { major, type Walk } from "#src/cardano/walk.ts";

/** The target of a vote delegation. */
export type DRep = Credential | { readonly kind: "abstain" } | { readonly kind: "no confidence" };

/** The URL of a document, and the hash that it must have, in hexadecimal. */
export interface Anchor {
  readonly url: string;
  readonly hash: string;
}

/** A pool's relay. */
export type Relay =
  | {
    readonly kind: "address";
    readonly port?: number;
    /** In hexadecimal. */
    readonly ipv4?: string;
    /** In hexadecimal. */
    readonly ipv6?: string;
  }
  /** A DNS name with A or AAAA records. */
  | { readonly kind: "host"; readonly name: string; readonly port?: number }
  /** A DNS name with SRV records. */
  | { readonly kind: "service"; readonly name: string };

/** Parameters of a pool registration; amounts are lovelace, hashes hexadecimal. */
export interface PoolParameters {
  /** Hash of the pool's cold key: its id. */
  readonly pool: string;
  /** Hash of its VRF key. */
  readonly vrf: string;
  readonly pledge: bigint;
  readonly cost: bigint;
  /** The operator's share of the rewards, as a fraction. */
  readonly margin: { readonly numerator: bigint; readonly denominator: bigint };
  /** Reward account, its bytes in hexadecimal. */
  readonly account: string;
  /** Hashes of the owners' stake keys. */
  readonly owners: readonly string[];
  readonly relays: readonly Relay[];
  readonly metadata?: Anchor;
}

/** Targets of a delegation: a pool for the stake, a representative for the vote, or both. */
export interface Delegation {
  readonly pool?: string;
  readonly drep?: DRep;
}

/**
 * A certificate. Deposits and refunds are lovelace; they are absent in the two Shelley kinds (0 and 1), where the protocol
 * parameters define them. Kinds 5 and 6 ended with Babbage; kinds 7 and up are new in Conway.
 */
export type Certificate =
  /** Kinds 0, 7, and with a delegation 11, 12, 13. */
  | { readonly kind: "register"; readonly credential: Credential; readonly deposit?: bigint; readonly to?: Delegation }
  /** Kinds 1 and 8. */
  | { readonly kind: "unregister"; readonly credential: Credential; readonly refund?: bigint }
  /** Kinds 2, 9, 10. */
  | { readonly kind: "delegate"; readonly credential: Credential; readonly to: Delegation }
  /** Kind 3; also changes the parameters of a registered pool. */
  | ({ readonly kind: "register pool" } & PoolParameters)
  /** Kind 4: at the beginning of the epoch. */
  | { readonly kind: "retire pool"; readonly pool: string; readonly epoch: bigint }
  /** Kind 5: a genesis key delegates its block production. */
  | { readonly kind: "delegate genesis"; readonly genesis: string; readonly delegate: string; readonly vrf: string }
  /** Kind 6: from a pot to accounts, in lovelace, or to the other pot. */
  | {
    readonly kind: "move rewards";
    readonly from: "reserves" | "treasury";
    readonly to: bigint | readonly { readonly credential: Credential; readonly amount: bigint }[];
  }
  /** Kind 14: a committee member authorizes a hot key to vote. */
  | { readonly kind: "authorize"; readonly cold: Credential; readonly hot: Credential }
  /** Kind 15: a committee member resigns. */
  | { readonly kind: "resign"; readonly cold: Credential; readonly anchor?: Anchor }
  /** Kind 16. */
  | {
    readonly kind: "register drep";
    readonly credential: Credential;
    readonly deposit: bigint;
    readonly anchor?: Anchor;
  }
  /** Kind 17. */
  | { readonly kind: "unregister drep"; readonly credential: Credential; readonly refund: bigint }
  /** Kind 18. */
  | { readonly kind: "update drep"; readonly credential: Credential; readonly anchor?: Anchor };

/** Number of elements in each kind's array, including the kind. */
const LENGTHS: readonly number[] = [2, 2, 3, 10, 3, 4, 2, 3, 3, 3, 4, 4, 4, 5, 3, 3, 4, 3, 3];

/**
 * Reads the certificate at a walk's position.
 *
 * @throws {CborError} if it is malformed or of a kind that no era up to Conway has
 */
export function walkCertificate(walk: Walk): Certificate {
  const start = walk.at;
  const length = walk.tuple("certificate", 2, 10);
  const kind = walk.uint();
  if (LENGTHS[kind] === undefined) throw new CborError(`there is no certificate of kind ${kind}`);
  if (LENGTHS[kind] !== length) throw new CborError(`a certificate of kind ${kind} with ${length} elements`);
  const certificate = walkKind(walk, kind);
  walk.close(start);
  return certificate;
}

function walkKind(walk: Walk, kind: number): Certificate {
  switch (kind) {
    case 0:
      return { kind: "register", credential: walkCredential(walk) };
    case 1:
      return { kind: "unregister", credential: walkCredential(walk) };
    case 2:
      return { kind: "delegate", credential: walkCredential(walk), to: { pool: walk.hex() } };
    case 3:
      return { kind: "register pool", ...walkPool(walk) };
    case 4:
      return { kind: "retire pool", pool: walk.hex(), epoch: walk.int() };
    case 5:
      return { kind: "delegate genesis", genesis: walk.hex(), delegate: walk.hex(), vrf: walk.hex() };
    case 6:
      return walkRewards(walk);
    case 7:
      return { kind: "register", credential: walkCredential(walk), deposit: walk.int() };
    case 8:
      return { kind: "unregister", credential: walkCredential(walk), refund: walk.int() };
    case 9:
      return { kind: "delegate", credential: walkCredential(walk), to: { drep: walkDRep(walk) } };
    case 10:
      return { kind: "delegate", credential: walkCredential(walk), to: { pool: walk.hex(), drep: walkDRep(walk) } };
    case 11:
      return { kind: "register", credential: walkCredential(walk), to: { pool: walk.hex() }, deposit: walk.int() };
    case 12:
      return { kind: "register", credential: walkCredential(walk), to: { drep: walkDRep(walk) }, deposit: walk.int() };
    case 13:
      return {
        kind: "register",
        credential: walkCredential(walk),
        to: { pool: walk.hex(), drep: walkDRep(walk) },
        deposit: walk.int(),
      };
    case 14:
      return { kind: "authorize", cold: walkCredential(walk), hot: walkCredential(walk) };
    case 15:
      return { kind: "resign", cold: walkCredential(walk), ...walkAnchor(walk) };
    case 16:
      return {
        kind: "register drep",
        credential: walkCredential(walk),
        deposit: walk.int(),
        ...walkAnchor(walk),
      };
    case 17:
      return { kind: "unregister drep", credential: walkCredential(walk), refund: walk.int() };
    default:
      return { kind: "update drep", credential: walkCredential(walk), ...walkAnchor(walk) };
  }
}

function walkCredential(walk: Walk): Credential {
  const start = walk.at;
  walk.tuple("credential", 2);
  const kind = walk.uint();
  if (kind > 1) throw new CborError(`no credential of kind ${kind}`);
  const credential: Credential = { kind: kind === 0 ? "key" : "script", hash: walk.hex() };
  walk.close(start);
  return credential;
}

function walkDRep(walk: Walk): DRep {
  const start = walk.at;
  const length = walk.tuple("representative", 1, 2);
  const kind = walk.uint();
  if (kind > 3 || length !== (kind < 2 ? 2 : 1)) throw new CborError("no representative");
  const drep: DRep = kind === 0
    ? { kind: "key", hash: walk.hex() }
    : kind === 1
    ? { kind: "script", hash: walk.hex() }
    : { kind: kind === 2 ? "abstain" : "no confidence" };
  walk.close(start);
  return drep;
}

function walkAnchor(walk: Walk): { readonly anchor?: Anchor } {
  const anchor = walkLink(walk);
  return anchor ? { anchor } : {};
}

/** `[url, hash]`, or undefined for `null`. */
function walkLink(walk: Walk): Anchor | undefined {
  if (walk.nil()) return undefined;
  const start = walk.at;
  walk.tuple("anchor", 2);
  const anchor = { url: walk.text(), hash: walk.hex() };
  walk.close(start);
  return anchor;
}

function walkRewards(walk: Walk): Certificate {
  const start = walk.at;
  walk.tuple("move of rewards", 2);
  const pot = walk.uint();
  if (pot > 1) throw new CborError(`there is no pot ${pot}`);
  const from = pot === 0 ? "reserves" : "treasury";
  let to: bigint | { credential: Credential; amount: bigint }[];
  if (walk.major === major.map) {
    to = [];
    const count = walk.map();
    for (let i = 0; walk.more(i, count); i++) to.push({ credential: walkCredential(walk), amount: walk.int() });
  } else to = walk.int();
  walk.close(start);
  return { kind: "move rewards", from, to };
}

/** The nine parameters of a pool, one after the other. */
function walkPool(walk: Walk): PoolParameters {
  const pool = walk.hex();
  const vrf = walk.hex();
  const pledge = walk.int();
  const cost = walk.int();
  const margin = walkFraction(walk);
  const account = walk.hex();
  const owners: string[] = [];
  const ownerCount = walk.set();
  for (let i = 0; walk.more(i, ownerCount); i++) owners.push(walk.hex());
  const relays: Relay[] = [];
  const relayCount = walk.array();
  for (let i = 0; walk.more(i, relayCount); i++) relays.push(walkRelay(walk));
  const metadata = walkLink(walk);
  return { pool, vrf, pledge, cost, margin, account, owners, relays, ...(metadata ? { metadata } : {}) };
}

function walkFraction(walk: Walk): PoolParameters["margin"] {
  if (walk.tag() !== 30) throw new CborError("expected a fraction");
  const start = walk.at;
  walk.tuple("fraction", 2);
  const fraction = { numerator: walk.int(), denominator: walk.int() };
  walk.close(start);
  return fraction;
}

function walkRelay(walk: Walk): Relay {
  const start = walk.at;
  const length = walk.tuple("relay", 2, 4);
  const kind = walk.uint();
  if (length !== [4, 3, 2][kind]) throw new CborError("no relay");
  const relay = walkRelayKind(walk, kind);
  walk.close(start);
  return relay;
}

function walkRelayKind(walk: Walk, kind: number): Relay {
  if (kind === 2) return { kind: "service", name: walk.text() };
  const port = walk.nil() ? {} : { port: walk.uint() };
  if (kind === 1) return { kind: "host", ...port, name: walk.text() };
  return {
    kind: "address",
    ...port,
    ...(walk.nil() ? {} : { ipv4: walk.hex() }),
    ...(walk.nil() ? {} : { ipv6: walk.hex() }),
  };
}
