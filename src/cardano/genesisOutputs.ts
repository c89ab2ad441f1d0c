/**
 * The outputs that a network begins with, which are in no block: the balances of a Byron genesis, and the initial funds of a
 * Shelley genesis.
 *
 * An output's transaction id is the hash of its address.
 */
import { base64urlnopad } from "@scure/base";
import { z } from "zod";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { fromBase58, readByron, redeemAddress } from "#src/cardano/byron.ts";
import { decode, encode } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { readOutput, type Utxo } from "#src/cardano/output.ts";

/** Bytes of a key that redeems a balance. */
const REDEEM_KEY = 32;

const amountText = z.string().regex(/^\d{1,19}$/, "must be an amount of lovelace").transform(BigInt);
const amount = z.union([z.int().min(0), z.bigint()]).transform(BigInt);

const redeemKey = z.string().transform((text, context) => {
  const key = keyOf(text);
  if (key) return key;
  context.addIssue("must be a key of 32 bytes in base64url");
  return z.NEVER;
});
const byronText = z.string().transform((text, context) => {
  const address = byronOf(text);
  if (address !== undefined) return address;
  context.addIssue("must be an address of Byron");
  return z.NEVER;
});

/** The balances of a Byron genesis. */
export const byronBalances = z.object({
  avvmDistr: pairs(redeemKey, amountText),
  nonAvvmBalances: pairs(byronText, amountText),
});

/** The initial funds of a Shelley genesis, by addresses in hexadecimal. */
export const shelleyFunds = z.object({
  initialFunds: pairs(z.string().regex(/^([0-9a-f]{2}){1,200}$/, "must be an address in hexadecimal"), amount),
});

/** An output of a genesis. */
export function genesisOutput(address: string, lovelace: bigint): Utxo {
  const output = encode(new Map<number, Uint8Array | bigint>([[0, fromHex(address)], [1, lovelace]]));
  return { ref: { txHash: hash256(fromHex(address)), index: 0 }, output: readOutput(decode(output)) };
}

/** The outputs of a Byron genesis; the magic is that of its addresses, left out on mainnet. */
export async function byronOutputs(
  { avvmDistr, nonAvvmBalances }: z.infer<typeof byronBalances>,
  magic: number | undefined,
): Promise<Utxo[]> {
  const pacer = new EventLoopPacer();
  const outputs = nonAvvmBalances.map(([address, lovelace]) => genesisOutput(address, lovelace));
  for (const [key, lovelace] of avvmDistr) {
    outputs.push(genesisOutput(redeemAddress(key, magic), lovelace));
    await pacer.step();
  }
  return outputs;
}

/** The outputs of a Shelley genesis. */
export function shelleyOutputs({ initialFunds }: z.infer<typeof shelleyFunds>): Utxo[] {
  return initialFunds.map(([address, lovelace]) => genesisOutput(address, lovelace));
}

/** The members of an object, as pairs. */
function pairs<K, V>(key: z.ZodType<K, string>, value: z.ZodType<V>) {
  return z.record(z.string(), z.unknown()).transform((members) => Object.entries(members)).pipe(
    z.array(z.tuple([key, value])),
  );
}

function keyOf(text: string): Uint8Array | undefined {
  try {
    const key = base64urlnopad.decode(text.replace(/=+$/, ""));
    return key.length === REDEEM_KEY ? key : undefined;
  } catch {
    return undefined;
  }
}

function byronOf(text: string): string | undefined {
  const bytes = fromBase58(text);
  try {
    if (bytes) readByron(bytes);
    return bytes && toHex(bytes);
  } catch {
    return undefined;
  }
}
