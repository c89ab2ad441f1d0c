/** Random payments of a wallet, built by the product and by Blaze's builder with the same inputs. */
import { Core, TxBuilder } from "@blaze-cardano/sdk";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { blazeParameters, unspentOutput } from "#src/client/blaze/convert.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import type { ConstructedTransaction, OwnCoin, Payment, PaymentIntent } from "#src/wallets/builds/types.ts";
import { seeded } from "../base/seededRandom.ts";
import { ownCoin } from "./fundedWallet.ts";
import { person } from "./person.ts";

const ADA = 1_000_000n;
const LANGUAGES = ["PlutusV1", "PlutusV2", "PlutusV3"] as const;

/** Parameters of the ledger as Blaze has them. */
export function parametersForBlaze({ costModels, ...parameters }: Parameters = mainnetParameters) {
  return blazeParameters({
    network: { id: 0, magic: 42 },
    slots: { zeroSlot: 0, zeroTime: 0, slotLength: 1_000, slotsAhead: 0 },
    at: { slot: 0, hash: "" },
    parameters: {
      ...parameters,
      costModels: LANGUAGES.map((language, i) => ({ language, costs: (costModels.get(i) ?? []).map(Number) })),
    },
  });
}

/** An output as Blaze has it. */
export function outputForBlaze({ ref: { txHash, index }, output }: Utxo): Core.TransactionUnspentOutput {
  return unspentOutput({ outputRef: `${txHash}-${index}`, cbor: toHex(output.raw) });
}

/** Coins of a wallet, some with assets, and payments that they can make; the same for the same seed. */
export function randomPayments(seed: number): { readonly coins: readonly OwnCoin[]; readonly intent: PaymentIntent } {
  const random = seeded(seed);
  const upTo = (n: number) => Math.floor(random() * n);
  const asset = (i: number) => `${String(i % 3).padStart(2, "0").repeat(28)}${String(i).padStart(2, "0")}`;
  const coins = Array.from({ length: 2 + upTo(9) }, (_, i) => {
    const assets = Array.from({ length: upTo(3) === 0 ? 1 + upTo(6) : 0 }, () => asset(upTo(12)));
    const held = new Map(assets.map((one) => [one, BigInt(1 + upTo(1_000_000))]));
    return ownCoin(i, ADA * BigInt(5 + upTo(95)) + BigInt(upTo(1_000_000)), held);
  });
  const held = [...new Map(coins.flatMap(({ utxo }) => [...utxo.output.value.assets]))];
  const payments = Array.from({ length: 1 + upTo(3) }, (_, i): Payment => {
    const found = i === 0 && random() < 0.5 ? held[upTo(held.length)] : undefined;
    const { base, enterprise } = person(`payee ${upTo(5)}`);
    return {
      address: random() < 0.5 ? base : enterprise,
      lovelace: 2n * ADA + BigInt(upTo(2_000_000)),
      ...(found ? { assets: [[found[0], found[1] / 2n + 1n]] as const } : {}),
    };
  });
  return { coins, intent: { payments } };
}

/**
 * The transaction that Blaze's builder makes of the inputs of one that the product has built, of its outputs but the last,
 * which is the change and left to Blaze, and of its last slot. `undefined` where there is no change.
 */
export async function builtByBlaze(
  { transaction, selection, validTo }: Pick<ConstructedTransaction, "transaction" | "selection" | "validTo">,
  known: readonly Utxo[],
): Promise<Uint8Array | undefined> {
  const { outputs, inputs } = scanTransaction(transaction);
  const change = outputs.at(-1);
  if (selection.change.length === 0 || !change) return undefined;
  const byRef = new Map(known.map((utxo) => [refKey(utxo.ref), utxo]));
  const builder = new TxBuilder(parametersForBlaze()).setNetworkId(Core.NetworkId.Testnet)
    .setChangeAddress(Core.Address.fromBytes(Core.HexBlob(change.address)));
  for (const ref of inputs) builder.addInput(outputForBlaze(byRef.get(refKey(ref))!));
  for (const { raw } of outputs.slice(0, -1)) {
    builder.addOutput(Core.TransactionOutput.fromCbor(Core.HexBlob(toHex(raw))));
  }
  if (validTo !== undefined) builder.setValidUntil(Core.Slot(validTo));
  return fromHex((await builder.complete({ useCoinSelection: false })).toCbor());
}
