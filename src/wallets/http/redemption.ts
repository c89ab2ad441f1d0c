/**
 * Rewards of a mnemonic that belongs to no wallet here, withdrawn into a wallet. The words go to local threads, which
 * derive the stake key and sign with it; builds get only the hash of that key.
 */
import { fromHex } from "#src/base/bytes.ts";
import { onlyOf } from "#src/base/present.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { addWitnesses } from "#src/cardano/transaction.ts";
import { until, type WalletService } from "#src/wallets/http/service.ts";
import { answered } from "#src/wallets/http/status.ts";
import { hashOf } from "#src/wallets/http/submission.ts";
import { nodeOf } from "#src/cardano/keys/account.ts";
import { STAKE_PATH } from "#src/cardano/keys/paths.ts";

/** A withdrawal as bodies have it: all rewards of the wallet, or those of a mnemonic's stake key. */
export type WithdrawalBody = "self" | readonly string[];

const sourceOf = (words: readonly string[]) => ({
  mnemonic: { style: "shelley" as const, words },
  paths: [STAKE_PATH],
});

/** A withdrawal as builds have it; it holds no secret. */
export async function withdrawalIntent(
  { vault }: Pick<WalletService, "vault">,
  withdrawal: WithdrawalBody | undefined,
) {
  if (withdrawal === undefined || withdrawal === "self") return withdrawal;
  const key = onlyOf(answered(await vault.mnemonicKeys(sourceOf(withdrawal), until())));
  return { stakeKey: keyHash(nodeOf(key).key) };
}

/** A transaction with the signature of the mnemonic whose rewards it withdraws, where it withdraws such. */
export async function signRedemption(
  { vault }: Pick<WalletService, "vault">,
  withdrawal: WithdrawalBody | undefined,
  transaction: Uint8Array,
): Promise<Uint8Array> {
  if (withdrawal === undefined || withdrawal === "self") return transaction;
  const message = fromHex(hashOf(transaction));
  const keys = answered(await vault.signWithMnemonic({ ...sourceOf(withdrawal), message }, until()));
  return addWitnesses(transaction, { keys });
}
