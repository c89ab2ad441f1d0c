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

const walkPoolAndDRep = (walk: Walk): Delegation => ({ pool: walk.hex(), drep: walkDRep(walk) });

/** Each kind by its number: elements of its array, the number included, and how those after it are read. */
const KINDS: readonly (readonly [length: number, read: (walk: Walk) => Certificate])[] = [
  [2, (walk) => ({ kind: "register", credential: walkCredential(walk) })],
  [2, (walk) => ({ kind: "unregister", credential: walkCredential(walk) })],
  [3, (walk) => ({ kind: "delegate", credential: walkCredential(walk), to: { pool: walk.hex() } })],
  [10, (walk) => ({ kind: "register pool", ...walkPool(walk) })],
  [3, (walk) => ({ kind: "retire pool", pool: walk.hex(), epoch: walk.int() })],
  [4, (walk) => ({ kind: "delegate genesis", genesis: walk.hex(), delegate: walk.hex(), vrf: walk.hex() })],
  [2, walkRewards],
  [3, (walk) => ({ kind: "register", credential: walkCredential(walk), deposit: walk.int() })],
  [3, (walk) => ({ kind: "unregister", credential: walkCredential(walk), refund: walk.int() })],
  [3, (walk) => ({ kind: "delegate", credential: walkCredential(walk), to: { drep: walkDRep(walk) } })],
  [4, (walk) => ({ kind: "delegate", credential: walkCredential(walk), to: walkPoolAndDRep(walk) })],
  [4, (walk) => registration(walkCredential(walk), { pool: walk.hex() }, walk)],
  [4, (walk) => registration(walkCredential(walk), { drep: walkDRep(walk) }, walk)],
  [5, (walk) => registration(walkCredential(walk), walkPoolAndDRep(walk), walk)],
  [3, (walk) => ({ kind: "authorize", cold: walkCredential(walk), hot: walkCredential(walk) })],
  [3, (walk) => ({ kind: "resign", cold: walkCredential(walk), ...walkAnchor(walk) })],
  [
    4,
    (walk) => ({ kind: "register drep", credential: walkCredential(walk), deposit: walk.int(), ...walkAnchor(walk) }),
  ],
  [3, (walk) => ({ kind: "unregister drep", credential: walkCredential(walk), refund: walk.int() })],
  [3, (walk) => ({ kind: "update drep", credential: walkCredential(walk), ...walkAnchor(walk) })],
];

/**
 * Reads the certificate at a walk's position.
 *
 * @throws {CborError} if it is malformed or of a kind that no era up to Conway has
 */
export function walkCertificate(walk: Walk): Certificate {
  return walk.within("certificate", 2, 10, (length) => {
    const number = walk.uint();
    const kind = KINDS[number];
    if (!kind) throw new CborError(`there is no certificate of kind ${number}`);
    const [expected, read] = kind;
    if (expected !== length) throw new CborError(`a certificate of kind ${number} with ${length} elements`);
    return read(walk);
  });
}

/** A registration that delegates: its deposit comes last. */
function registration(credential: Credential, to: Delegation, walk: Walk): Certificate {
  return { kind: "register", credential, to, deposit: walk.int() };
}

function walkCredential(walk: Walk): Credential {
  return walk.within("credential", 2, 2, () => {
    const kind = walk.uint();
    if (kind > 1) throw new CborError(`no credential of kind ${kind}`);
    return { kind: kind === 0 ? "key" : "script", hash: walk.hex() };
  });
}

function walkDRep(walk: Walk): DRep {
  return walk.within("representative", 1, 2, (length): DRep => {
    const kind = walk.uint();
    if (kind > 3 || length !== (kind < 2 ? 2 : 1)) throw new CborError("no representative");
    if (kind > 1) return { kind: kind === 2 ? "abstain" : "no confidence" };
    return { kind: kind === 0 ? "key" : "script", hash: walk.hex() };
  });
}

function walkAnchor(walk: Walk): { readonly anchor?: Anchor } {
  const anchor = walkLink(walk);
  return anchor ? { anchor } : {};
}

/** `[url, hash]`, or undefined for `null`. */
function walkLink(walk: Walk): Anchor | undefined {
  if (walk.nil()) return undefined;
  return walk.within("anchor", 2, 2, () => ({ url: walk.text(), hash: walk.hex() }));
}

function walkRewards(walk: Walk): Certificate {
  return walk.within("move of rewards", 2, 2, () => {
    const pot = walk.uint();
    if (pot > 1) throw new CborError(`there is no pot ${pot}`);
    const to = walk.major === major.map
      ? walk.each(walk.map(), () => ({ credential: walkCredential(walk), amount: walk.int() }))
      : walk.int();
    return { kind: "move rewards", from: pot === 0 ? "reserves" : "treasury", to };
  });
}

/** The nine parameters of a pool, one after the other. */
function walkPool(walk: Walk): PoolParameters {
  const parameters = {
    pool: walk.hex(),
    vrf: walk.hex(),
    pledge: walk.int(),
    cost: walk.int(),
    margin: walkFraction(walk),
    account: walk.hex(),
    owners: walk.each(walk.set(), () => walk.hex()),
    relays: walk.each(walk.array(), walkRelay),
  };
  const metadata = walkLink(walk);
  return { ...parameters, ...(metadata ? { metadata } : {}) };
}

function walkFraction(walk: Walk): PoolParameters["margin"] {
  if (walk.tag() !== 30) throw new CborError("expected a fraction");
  return walk.within("fraction", 2, 2, () => ({ numerator: walk.int(), denominator: walk.int() }));
}

function walkRelay(walk: Walk): Relay {
  return walk.within("relay", 2, 4, (length) => {
    const kind = walk.uint();
    if (length !== [4, 3, 2][kind]) throw new CborError("no relay");
    return walkRelayKind(walk, kind);
  });
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
