/** Signing requests: what the wallet's keys have to sign is read from the transaction by the wallet's actor. */
import { type SignFailure, signTransactions, type UnsignedTransaction } from "#src/wallets/vault/walletSigning.ts";
import { fromHex } from "#src/base/bytes.ts";
import { onlyOf } from "#src/base/present.ts";
import type { Messaged } from "#src/base/json.ts";
import { ok, type Result } from "#src/base/result.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { entityOf, LONGEST_MS, type WalletService } from "#src/wallets/http/service.ts";
import { answered } from "#src/wallets/http/status.ts";
import type { SpentCoin } from "#src/wallets/builds/sign.ts";
import type { ConstructedTransaction, DecodedInput } from "#src/wallets/builds/types.ts";
import type { WalletRow } from "#src/wallets/rows.ts";

/** The transaction with all signatures that the wallet owes it; signatures that it has stay. */
export async function signTransaction(
  service: WalletService,
  row: WalletRow,
  transaction: Uint8Array,
  passphrase: string,
): Promise<Result<Uint8Array, SignFailure>> {
  const decoded = answered(await service.builds.decode(entityOf(row.id), transaction, LONGEST_MS));
  const policies = [...decoded.mint, ...decoded.burn].flatMap(({ script }) =>
    script?.kind === "native" ? [script.native] : []
  );
  const coins = coinsIn([...decoded.inputs, ...decoded.collateral]);
  return await signOne(service, row, { transaction, coins, policies }, passphrase);
}

/** As `signTransaction`, of a transaction that was built just now: its selection names the coins. */
export async function signBuilt(
  service: WalletService,
  row: WalletRow,
  { transaction, selection: { inputs, collateral } }: Pick<
    Messaged<ConstructedTransaction>,
    "transaction" | "selection"
  >,
  passphrase: string,
): Promise<Result<Uint8Array, SignFailure>> {
  const bytes = fromHex(transaction);
  // the scripts that it mints with may stand in reference inputs, which the actor reads
  if (scanTransaction(bytes).mint.size > 0) return await signTransaction(service, row, bytes, passphrase);
  const coins = coinsIn([...inputs, ...collateral].map((own) => ({ ref: own.ref, own })));
  return await signOne(service, row, { transaction: bytes, coins, policies: [] }, passphrase);
}

async function signOne(
  service: WalletService,
  row: WalletRow,
  transaction: UnsignedTransaction,
  passphrase: string,
): Promise<Result<Uint8Array, SignFailure>> {
  const signed = await signTransactions(service, row, [transaction], passphrase);
  return signed.ok ? ok(onlyOf(signed.value)) : signed;
}

/** The wallet's coins among inputs, with the paths of their keys. */
export function coinsIn(inputs: readonly Messaged<DecodedInput>[]): SpentCoin[] {
  return inputs.flatMap(({ ref: { txHash, index }, own }) =>
    own === undefined ? [] : [{
      utxo: { ref: { txHash, index: Number(index) }, output: { address: own.address } },
      path: own.path.map(Number),
    }]
  );
}
