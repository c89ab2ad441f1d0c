/** Arguments and options of requests to a wallet server, checked before anything is sent or prompted for. */
import { InvalidArgumentError } from "commander";
import { fromHex, isHex } from "#src/base/bytes.ts";
import { isObject, type Json, parseJson } from "#src/base/json.ts";
import { fail, ok } from "#src/base/result.ts";
import type { ReadLine } from "#src/cli/prompts.ts";

function pattern(expression: RegExp, message: string): (text: string) => string {
  return (text) => {
    if (!expression.test(text)) throw new InvalidArgumentError(message);
    return text;
  };
}

/** A whole number between bounds. */
function whole(least: bigint, most: bigint, message: string): (text: string) => bigint {
  return (text) => {
    if (!/^\d{1,30}$/.test(text) || BigInt(text) < least || BigInt(text) > most) {
      throw new InvalidArgumentError(message);
    }
    return BigInt(text);
  };
}

const MOST = 2n ** 64n - 1n;

export const readPort = (text: string): number =>
  Number(whole(1_024n, 65_535n, "expected a TCP port number between 1024 and 65535")(text));
export const readWalletId = pattern(
  /^[0-9a-fA-F]{40}$/,
  "wallet id should be a hex-encoded string of 40 characters",
);
export const readTransactionId = pattern(
  /^[0-9a-fA-F]{64}$/,
  "A transaction ID should be a hex-encoded string of 64 characters.",
);
export const readBlockHash = pattern(
  /^[0-9a-fA-F]{64}$/,
  "A block header hash is a hex-encoded string of 64 characters.",
);
export const readSlot = whole(0n, BigInt(Number.MAX_SAFE_INTEGER), "A slot is a whole number.");
export const readGap = whole(10n, 100_000n, "An address pool gap must be a natural number between 10 and 100000.");
export const readAccountKey = pattern(
  /^[0-9a-fA-F]{128}$/,
  "Invalid account public key: expecting a hex-encoded value that is 64 bytes in length.",
);
export const readCount = whole(1n, MOST, "max_count must be a whole number, at least 1");
export const readStake = whole(0n, MOST, "A stake is a whole number of lovelace.");
export const readEpoch = pattern(/^(latest|\d{1,9})$/, "expected 'latest' or the number of an epoch");
export const readIndex = whole(
  2n ** 31n,
  2n ** 32n - 1n,
  "Couldn't parse derivation index. Expected an integer between 2147483648 and 4294967295.",
);
const oneOf = (...values: readonly string[]) =>
  pattern(
    new RegExp(`^(${values.join("|")})$`),
    `Unable to decode the given text value. Please specify one of the following values: ${values.join(", ")}.`,
  );
export const readState = oneOf("used", "unused");
export const readOrder = oneOf("ascending", "descending");

export function readName(text: string): string {
  const { length } = [...text];
  if (length < 1) throw new InvalidArgumentError("name is too short: expected at least 1 character");
  if (length > 255) throw new InvalidArgumentError("name is too long: expected at most 255 characters");
  return text;
}

export const readTime = pattern(
  /^\d{4}-?\d\d-?\d\dT\d\d:?\d\d(:?\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$/,
  "Unable to parse time argument. Expecting ISO 8601 date-and-time format (basic or extended), e.g. 2012-09-25T10:15:00Z.",
);

/** Seconds with an `s` behind them. */
export function readSeconds(text: string): bigint {
  const message =
    'Cannot parse given time duration. Values must be whole seconds, and must end with "s". Examples: 7200s, 42s.';
  if (!text.endsWith("s")) throw new InvalidArgumentError(message);
  return whole(0n, MOST, message)(text.slice(0, -1));
}

/** A payment `AMOUNT@ADDRESS` in the form of the API. The server checks the address, which may be of any era. */
export interface Payment {
  readonly address: string;
  readonly amount: { readonly quantity: bigint; readonly unit: "lovelace" };
}

export function readPayment(text: string, before: readonly Payment[] = []): readonly Payment[] {
  const [, amount = "", address = ""] = /^(\d{1,20})@([A-Za-z0-9_]+)$/.exec(text) ?? [];
  if (amount === "" || BigInt(amount) > MOST) {
    throw new InvalidArgumentError('Parse error. Expecting format "<amount>@<address>".');
  }
  return [...before, { address, amount: { quantity: BigInt(amount), unit: "lovelace" } }];
}

/** Transaction metadata: a JSON object, whose integers keep every digit. */
export function readMetadata(text: string): Json {
  let json: Json | undefined;
  try {
    json = parseJson(text);
  } catch {
    json = undefined;
  }
  if (!isObject(json)) throw new InvalidArgumentError("Transaction metadata is a JSON object.");
  return json;
}

export function readTransaction(text: string): Uint8Array {
  if (text === "" || !isHex(text)) throw new InvalidArgumentError("A transaction is given as hexadecimal bytes.");
  return fromHex(text);
}

/** A spending passphrase: 10 to 255 characters. */
export const readPassphrase: ReadLine<string> = (line) => {
  const { length } = [...line];
  if (length < 10) return fail("short", "passphrase is too short: expected at least 10 characters");
  if (length > 255) return fail("long", "passphrase is too long: expected at most 255 characters");
  return ok(line);
};
