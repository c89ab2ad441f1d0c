/** Voters whose keys the devnet has, as the ledger knows them. */
import type { Credential } from "#src/cardano/address.ts";
import type { Voter } from "#src/cardano/conway/governance.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { committeeText } from "#src/cardano/governanceId.ts";
import { keyHash, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { poolId } from "#src/cardano/poolId.ts";
import { governanceKeys } from "#src/devnet/genesis/accounts.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { isActive } from "#src/ledger/governance/thresholds.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";

/** A voter and its key. */
export interface OwnVoter {
  readonly role: Voter["role"];
  readonly credential: Credential;
  /** `drep1…`, `pool1…` or `cc_hot1…`. */
  readonly id: string;
  readonly key: SigningKey;
}

/** The tables that say who is a voter. */
export type VoterTables = Pick<LedgerState, "dreps" | "pools" | "committee" | "epoch">;

/**
 * The voters that may vote now: registered representatives and members of the committee in office among the default
 * accounts, then the registered pools of the genesis.
 */
export function ownVoters(genesis: Genesis, { dreps, pools, committee, epoch }: VoterTables): OwnVoter[] {
  const hotKeys = new Set(
    [...committee.entries()].flatMap(([, member]) => isActive(member, epoch) ? [member.hot] : []),
  );
  const accounts = Array.from({ length: genesis.accounts }, (_, index) => governanceKeys(index));
  const key = (hash: string): Credential => ({ kind: "key", hash });
  return [
    ...accounts.flatMap(({ drep: { key: signing, hash } }): OwnVoter[] => {
      const credential = key(hash);
      if (!dreps.get(credentialKey(credential))) return [];
      return [{ role: "drep", credential, id: drepId({ kind: "key", hash }), key: signing }];
    }),
    ...accounts.flatMap(({ hot: { key: signing, hash } }): OwnVoter[] => {
      const credential = key(hash);
      if (!hotKeys.has(credentialKey(credential))) return [];
      return [{ role: "committee", credential, id: committeeText("hot", credential), key: signing }];
    }),
    ...genesis.pools.flatMap(({ id, coldSeed }): OwnVoter[] =>
      pools.get(id) && keyHash(publicKey(coldSeed)) === id
        ? [{ role: "pool", credential: key(id), id: poolId(id), key: coldSeed }]
        : []
    ),
  ];
}
