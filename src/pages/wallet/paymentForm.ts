/** The form of a payment: what is typed, read and checked, and the transaction that it asks for. */
import type { z } from "zod";
import type * as walletsApi from "#src/wallets/api/wallets.ts";
import type { Messaged } from "#src/base/json.ts";
import { ApiError } from "#src/client/http.ts";
import { parseAddress } from "#src/cardano/address.ts";
import type { FeeEstimate } from "#src/client/wallets.ts";
import { readAda, readUnits } from "./amounts.ts";
import { assetKey } from "./assets.tsx";
import { construct, type Draft } from "./draft.ts";
import { paymentBodies } from "./payments.ts";
import type { Requested, RequestedPayment } from "./review.ts";
import { read, send, type WalletSummary } from "./service.ts";

/** A recipient as it is typed. */
export interface Recipient {
  readonly key: number;
  readonly address: string;
  readonly ada: string;
  readonly assets: readonly { readonly asset: string; readonly text: string }[];
}

/** Bytes of a line of a message (CIP-20). */
const LINE = 64;
const MORE_THAN_AVAILABLE = "More than this wallet has available.";

/** What is typed, read; or the problems by recipient and field. */
interface ReadForm {
  readonly payments: readonly RequestedPayment[] | undefined;
  readonly problems: ReadonlyMap<string, string>;
}

/** Ada of a recipient that the ledger refuses as too little. */
export interface TooLittle {
  readonly key: number;
  /** What was typed. */
  readonly ada: string;
  readonly least: bigint;
}

/** Which payment the service refused as too small; undefined for another error. */
export function tooLittle(error: unknown, recipients: readonly Recipient[]): TooLittle | undefined {
  if (!(error instanceof ApiError) || error.code !== "utxo_too_small") return undefined;
  const { tx_output_index: index, tx_output_lovelace_required_minimum: least } = (error.details ?? {}) as {
    readonly tx_output_index?: number;
    readonly tx_output_lovelace_required_minimum?: { readonly quantity: number | bigint };
  };
  const recipient = index === undefined ? undefined : recipients[index];
  return recipient && least && { key: recipient.key, ada: recipient.ada, least: BigInt(least.quantity) };
}

/** Reads the form. A recipient of tokens without an amount of ada gets the least that the ledger allows. */
export function readForm(
  recipients: readonly Recipient[],
  { available, availableAssets }: Pick<WalletSummary, "available" | "availableAssets">,
  decimals: (asset: string) => number,
  network: 0 | 1 | undefined,
): ReadForm {
  const problems = new Map<string, string>();
  const held = new Map(availableAssets.map((one) => [assetKey(one), BigInt(one.quantity)]));
  const payments = recipients.map(({ key, address, ada, assets }): RequestedPayment => {
    const at = parseAddress(address.trim(), network);
    if (address.trim() === "") problems.set(`${key} address`, "Enter an address.");
    else if (!at.ok) problems.set(`${key} address`, at.error.message);
    else if (at.value.kind === "reward") {
      problems.set(`${key} address`, "This is a stake address. Ask for a payment address, which begins with addr.");
    }
    const lovelace = ada.trim() === "" && assets.length > 0 ? { ok: true as const, value: 0n } : readAda(ada);
    if (!lovelace.ok) problems.set(`${key} ada`, lovelace.problem);
    else if (lovelace.value === 0n && assets.length === 0) problems.set(`${key} ada`, "Enter more than 0.");
    else if (lovelace.value > available) problems.set(`${key} ada`, MORE_THAN_AVAILABLE);
    const quantities = new Map<string, bigint>();
    for (const [i, { asset, text }] of assets.entries()) {
      const read = readUnits(text, decimals(asset));
      if (!read.ok) problems.set(`${key} asset ${i}`, read.problem);
      else if (read.value === 0n) problems.set(`${key} asset ${i}`, "Enter more than 0.");
      else if (read.value > (held.get(asset) ?? 0n)) {
        problems.set(`${key} asset ${i}`, MORE_THAN_AVAILABLE);
      } else quantities.set(asset, (quantities.get(asset) ?? 0n) + read.value);
    }
    return { address: address.trim(), lovelace: lovelace.ok ? lovelace.value : 0n, assets: quantities };
  });
  return { payments: problems.size === 0 ? payments : undefined, problems };
}

/** A message in lines of at most 64 bytes. */
export function messageLines(message: string): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const character of message.replaceAll("\r", "")) {
    const full = new TextEncoder().encode(line + character).length > LINE;
    if (character === "\n" || full) {
      lines.push(line);
      line = character === "\n" ? "" : character;
    } else line += character;
  }
  lines.push(line);
  return lines;
}

/** Lines of a message as metadata (CIP-20). */
export const messageMetadata = (lines: readonly string[]) => ({
  "674": { map: [{ k: { string: "msg" }, v: { list: lines.map((string) => ({ string })) } }] },
});

/**
 * Builds payments. A wallet that funds each of them separately may have fewer coins than payments: then they share its
 * largest coin, and others where that is not enough.
 *
 * @throws {ApiError}
 */
export async function constructPayments(wallet: WalletSummary, body: object, requested: Requested): Promise<Draft> {
  try {
    return await construct(wallet, body, requested);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "inputs_depleted") throw error;
    const { entries } = await read<Snapshot>(`/${wallet.prefix}/${wallet.id}/utxo`, { references: true });
    const [largest] = [...entries].sort((a, b) => Number(BigInt(b.ada.quantity) - BigInt(a.ada.quantity)));
    if (largest?.id === undefined) throw error;
    return await construct(
      wallet,
      { ...body, coin_control: { inputs: [{ id: largest.id, index: largest.index }] } },
      requested,
    ).catch(() => Promise.reject(error));
  }
}

type Snapshot = Messaged<z.output<typeof walletsApi.snapshot>>;

/** Payments of tokens without ada get the least that the ledger allows. @throws {ApiError} */
export async function withLeastAda(
  wallet: WalletSummary,
  payments: readonly RequestedPayment[],
): Promise<readonly RequestedPayment[]> {
  if (payments.every(({ lovelace }) => lovelace > 0n)) return payments;
  // the service gives the minimum for amounts that are enough
  const sufficient = payments.map((one) => one.lovelace > 0n ? one : { ...one, lovelace: 5_000_000n });
  const { minimum_coins: least } = await send<FeeEstimate>("POST", `/${wallet.prefix}/${wallet.id}/payment-fees`, {
    payments: paymentBodies(sufficient),
  });
  return payments.map((one, i) =>
    one.lovelace > 0n ? one : { ...one, lovelace: BigInt(least[i]?.quantity ?? 2_000_000) }
  );
}
