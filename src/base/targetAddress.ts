/**
 * The address of a host that a URL from outside names. A name is resolved once, and the resolved address is both
 * checked and connected to (`exchange`): a DNS answer that changes a moment later has no effect.
 */
import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** The IPv6 range of the public internet. */
const GLOBAL = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an address is of the public internet: not loopback, private, link-local (cloud metadata services), shared or
 * reserved.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Unpacks IPv4-mapped addresses; other forms that carry IPv4 (NAT64, 6to4, Teredo) are ranges of their own and not
  // "unicast".
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL);
}

/** The address that a URL contains literally, without a name. */
export function literalAddress(url: URL): string | undefined {
  const bare = url.hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(bare) ? bare : undefined;
}

/**
 * Resolves a URL's host. `refused`, with the given message: one of its addresses is not public, and that is not
 * allowed.
 */
export async function resolveTarget(
  url: URL,
  allowPrivate: boolean,
  refusal: string,
): Promise<Result<string, Failure<"refused" | "unresolved">>> {
  const unresolved = () => fail("unresolved", `${url.hostname} has no IP address.`);
  const literal = literalAddress(url);
  let addresses: string[];
  if (literal !== undefined) addresses = [literal];
  else {
    try {
      addresses = (await lookup(url.hostname, { all: true })).map(({ address }) => address);
    } catch {
      return unresolved();
    }
  }
  if (!allowPrivate && !addresses.every(isPublic)) return fail("refused", refusal);
  const [address] = addresses;
  return address === undefined ? unresolved() : ok(address);
}
