/** Rule POOL: stake pools are registered, change, and announce their end. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { CertificateOf, PoolRegistration } from "#src/cardano/conway/certificate.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import type { Registry } from "#src/ledger/registry.ts";
import type { LedgerState, Pool, View } from "#src/ledger/state.ts";

/** A new pool, or one that changes from the next epoch on and does not retire after all. */
export function registerPool(
  { pool, vrf, cost, account, metadata, raw }: PoolRegistration,
  { pools }: Registry,
  { parameters, network }: Pick<LedgerState, "parameters" | "network">,
): LedgerFailure[] {
  const failures: LedgerFailure[] = [];
  if (account.network !== network) {
    failures.push({ name: "WrongNetworkPOOL", supplied: account.network, expected: network, pool });
  }
  const size = (metadata?.hash.length ?? 0) / 2;
  if (size > 32) failures.push({ name: "PoolMedataHashTooBig", pool, size });
  if (cost < parameters.minPoolCost) {
    failures.push({ name: "StakePoolCostTooLowPOOL", supplied: cost, expected: parameters.minPoolCost });
  }
  if (parameters.protocolVersion.major > 10 && isTaken(vrf, pool, pools)) {
    failures.push({ name: "VRFKeyHashAlreadyRegistered", pool, vrf });
  }
  const known = pools.get(pool);
  pools.set(
    pool,
    known
      ? { certificate: known.certificate, deposit: known.deposit, future: raw }
      : { certificate: raw, deposit: parameters.poolDeposit },
  );
  return failures;
}

/**
 * Whether a pool may not take a VRF key (protocol version 11; ledger: `psVRFKeyHashes`): a pool has it, or will have it from the next epoch on. A pool
 * keeps the one it has; the one that it will have is taken for itself too.
 */
function isTaken(vrf: string, pool: string, pools: View<Pool>): boolean {
  const uses = (bytes: Uint8Array | undefined) => bytes !== undefined && poolTerms(bytes).vrf === vrf;
  if (uses(pools.get(pool)?.certificate)) return false;
  for (const [, { certificate, future }] of pools.entries()) if (uses(certificate) || uses(future)) return true;
  return false;
}

/** A pool announces the epoch in which it retires. */
export function retirePool(
  { pool, epoch }: CertificateOf<"retire pool">,
  { pools }: Registry,
  { parameters, epoch: now }: Pick<LedgerState, "parameters" | "epoch">,
): LedgerFailure[] {
  const failures: LedgerFailure[] = [];
  const known = pools.get(pool);
  if (!known) failures.push({ name: "StakePoolNotRegisteredOnKeyPOOL", pool });
  const last = now + parameters.poolRetirementBound;
  if (epoch <= BigInt(now) || epoch > BigInt(last)) {
    failures.push({ name: "StakePoolRetirementWrongEpochPOOL", supplied: epoch, after: now, last });
  }
  if (known) pools.set(pool, { ...known, retiring: Number(epoch) });
  return failures;
}
