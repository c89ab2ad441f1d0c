/** Addresses of random wallets, created and imported; safe in a browser. */
import { z } from "zod";
import { anyAddress } from "#src/wallets/api/addresses.ts";
import { passphrase } from "#src/wallets/api/text.ts";

export const newAddressBody = z.object({
  passphrase,
  address_index: z.int().min(0).max(4_294_967_295).optional().describe(
    "Index of the address, 2147483648 or higher. Default: a random index.",
  ),
}).meta({ id: "NewAddressBody" });

export const importBody = z.object({ addresses: z.array(anyAddress).min(1) }).meta({ id: "ImportAddressesBody" });
