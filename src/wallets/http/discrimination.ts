/** Network discrimination: an address of another network is refused wherever a request has one, as cardano-wallet does. */
import type { Address, NetworkId } from "#src/cardano/address.ts";
import { HttpFailure } from "#src/http/failure.ts";

const NAMES = ["Testnet", "Mainnet"] as const;

/**
 * Requires that an address belongs to the network of the service.
 *
 * @param place path of the address in the body, such as `payments[0].address`; undefined in a path or query
 * @throws {HttpFailure} 400 `bad_request`; clients match the message
 */
export function requireNetwork(address: Address, network: NetworkId, place?: string): void {
  if (address.network === network) return;
  const where = place === undefined ? "" : `Error in $.${place}: `;
  const message = `Invalid network discrimination on address. Expecting ${NAMES[network]} but got ${
    NAMES[address.network]
  }.`;
  throw new HttpFailure(400, "bad_request", where + message);
}
