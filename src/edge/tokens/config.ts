/** The configuration of the service over HTTP: the contract, its versions, the network. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { config } from "#src/api/tokenFacts.ts";
import blueprint from "#src/cage/blueprint.json" with { type: "json" };
import { publicationAddress } from "#src/cage/publication.ts";
import { cageScript, cageScripts } from "#src/cage/script.ts";
import { addressText, readAddressHex, scriptAddress } from "#src/cardano/address.ts";
import { endpoint } from "#src/edge/route.ts";
import type { TokenService } from "#src/edge/tokens/service.ts";

/** Adds `/config`. */
export function configRoutes(app: OpenAPIHono, { networkId, networkMagic, factSlots = false }: TokenService): void {
  const addressOf = (hash: string) => textOf(scriptAddress(networkId, hash).hex);
  endpoint(app, "get", "/config", {
    summary: "The contract and the network of this service",
    answer: config,
  }, () =>
    Promise.resolve({
      address: addressOf(cageScript.hash),
      policyId: cageScript.hash,
      plutus: blueprint,
      network: { id: networkId, magic: networkMagic },
      versions: cageScripts.map(({ version, hash }) => ({ version, policyId: hash, address: addressOf(hash) })),
      publication: textOf(publicationAddress(networkId)),
      factSlots,
    }));
}

function textOf(hex: string): string {
  const address = readAddressHex(hex);
  if (!address.ok) throw new Error(`invalid address: ${address.error.message}`);
  return addressText(address.value);
}
