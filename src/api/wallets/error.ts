/** The body of every refusal of the wallet service; safe in a browser. */
import { z } from "zod";

export const walletError = z.object({
  code: z.string().meta({ description: "Stable; what a program goes by.", example: "no_such_wallet" }),
  message: z.string().meta({ description: "A sentence for a person." }),
  info: z.unknown().optional().meta({ description: "Facts that help, by code." }),
}).meta({ id: "WalletError" });
