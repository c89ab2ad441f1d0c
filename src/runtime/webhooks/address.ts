/**
 * Decides to which addresses webhooks may be sent. A host name is resolved once; the resolved address is checked and
 * then used for the connection, so that a later change of the name (DNS rebinding) has no effect.
 */
import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** An address to connect to. */
export interface ResolvedAddress {
  readonly address: string;
}

/** The IPv6 range assigned to the public internet. */
const GLOBAL = ipaddr.IPv6.parseCIDR("2000::/3");

/** Whether an address is public: not loopback, private, link-local (cloud metadata services), shared or reserved. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Unwraps IPv4-mapped IPv6. Other forms with an embedded IPv4 address (NAT64, 6to4, Teredo) have ranges other than
  // "unicast".
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(GLOBAL);
}

/** Why a URL cannot be a webhook's, in a sentence; `undefined` when it can. Does not resolve the host name. */
export function faultOfUrl(text: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(text)) return "This is no URL.";
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) return "Webhooks go over https alone.";
  if (url.username !== "" || url.password !== "") {
    return "A URL with a name or a password in it would be shown in lists.";
  }
  if (url.hash !== "") return "A fragment is never sent.";
  // These names are this machine by definition (RFC 6761), regardless of the resolver.
  if (!allowPrivate && /(^|\.)localhost\.?$/.test(url.hostname)) return REFUSED;
  const literal = literalOf(url);
  if (!allowPrivate && literal !== undefined && !isPublic(literal)) return REFUSED;
  return undefined;
}

const REFUSED = "Webhooks do not go to addresses of this machine, of private networks or of the like.";

/** Resolves the host of a URL. Fails if any of its addresses is not allowed. */
export async function resolveTarget(
  url: URL,
  allowPrivate: boolean,
): Promise<Result<ResolvedAddress, Failure<"refused" | "unresolved">>> {
  const literal = literalOf(url);
  let addresses: string[];
  if (literal !== undefined) addresses = [literal];
  else {
    try {
      addresses = (await lookup(url.hostname, { all: true })).map(({ address }) => address);
    } catch {
      return fail("unresolved", `There is no address for ${url.hostname}.`);
    }
  }
  if (!allowPrivate && !addresses.every(isPublic)) return fail("refused", REFUSED);
  const [address] = addresses;
  return address === undefined ? fail("unresolved", `There is no address for ${url.hostname}.`) : ok({ address });
}

/** The IP address in a URL without a host name. */
function literalOf(url: URL): string | undefined {
  const bare = url.hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(bare) ? bare : undefined;
}
