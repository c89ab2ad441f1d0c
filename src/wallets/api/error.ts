/** The body of every refusal of the wallet service; safe in a browser. */
import { z } from "zod";

export const walletError = z.object({
  code: z.string().meta({ description: "Stable error code for programs.", example: "no_such_wallet" }),
  message: z.string().describe("Human-readable message."),
  info: z.unknown().optional().describe("Additional data; its form depends on the code."),
}).meta({ id: "WalletError" });
