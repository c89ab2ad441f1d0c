/** The body of every refusal of the token and devnet services. */
import { z } from "zod";

export const errorBody = z.object({
  code: z.string().meta({ description: "Stable; what a program goes by.", example: "bad_address" }),
  error: z.string().meta({ description: "A sentence for a person." }),
  details: z.unknown().optional().meta({ description: "Facts that help, by code." }),
}).meta({ id: "Error" });
