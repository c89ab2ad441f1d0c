import { expect, test } from "vitest";
import { distributionOf } from "#src/wallets/http/holdings.ts";
import { noSuchWallet, walletAlreadyExists } from "#src/wallets/http/service.ts";
import { hardIndexRequired, softIndexRequired } from "#src/wallets/http/status.ts";
import { foreignTransaction, missingWitnesses, submissionRefusal } from "#src/wallets/http/submission.ts";
import { constructBody, historyQuery, sendBody } from "#src/wallets/api/transactions.ts";

const ID = "2512a00e9653fe49a44a5886202e24d77eeb998f";

test("clients find a wallet's id in the message that it exists already", () => {
  const { status, code, message } = walletAlreadyExists(ID);
  expect([status, code, message.split(" ")[10]]).toEqual([409, "wallet_already_exists", ID]);
  expect(noSuchWallet(ID).message).toBe(`I couldn't find a wallet with the given id: ${ID}`);
});

test("refusals of the edge are said in cardano-wallet's words", () => {
  const bound =
    "It looks like you've provided a derivation index that is out of bound. The index is well-formed, but I require indexes valid for";
  const said = [hardIndexRequired(), softIndexRequired(), foreignTransaction(), missingWitnesses(2, 1)];
  expect(said.map(({ message }) => message)).toEqual([
    `${bound} hardened derivation only. That is, indexes between 0H and 2147483647H.`,
    `${bound} soft derivation only. That is, indexes between 0 and 2147483647 without a suffix.`,
    "The transaction to be submitted is foreign to the current wallet and cannot be sent. Submit a transaction that has either an input or " +
    "a withdrawal belonging to the wallet.",
    "The transaction expects 2 witness(es) to be fully-signed but 1 was provided. Please submit a fully-signed transaction.",
  ]);
});

test("a full mempool has a status and a code of its own", () => {
  expect(submissionRefusal({ code: "mempool_full", message: "full" })).toMatchObject({
    status: 425,
    code: "mempool_is_full",
    message: "The submitted transaction was rejected by the Cardano node because its mempool was full.",
  });
});

test("a histogram has a bucket for each power of ten, its bound included", () => {
  const { total, distribution } = distributionOf([1n, 10n, 11n, 1_000_000n, 45_000_000_000_000_000n]);
  expect(total.quantity).toBe(45_000_000_001_000_022n);
  expect(Object.keys(distribution)).toHaveLength(17);
  expect(distribution).toMatchObject({ "10": 2, "100": 1, "1000000": 1, "10000000": 0, "45000000000000000": 1 });
});

test("times are parsed in both forms of ISO 8601, with and without a zone", () => {
  const read = (text: string) => historyQuery.start.safeParse(text);
  const noon = Date.UTC(2012, 8, 25, 10, 15, 0);
  for (
    const text of [
      "2012-09-25T10:15:00Z",
      "20120925T101500Z",
      "2012-09-25T12:15:00+02:00",
      "2012-09-25T12:15:00 02:00",
      "20120925T1215+0200",
      "2012-09-25T10:15:00.000Z",
      "2012-09-25T10:15",
    ]
  ) expect(read(text).data, text).toBe(noon);
  for (const text of ["yesterday", "2012-09-25", "2012-13-25T10:15:00Z", "2013-02-29T10:15:00Z", "10:15:00Z"]) {
    expect(read(text).success, text).toBe(false);
  }
});

test("a filter's time counts to its last digit", () => {
  const read = (text: string) => historyQuery.start.parse(text)!;
  expect(read("2012-09-25T10:15:00.001000000001Z")).toBeGreaterThan(read("2012-09-25T10:15:00.001Z"));
  expect(read("2012-09-25T10:15:00.000999999999Z")).toBeLessThan(read("2012-09-25T10:15:00.001Z"));
  expect(read("2012-09-25T10:15:00.001000000000Z")).toBe(read("2012-09-25T10:15:00.001Z"));
});

test("a bound of a validity interval may be a negative time, which has a code of its own, but no negative slot", () => {
  const read = (quantity: number, unit: string) =>
    constructBody.safeParse({ validity_interval: { invalid_before: { quantity, unit } } }).success;
  expect([read(-1, "second"), read(-1, "slot"), read(0, "slot"), read(1.5, "second")]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  const life = (quantity: number) =>
    sendBody.safeParse({
      payments: [],
      passphrase: "",
      time_to_live: { quantity, unit: "second" },
    }).error?.issues.filter(({ path }) => path[0] === "time_to_live").length ?? 0;
  expect([life(-1), life(0)]).toEqual([1, 0]);
});
