/** The body of every refusal of the token and devnet services. */
import { z } from "zod";

export const errorBody = z.object({
  code: z.string().meta({ description: "Stable error code for programs.", example: "bad_address" }),
  error: z.string().describe("Human-readable message."),
  details: z.unknown().optional().describe("Additional data; its form depends on the code."),
}).meta({ id: "Error" });
