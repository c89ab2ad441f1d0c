/** The devnet's faucet. */
import { faucetAnswer } from "#src/api/devnet.ts";
import { call } from "#src/client/http.ts";

/**
 * Has a devnet (its URL) send lovelace to an address; gives the transaction's hash.
 *
 * @throws {ApiError}
 */
export async function pay(devnet: string, address: string, lovelace: bigint): Promise<string> {
  return faucetAnswer.parse(await call(devnet, "POST", "/faucet", { address, lovelace })).txHash;
}
