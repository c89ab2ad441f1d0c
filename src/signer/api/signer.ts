/** Requests and answers of the signing service; safe in a browser. */
import { z } from "zod";
import { deleteBody, flag, insertBody, outputRef, updateBody } from "#src/tokens/api/tokens.ts";

/** More ada than exist. */
const MOST_ADA = 45_000_000_000;

export const topupBody = z.object({
  amount: z.number().positive().max(MOST_ADA).refine(
    (ada) => /^\d+(\.\d{1,6})?$/.test(String(ada)),
    "expected ada, with up to 6 decimals",
  ).meta({ description: "Ada, with up to 6 decimals.", example: 1000 }),
}).meta({ id: "WalletTopup" });
export const toppedUp = z.object({ message: z.literal("Top up successful") }).meta({ id: "WalletToppedUp" });

const keyHash = z.string().describe(
  "Hash of the payment key, 56 hexadecimal digits; the owner of the wallet's tokens.",
);
export const wallet = z.object({
  walletAddress: z.string().describe("The address that pays and receives."),
  address: z.string().describe("Equal to `walletAddress`."),
  signerHash: keyHash,
  owner: keyHash.describe("Equal to `signerHash`."),
  utxos: z.array(z.object({
    input: z.object({ outputIndex: z.int(), txHash: z.string() }),
    output: z.object({
      address: z.string(),
      amount: z.array(z.object({
        unit: z.string().describe("`lovelace`, or policy id and asset name in hexadecimal."),
        quantity: z.string(),
      })),
    }),
  })).describe("The outputs that the next transaction can spend, those of pending transactions included."),
}).meta({ id: "SigningWallet" });

export const bootBody = z.object({
  owner: z.string().regex(/^[0-9a-fA-F]{56}$/, "expected 56 hexadecimal digits").transform((hash) => hash.toLowerCase())
    .optional().describe("The wallet's own key hash: a token of this service belongs to its wallet."),
}).optional();
export const booted = z.object({ tokenId: z.string() }).meta({ id: "BootedToken" });

const operation = z.enum(["insert", "update", "delete"]);
const BODIES = { insert: insertBody, update: updateBody, delete: deleteBody };
/** A change under the names of all versions of this API: `type` or `operation`, `value` or `newValue` and `oldValue`. */
export const changeBody = z.looseObject({
  type: operation.optional(),
  operation: operation.optional().describe("Another name of `type`; one of the two is required."),
  key: z.string(),
}).transform((body, context) => {
  const type = body.type ?? body.operation;
  if (type === undefined) {
    context.addIssue({ code: "custom", path: ["type"], message: "type or operation is required" });
    return z.NEVER;
  }
  const parsed = BODIES[type].safeParse(body);
  if (parsed.success) return { type, ...parsed.data };
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: "custom", path, message });
  return z.NEVER;
}).meta({ id: "SignedChange" });
export const requestQuery = {
  force: flag.optional().meta({
    type: "boolean",
    description: "Whether the deposit of a request is locked although the request could not be applied.",
  }),
};
export const requestRef = z.string().describe("The request, `<transaction hash>-<output index>`.");

export const applyBody = z.object({
  requestIds: z.array(outputRef).min(1).max(200).describe("The requests to apply, all or none."),
}).meta({ id: "ApplyRequests" });
export const applied = z.object({
  txHash: z.string(),
  value: z.string().describe("Root of the token after the update."),
}).meta({ id: "AppliedRequests" });
export const retracted = z.object({ txHash: z.string(), value: z.null() }).meta({ id: "RetractedRequest" });
