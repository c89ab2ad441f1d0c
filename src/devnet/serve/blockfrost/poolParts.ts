/** Parts of a pool's registration, as Blockfrost shows them. */

import { isObject, type Json, parseJson } from "#src/base/json.ts";
import type { Relay } from "#src/cardano/certificates.ts";
import { ipv4Text, ipv6Text } from "#src/cardano/ipAddress.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";

/** The text that a pool's metadata hash is of; undefined: the devnet does not serve it. */
export function metadataText({ pools }: Genesis, hash: string): string | undefined {
  return pools.find(({ registered }) => registered.terms.metadata?.hash === hash)?.metadata;
}

/** Metadata that a registration links to. Its content is known for the pools of the genesis only. */
export function poolMetadata(genesis: Genesis, link: { readonly url: string; readonly hash: string } | undefined) {
  const text = link && metadataText(genesis, link.hash);
  const json = text === undefined ? null : parseJson(text);
  const member = (name: string): Json => isObject(json) ? json[name] ?? null : null;
  return {
    url: link?.url ?? null,
    hash: link?.hash ?? null,
    ticker: member("ticker"),
    name: member("name"),
    description: member("description"),
    homepage: member("homepage"),
  };
}

/** A relay; a service without a port has port 0. */
export function relayDocument(relay: Relay) {
  const none = { ipv4: null, ipv6: null, dns: null, dns_srv: null, port: 0 };
  switch (relay.kind) {
    case "address":
      return {
        ...none,
        ipv4: relay.ipv4 === undefined ? null : ipv4Text(relay.ipv4),
        ipv6: relay.ipv6 === undefined ? null : ipv6Text(relay.ipv6),
        port: relay.port ?? 0,
      };
    case "host":
      return { ...none, dns: relay.name, port: relay.port ?? 0 };
    case "service":
      return { ...none, dns_srv: relay.name };
  }
}
