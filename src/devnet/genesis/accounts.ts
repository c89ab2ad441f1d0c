/**
 * The default accounts of a devnet: funded in its genesis, with keys that everybody knows, as those of Yaci DevKit.
 *
 * Account i has one address, of the payment key m/1852'/1815'/i'/0/0 and the stake key m/1852'/1815'/i'/2/0. No stake
 * address is registered, but those of representatives (`GenesisOptions.dreps`).
 */
import { baseAddress, type NetworkId } from "#src/cardano/address.ts";
import { accountKey, derivePath, ROLES, type SecretNode } from "#src/cardano/keys/derivation.ts";
import { keyHash, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { masterKey } from "#src/cardano/keys/master.ts";

/** The mnemonic of all accounts. It is public: never use it with real funds. */
export const ACCOUNTS_MNEMONIC: string = "test ".repeat(23) + "sauce";

/** Accounts of a genesis at most. */
export const MOST_ACCOUNTS = 1_000;

/** A default account of a devnet. */
export interface DevnetAccount {
  /** Its index in the paths of its keys, from 0. */
  readonly index: number;
  /** Extended keys of 64 bytes. */
  readonly paymentKey: SigningKey;
  readonly stakeKey: SigningKey;
  /** Hashes of the public keys, in hexadecimal. */
  readonly payment: string;
  readonly stake: string;
}

let root: SecretNode | undefined;
const derived: DevnetAccount[] = [];

/** The first accounts. Each one is derived once per process, which takes about 2 ms. */
export function devnetAccounts(count: number): readonly DevnetAccount[] {
  while (derived.length < count) derived.push(deriveAccount(derived.length));
  return derived.slice(0, count);
}

function deriveAccount(index: number): DevnetAccount {
  const account = accountKey(root ??= accountsRoot(), index);
  const { key: paymentKey } = derivePath(account, [ROLES.external, 0]);
  const { key: stakeKey } = derivePath(account, [ROLES.stake, 0]);
  const hash = (key: SigningKey) => keyHash(publicKey(key));
  return { index, paymentKey, stakeKey, payment: hash(paymentKey), stake: hash(stakeKey) };
}

/** A key and the hash of its public part. */
export interface HashedKey {
  readonly key: SigningKey;
  /** In hexadecimal. */
  readonly hash: string;
}

/** Keys of an account for governance (CIP-105). */
export interface GovernanceKeys {
  /** As a representative: m/1852'/1815'/i'/3/0. */
  readonly drep: HashedKey;
  /** As a member of the committee: m/1852'/1815'/i'/4/0, and the key that votes, m/1852'/1815'/i'/5/0. */
  readonly cold: HashedKey;
  readonly hot: HashedKey;
}

const derivedForGovernance = new Map<number, GovernanceKeys>();

/** The keys of an account for governance. Those of an account are derived once per process. */
export function governanceKeys(index: number): GovernanceKeys {
  const known = derivedForGovernance.get(index);
  if (known) return known;
  const account = accountKey(root ??= accountsRoot(), index);
  const keyOf = (role: number): HashedKey => {
    const { key } = derivePath(account, [role, 0]);
    return { key, hash: keyHash(publicKey(key)) };
  };
  const keys = { drep: keyOf(ROLES.drep), cold: keyOf(ROLES.committeeCold), hot: keyOf(ROLES.committeeHot) };
  derivedForGovernance.set(index, keys);
  return keys;
}

function accountsRoot(): SecretNode {
  const read = masterKey({ style: "shelley", words: ACCOUNTS_MNEMONIC.split(" ") });
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}

/** The address of an account, as bytes in hexadecimal. */
export function accountAddress(network: NetworkId, { payment, stake }: DevnetAccount): string {
  return baseAddress(network, { kind: "key", hash: payment }, { kind: "key", hash: stake }).hex;
}
