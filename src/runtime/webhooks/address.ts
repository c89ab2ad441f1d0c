/**
 * Where messages may be sent. A name is resolved once, and what it resolved to is both checked and connected to, so that a name
 * that points elsewhere a moment later changes nothing.
 */
import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** An address to connect to. */
export interface ResolvedAddress {
  readonly address: string;
}

/** All that is given out of IPv6 for the public internet. */
const GLOBAL = ipaddr.IPv6.parseCIDR("2000::/3");

/** Whether an address is one of the public internet: not loopback, private, link-local (where clouds keep their metadata), shared or reserved. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Takes IPv4 out of IPv6; the other forms that carry it (NAT64, 6to4, Teredo) are ranges of their own and no "unicast".
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(GLOBAL);
}

/** What is wrong with a URL to send to, in a sentence; undefined when it may serve. Nothing is resolved. */
export function faultOfUrl(text: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(text)) return "This is no URL.";
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) return "Webhooks go over https alone.";
  if (url.username !== "" || url.password !== "") {
    return "A URL with a name or a password in it would be shown in lists.";
  }
  if (url.hash !== "") return "A fragment is never sent.";
  // Such names are this machine by definition (RFC 6761), whatever resolves them.
  if (!allowPrivate && /(^|\.)localhost\.?$/.test(url.hostname)) return REFUSED;
  const literal = literalOf(url);
  if (!allowPrivate && literal !== undefined && !isPublic(literal)) return REFUSED;
  return undefined;
}

const REFUSED = "Webhooks do not go to addresses of this machine, of private networks or of the like.";

/** Resolves where a URL leads. Any address that may not be is a refusal, whatever the others are. */
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

/** The address that a URL names by itself, without a name. */
function literalOf(url: URL): string | undefined {
  const bare = url.hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(bare) ? bare : undefined;
}
