/** A part of a dApp: what an address holds, by Blockfrost's API. */

interface Amount {
  readonly unit: string;
  readonly quantity: string;
}

/**
 * Lovelace of an address; 0 where it has never been used.
 *
 * @throws {Error} where the API refuses.
 */
export async function lovelaceOf(blockfrost: string, address: string): Promise<bigint> {
  const answer = await fetch(`${blockfrost}/addresses/${address}`);
  if (answer.status === 404) return 0n;
  if (!answer.ok) throw new Error(`Blockfrost's API answered ${answer.status}`);
  const { amount } = await answer.json() as { amount: readonly Amount[] };
  return BigInt(amount.find(({ unit }) => unit === "lovelace")?.quantity ?? 0);
}
