/** Reward accounts in Ogmios' JSON. */
import type { Credential } from "#src/cardano/address.ts";
import type { Drep } from "#src/node/queries/vocabulary.ts";
import { drepJson } from "#src/ogmios/certificates.ts";
import type { JsonObject } from "#src/ogmios/form.ts";
import { adaJson, credentialJson, poolJson } from "#src/ogmios/values.ts";

/** A registered account. */
export interface AccountSummary {
  readonly credential: Credential;
  /** Id of a pool in hexadecimal. */
  readonly pool: string | undefined;
  readonly drep: Drep | undefined;
  /** Lovelace that was not withdrawn. */
  readonly rewards: bigint;
  /** Lovelace paid at its registration. */
  readonly deposit: bigint;
}

/** Registered accounts. */
export function rewardAccountsJson(accounts: readonly AccountSummary[]): JsonObject[] {
  return accounts.map(({ credential, pool, drep, rewards, deposit }) => ({
    ...credentialJson(credential),
    ...(pool === undefined ? {} : { stakePool: poolJson(pool) }),
    ...(drep ? { delegateRepresentative: drepJson(drep) } : {}),
    rewards: adaJson(rewards),
    deposit: adaJson(deposit),
  }));
}
