/** Creation of wallets of any kind: it waits for a deletion of the same wallet that has not ended. */
import type { WalletBody } from "#src/wallets/api/wallets.ts";
import { sleep } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { HttpFailure } from "#src/http/failure.ts";
import {
  isGone,
  LONGEST_MS,
  noSuchWallet,
  until,
  walletAlreadyExists,
  type WalletService,
} from "#src/wallets/http/service.ts";
import { startPointOf } from "#src/wallets/http/startPoint.ts";
import { answered, refusal } from "#src/wallets/http/status.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { PutKey, Vault } from "#src/wallets/vault/vault.ts";

/** Time between two attempts, in milliseconds. */
const RETRY_MS = 100;

/** A command for a wallet's actor. */
export type WalletCommand = Parameters<WalletService["ask"]>[1];

/**
 * Creates a wallet through its actor, to be read from the block of the restoration mode on. Throws 409
 * `wallet_already_exists`, 404 for a block that is not on the chain, and the actor's refusals.
 */
export async function createWallet(
  service: WalletService,
  entity: EntityRef,
  mode: WalletBody["restoration_mode"],
  command: WalletCommand,
  exists: () => Promise<boolean>,
): Promise<void> {
  if (await exists()) throw walletAlreadyExists(entity.id);
  const { slot, hash } = await startPointOf(mode, service);
  // the answer needs the eras: a failure must come before the wallet exists
  await service.eras(slot);
  const answer = await sendCreate(service, entity, { ...command, birth: { slot, hash } }, exists);
  if (answer.ok) return;
  if (isGone(answer.error)) throw walletAlreadyExists(entity.id);
  await refuseUnlessThere(answer.error, exists);
}

/**
 * Stores a root key, of a mnemonic or sealed by another wallet, for the wallet that `create` creates with it; a refusal
 * of that (4xx) erases the key.
 */
export async function withRootKey<T>(
  { vault }: Pick<WalletService, "vault">,
  input: Parameters<Vault["put"]>[0] | Parameters<Vault["putSealed"]>[0],
  create: (put: PutKey) => Promise<T>,
): Promise<T> {
  const put = answered(await ("sealed" in input ? vault.putSealed(input, until()) : vault.put(input, until())));
  try {
    return await create(put);
  } catch (error) {
    // after a 5xx the wallet may still adopt the key, and the vault's sweep erases it if not
    if (error instanceof HttpFailure && error.status < 500) await vault.erase(put.attempt).catch(() => {});
    throw error;
  }
}

/** The state of a root key as CREATE has it. */
export const passphraseOf = ({ state }: PutKey) => state ? { at: state.updatedAt, method: state.method } : null;

/**
 * Sends CREATE to a wallet's actor, again while the same wallet is being deleted (it has no row then); throws 503 where
 * that takes longer than a call may. Fails with `not_possible` for a wallet that exists.
 */
async function sendCreate(
  { ask }: Pick<WalletService, "ask">,
  entity: EntityRef,
  command: WalletCommand,
  isThere: () => Promise<boolean>,
): Promise<Result<Json, Failure>> {
  for (const end = performance.now() + LONGEST_MS;;) {
    const answer = await ask(entity, command, { deadlineMs: Math.max(1, Math.ceil(end - performance.now())) });
    if (answer.ok || !isGone(answer.error) || await isThere()) return answer;
    if (performance.now() + RETRY_MS > end) {
      throw refusal({
        code: "unavailable",
        message: `The wallet with the id ${entity.id} is still being deleted: try again in a moment.`,
      });
    }
    await sleep(RETRY_MS);
  }
}

/**
 * Sends a command to a wallet's actor; `isDone` says whether its turn was written although no reply came in time.
 * Throws 404 where the wallet is gone, and the actor's refusals.
 */
export async function sendCommand(
  { ask }: Pick<WalletService, "ask">,
  entity: EntityRef,
  command: WalletCommand,
  isDone = async () => false,
): Promise<void> {
  const answer = await ask(entity, command, { deadlineMs: LONGEST_MS });
  if (answer.ok) return;
  if (isGone(answer.error)) throw noSuchWallet(entity.id);
  await refuseUnlessThere(answer.error, isDone);
}

/**
 * Throws the refusal of a failed command, unless the command only takes longer than a call may, as with a great address
 * pool, and its effect is already visible.
 */
async function refuseUnlessThere(failure: Failure, isThere: () => Promise<boolean>): Promise<void> {
  const refused = refusal(failure);
  if (!(refused instanceof HttpFailure && refused.status === 503 && await isThere())) throw refused;
}
