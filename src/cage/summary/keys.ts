/** Payment keys of addresses in text form. */
import { parseAddress, paymentKeyHash } from "#src/cardano/address.ts";

/** Hash of the payment key of an address; undefined where it has none. */
export function addressKey(text: string): string | undefined {
  const read = parseAddress(text);
  return read.ok ? paymentKeyHash(read.value.hex) : undefined;
}
