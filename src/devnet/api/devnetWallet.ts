/** Requests and answers of the devnet's development wallet, in the JSON of Yaci DevKit; safe in a browser. */
import { z } from "zod";

/** Characters of a transaction in hexadecimal at most: twice what mainnet allows. */
const MOST_HEX = 65_536;

const hex = (what: string, least = 2) =>
  z.string().min(least).max(MOST_HEX).regex(/^([0-9a-fA-F]{2})*$/, "must be hexadecimal").describe(what);
const accountId = z.string().max(20).describe("Account: `0` to `19`.");
const address = z.string().min(1).max(300);
const transactionHash = z.string().describe("Hash of the transaction.");
const page = (what: string, least: number) =>
  z.string().regex(/^\d{1,9}$/, "must be a whole number").transform(Number).refine((value) => value >= least, {
    message: `must be at least ${least}`,
  }).optional().meta({ type: "integer", description: what });

export const accountParam = { account: accountId };
export const idParam = { id: accountId };
export const paging = {
  page: page("Page, from 0; with `limit`.", 0),
  limit: page("Items of a page.", 1),
};
export const utxosQuery = { amount: hex("CBOR of a value that the outputs must cover.").optional(), ...paging };
export const collateralQuery = {
  amount: hex("CBOR of the lovelace that the outputs must hold; 5 ada by default.").optional(),
};
export const decodeQuery = { cborHex: hex("Bytes in hexadecimal.") };

export const health = z.object({ status: z.literal("ok"), service: z.string(), version: z.string() }).meta({
  id: "WalletHealth",
});

const account = z.object({
  id: accountId,
  name: z.string(),
  address: z.string(),
  stakeAddress: z.string(),
  default: z.boolean().describe("True: the wallet has only the default accounts, whose keys are public."),
}).meta({ id: "WalletAccount" });
export { account };
export const accounts = z.object({ accounts: z.array(account) }).meta({ id: "WalletAccounts" });

export const activeAccount = z.object({ accountId, address: z.string(), name: z.string() }).meta({
  id: "ActiveAccount",
});
export const activateBody = z.object({ accountId }).meta({ id: "ActivateAccountRequest" });
export const activated = z.object({ accountId, status: z.literal("active") }).meta({ id: "ActivatedAccount" });

export const signTxBody = z.object({
  txCbor: hex("CBOR of the transaction."),
  accountId,
  partialSign: z.boolean().default(false).describe("Whether others give further signatures that it needs."),
}).meta({ id: "SignTransactionRequest" });
export const signedTx = z.object({
  witnessSet: z.string().describe("CBOR of a witness set with the account's signatures."),
  txHash: transactionHash,
}).meta({ id: "TransactionSignatures" });

export const signDataBody = z.object({
  address: address.optional().describe(
    "Address, as hexadecimal bytes or text, or a representative by its key's hash or id; the account's address by default.",
  ),
  payload: hex("Data, which is signed as it is.", 0),
  accountId,
}).meta({ id: "SignDataRequest" });
export const signedData = z.object({
  signature: z.string().describe("CBOR of a COSE_Sign1 (CIP-8)."),
  key: z.string().describe("CBOR of the COSE_Key."),
}).meta({ id: "DataSignature" });

export const submitBody = z.object({ txCbor: hex("CBOR of the signed transaction.") }).meta({
  id: "SubmitTransactionRequest",
});

const amounts = z.array(z.object({
  unit: z.string().regex(/^(lovelace|[0-9a-fA-F]{56}([0-9a-fA-F]{2}){0,32})$/, "must be lovelace or an asset")
    .describe("`lovelace`, or the policy id and the asset name in hexadecimal."),
  quantity: z.string().regex(/^\d{1,20}$/, "must be a whole number as a string"),
})).min(1).max(100);
export const buildTxBody = z.object({ senderAddress: address, receiverAddress: address, amounts }).meta({
  id: "BuildTransactionRequest",
});
export const builtTx = z.object({
  success: z.literal(true),
  txCbor: z.string().describe("CBOR of the transaction without signatures."),
  txHash: transactionHash,
}).meta({ id: "BuiltTransaction" });

export const assembleTxBody = z.object({
  txCbor: hex("CBOR of the transaction."),
  witnessCbor: hex("CBOR of a witness set with signatures."),
}).meta({ id: "AssembleTransactionRequest" });
export const assembledTx = z.object({
  success: z.literal(true),
  signedTxCbor: z.string().describe("CBOR of the transaction with the signatures added."),
}).meta({ id: "AssembledTransaction" });

export const transferBody = z.object({ accountId, receiverAddress: address, amounts }).meta({ id: "TransferRequest" });
export const transferred = z.object({
  success: z.literal(true),
  txHash: transactionHash,
  message: z.string(),
}).meta({ id: "Transferred" });

export const networkId = z.int().describe("0: a test network.");
export const hexList = z.array(z.string());
export const hexListOrNull = hexList.nullable();
export const hexText = z.string();

export const value = z.object({
  lovelace: z.string(),
  assets: z.array(z.object({
    policyId: z.string(),
    assetName: z.string().describe("In hexadecimal, after `0x`."),
    quantity: z.string(),
  })).optional(),
}).meta({ id: "DecodedValue" });

/** A refusal: with the error of CIP-30 where it defines one, and for payments with the members of Yaci DevKit. */
export const walletError = z.object({
  code: z.union([z.int(), z.string()]).describe("The number of CIP-30's error; the code of this service for others."),
  error: z.string().describe("A sentence."),
  details: z.unknown().optional(),
  type: z.enum(["APIError", "TxSignError", "TxSendError", "DataSignError", "PaginateError"]).optional().describe(
    "The error of CIP-30.",
  ),
  info: z.string().optional().describe("The sentence, as CIP-30 names it."),
  reason: z.string().optional().describe("The code of this service beside a number of CIP-30."),
  maxSize: z.int().optional().describe("Of `PaginateError`: the number of items."),
  success: z.literal(false).optional(),
  errorCode: z.string().optional().describe("Yaci DevKit's code of a failed payment."),
  message: z.string().optional(),
}).meta({ id: "WalletError" });
