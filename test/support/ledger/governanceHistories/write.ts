/** Operations of the plain model in the ledger's encoding: certificates, proposals and votes. */
import { fromHex } from "#src/base/bytes.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import { parseCredentialKey } from "#src/ledger/state.ts";
import { reference, tagged } from "../draft.ts";
import type {
  Action,
  Ballot,
  Certificate,
  ProposalDraft,
  Ratio,
  RewardAccount,
  Value,
} from "../plainGovernance/types.ts";
import { poolCertificate } from "../pools.ts";
import { POOLS } from "./cast.ts";

const bytes = (id: string) => fromHex(id.slice(1));
const credential = (id: string): Encodable => [id.startsWith("k") ? 0 : 1, bytes(id)];
const anchor = (url: string): Encodable => [url, new Uint8Array(32)];
const anchorOrNil = (url: string | undefined) => url === undefined ? null : anchor(url);
const fraction = ([above, below]: Ratio) => tagged(30, [above, below]);

/** The bytes of a reward account. */
export function accountBytes({ network, credential }: RewardAccount): Uint8Array {
  return fromHex(rewardAddress(network as 0 | 1, parseCredentialKey(credential)).hex);
}

function drepOf(drep: string): Encodable {
  return drep === "abstain" ? [2] : drep === "no confidence" ? [3] : credential(drep);
}

/** The certificate of a pool of the cast; its VRF key is its own. */
export function poolRegistration(pool: string, account: string): Encodable[] {
  const vrf = 1 + POOLS.findIndex(({ id }) => id === pool);
  return poolCertificate(pool, { cost: 1_000_000_000n, vrf, account: parseCredentialKey(account) });
}

export function writeCertificate(certificate: Certificate): Encodable {
  switch (certificate.kind) {
    case "register":
      return [7, credential(certificate.credential), certificate.deposit];
    case "unregister":
      return [8, credential(certificate.credential), certificate.refund];
    case "delegate": {
      const { pool, drep } = certificate;
      const who = credential(certificate.credential);
      if (pool === undefined) return [9, who, drepOf(drep!)];
      return drep === undefined ? [2, who, fromHex(pool)] : [10, who, fromHex(pool), drepOf(drep)];
    }
    case "register pool":
      return poolRegistration(certificate.pool, certificate.account);
    case "retire pool":
      return [4, fromHex(certificate.pool), certificate.epoch];
    case "register drep":
      return [16, credential(certificate.credential), certificate.deposit, anchorOrNil(certificate.url)];
    case "unregister drep":
      return [17, credential(certificate.credential), certificate.refund];
    case "update drep":
      return [18, credential(certificate.credential), anchorOrNil(certificate.url)];
    case "authorize":
      return [14, credential(certificate.cold), credential(certificate.hot)];
    case "resign":
      return [15, credential(certificate.cold), null];
  }
}

/** Who has to agree to a certificate. */
export function signerOf(certificate: Certificate): string {
  return "cold" in certificate
    ? certificate.cold
    : "credential" in certificate
    ? certificate.credential
    : certificate.pool;
}

/** A proposal; its number makes it different from all others. */
export function writeProposal({ deposit, account, action }: ProposalDraft, number: number): Encodable {
  return [deposit, accountBytes(account), writeAction(action), anchor(`https://example.com/${number}`)];
}

const id = (of: string | undefined) => of === undefined ? null : reference({ ref: parseRefKey(of) });
const hashOrNil = (of: string | undefined) => of === undefined ? null : fromHex(of);

function writeAction(action: Action): Encodable {
  switch (action.kind) {
    case "parameters": {
      const changes = [...action.changes].map(([number, value]) => [number, writeValue(value)] as const);
      return [0, id(action.previous), new Map<Encodable, Encodable>(changes), hashOrNil(action.policy)];
    }
    case "hard fork":
      return [1, id(action.previous), action.version];
    case "treasury": {
      const payments = action.payments.map(({ account, lovelace }) => [accountBytes(account), lovelace] as const);
      return [2, new Map<Encodable, Encodable>(payments), hashOrNil(action.policy)];
    }
    case "no confidence":
      return [3, id(action.previous)];
    case "committee": {
      const added = new Map<Encodable, Encodable>([...action.added].map(([cold, until]) => [credential(cold), until]));
      return [4, id(action.previous), action.removed.map(credential), added, fraction(action.quorum)];
    }
    case "constitution":
      return [5, id(action.previous), [anchor(action.url), hashOrNil(action.script)]];
    case "info":
      return [6];
  }
}

function writeValue(value: Value): Encodable {
  if (typeof value === "bigint") return value;
  return isList(value) ? value.map(fraction) : fraction(value);
}

const isList = (value: Ratio | readonly Ratio[]): value is readonly Ratio[] => typeof value[0] !== "bigint";

const CHOICES = { no: 0, yes: 1, abstain: 2 };

export function writeVotes(ballots: readonly Ballot[]): Map<Encodable, Encodable> {
  const voters = new Map<string, { readonly voter: Encodable; readonly votes: Map<string, Ballot["vote"]> }>();
  for (const { role, voter, action, vote } of ballots) {
    const tag = role === "pool" ? 4 : (role === "drep" ? 2 : 0) + (voter.startsWith("s") ? 1 : 0);
    const key = `${role} ${voter}`;
    const hash = role === "pool" ? fromHex(voter) : bytes(voter);
    const known = voters.get(key) ?? { voter: [tag, hash], votes: new Map() };
    voters.set(key, known);
    known.votes.set(action, vote);
  }
  return new Map([...voters.values()].map(({ voter, votes }) => {
    const of = [...votes].map(([action, vote]) => [id(action), [CHOICES[vote], null]] as const);
    return [voter, new Map<Encodable, Encodable>(of)];
  }));
}
