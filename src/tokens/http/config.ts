/** The configuration of the service over HTTP: the contract, its versions, the network. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { config } from "#src/tokens/api/tokenFacts.ts";
import { blueprintOf } from "#src/contract/blueprints.ts";
import { publicationAddress } from "#src/contract/publication.ts";
import { cageScripts, newestScript } from "#src/contract/script.ts";
import { addressText, readAddressHex, scriptAddress } from "#src/cardano/address.ts";
import { endpoint } from "#src/http/route.ts";
import type { TokenService } from "#src/tokens/http/service.ts";
import { answered } from "#src/tokens/http/status.ts";

/** Adds `/config`. */
export function configRoutes(app: OpenAPIHono, service: TokenService): void {
  const { networkId, networkMagic, factSlots = false, port } = service;
  const addressOf = (hash: string) => textOf(scriptAddress(networkId, hash).hex);
  endpoint(app, "get", "/config", {
    summary: "The contract and the network of this service",
    answer: config,
    refusals: { 503: "`network_unreachable`" },
  }, async () => {
    const [parameters, { slots }] = await Promise.all([port.parameters(), port.network()]);
    const current = newestScript(answered(parameters).value);
    return {
      address: addressOf(current.hash),
      policyId: current.hash,
      plutus: blueprintOf(current),
      network: { id: networkId, magic: networkMagic },
      versions: cageScripts.map(({ version, hash }) => ({ version, policyId: hash, address: addressOf(hash) })),
      publication: textOf(publicationAddress(networkId)),
      factSlots,
      slots: { zeroSlot: slots.zeroSlot, zeroTime: slots.zeroTime, slotLength: slots.slotLength },
    };
  });
}

function textOf(hex: string): string {
  const address = readAddressHex(hex);
  if (!address.ok) throw new Error(`invalid address: ${address.error.message}`);
  return addressText(address.value);
}
