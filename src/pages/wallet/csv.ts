/** The history of a wallet as CSV (RFC 4180), for spreadsheets. */
import { decimalText } from "../kit/amounts.tsx";
import type { Transaction } from "./service.ts";
import { assetChanges, messageOf, purposeOf } from "./transactions.ts";

const HEADER = [
  "time",
  "transaction",
  "status",
  "purpose",
  "ada",
  "fee_ada",
  "deposit_ada",
  "block",
  "message",
  "tokens",
] as const;

/**
 * A field of a text from outside. Spreadsheets run a text as a formula that begins with one of these characters, so it gets
 * an apostrophe before it.
 */
const text = (value: string): string => quoted(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);

const quoted = (value: string): string => /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

/** Lovelace as ada: a number with a point and without groups. */
const ada = (lovelace: bigint): string => decimalText(lovelace, 6).replaceAll(",", "");

function rowOf(transaction: Transaction): string {
  const { id, status, direction, amount, fee, inserted_at: at, pending_since: since, metadata } = transaction;
  const quantity = BigInt(amount.quantity);
  const deposit = BigInt(transaction.deposit_taken.quantity) - BigInt(transaction.deposit_returned.quantity);
  const own = direction === "outgoing";
  return [
    (at ?? since)?.time ?? "",
    id,
    status,
    text(purposeOf(transaction)),
    ada(own ? -quantity : quantity),
    own ? ada(BigInt(fee.quantity)) : "",
    own ? ada(deposit) : "",
    at === undefined ? "" : String(at.height.quantity),
    text(messageOf(metadata)?.join("") ?? ""),
    text([...assetChanges(transaction)].map(([unit, change]) => `${unit} ${change}`).join("; ")),
  ].join(",");
}

/** Transactions in the order of the list, under a header; lines end with CR and LF. */
export const csvOf = (transactions: readonly Transaction[]): string =>
  [HEADER.join(","), ...transactions.map(rowOf)].map((line) => `${line}\r\n`).join("");
