/** IP addresses of relays, which certificates hold as bytes (in hexadecimal here). */
import { fromHex, toHex } from "#src/base/bytes.ts";
import ipaddr from "ipaddr.js";

/** Text of an IPv4 address. */
export function ipv4Text(hex: string): string {
  return fromHex(hex).join(".");
}

/** Text of an IPv6 address. A certificate has four words of 32 bits, each with its lowest byte first. */
export function ipv6Text(hex: string): string {
  const groups = swapped(hex).match(/.{4}/g) ?? [];
  // the parser of URLs writes the shortest form
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** The inverse of `ipv4Text`; undefined for other text. */
export function ipv4Bytes(text: string): string | undefined {
  return ipaddr.IPv4.isValidFourPartDecimal(text)
    ? toHex(new Uint8Array(ipaddr.IPv4.parse(text).toByteArray()))
    : undefined;
}

/** The inverse of `ipv6Text`; undefined for other text. */
export function ipv6Bytes(text: string): string | undefined {
  return ipaddr.IPv6.isValid(text) ? swapped(toHex(new Uint8Array(ipaddr.IPv6.parse(text).toByteArray()))) : undefined;
}

/** The bytes of each word of 32 bits in the opposite order. */
function swapped(hex: string): string {
  return (hex.match(/.{8}/g) ?? []).map((word) => (word.match(/../g) ?? []).toReversed().join("")).join("");
}
