/** Checks a transaction that the current owner prepared and signed, before the next owner signs it: it must take nothing from the next owner. */
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { addressText, enterpriseAddress, parseAddress, paymentKeyHash } from "#src/cardano/address.ts";
import { checkBytes, type CheckedTransaction } from "#src/client/checkedTransaction.ts";
import {
  firstOf,
  fromSummary,
  fromTransactions,
  fromUtxos,
  type IntentRefusal,
  summarize,
  type Summary,
} from "#src/client/summary.ts";
import type { TokenClient } from "#src/client/tokens.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";

/** Who accepts a token, and what is known beside the service's claims. */
export interface Acceptance {
  /** Hash of the payment key of the next owner. */
  readonly key: string;
  /**
   * All outputs of the next owner's wallet (CIP-30, `getUtxos`): what is not among them belongs to others. Without them, every
   * output that the transaction spends must be known from the bytes of the transaction that made it.
   */
  readonly utxos?: readonly string[] | undefined;
  readonly slots?: SlotConfig | undefined;
}

/**
 * Checks, for the next owner of a token, that a transaction only transfers another owner's token to `key`, and spends no
 * output of that key.
 *
 * @throws {ApiError} where the service does not respond.
 */
export async function checkAcceptance(
  client: TokenClient,
  transaction: string,
  { key, utxos, slots }: Acceptance,
): Promise<Result<CheckedTransaction, IntentRefusal | Failure<"not_a_transfer" | "unvouched">>> {
  const claimed = fromSummary(await client.explain(transaction));
  const first = await summarize(transaction, { resolve: claimed });
  if (!first.ok) return first;
  const spent = spentRefs(first.value);
  const made = fromTransactions(await client.creators(spent));
  const known = firstOf(fromUtxos(utxos ?? []), made);
  const resolve = firstOf(known, claimed);
  const seen = await summarize(transaction, { resolve });
  if (!seen.ok) return seen;
  if (utxos === undefined) {
    const refs = spent.map((ref) => ({ txHash: ref.slice(0, 64), index: Number(ref.slice(65)) }));
    const missing = refs.length - (await known(refs)).size;
    if (missing > 0) {
      return fail(
        "unvouched",
        `${missing} of the outputs that it spends are known only from the service: they may be yours.`,
      );
    }
  }
  const [token] = seen.value.tokens;
  const owner = token?.owner.before;
  // the key must sign because its outputs are spent or are collateral, not only because the contract asks for it
  const spendsFromKey = seen.value.signers.some((signer) =>
    signer.key === key && signer.why.some((why) => why !== "required")
  );
  if (token === undefined || typeof owner !== "string" || owner === key || spendsFromKey) {
    return fail("not_a_transfer", "It does not transfer another owner's token to you, or spends outputs of yours.");
  }
  // checked as the current owner's transaction: every address but the next owner's may be of the payer's wallet
  const outputs = [...seen.value.spends.flatMap(({ output }) => output ?? []), ...seen.value.pays]
    .filter(({ holds }) => holds === null).map(({ address }) => address);
  const network = outputs.some((address) => address.startsWith("addr1")) ? 1 : 0;
  const address = addressText(enterpriseAddress(network, { kind: "key", hash: owner }));
  const payerAddresses = outputs.filter((one) => isOther(one, key));
  const intent = { type: "transfer", token: token.tokenId, to: key, address, own: payerAddresses } as const;
  const checked = await checkBytes(transaction, intent, { resolve, slots });
  return checked;
}

/** Whether an address has a payment key, and not this one. */
function isOther(address: string, key: string): boolean {
  const parsed = parseAddress(address);
  const other = parsed.ok ? paymentKeyHash(parsed.value.hex) : undefined;
  return other !== undefined && other !== key;
}

/** What a transaction spends or puts up as collateral. */
function spentRefs({ spends, collateral }: Summary): string[] {
  return [...new Set([...spends, ...collateral?.inputs ?? []].map(({ outputRef }) => outputRef))];
}
