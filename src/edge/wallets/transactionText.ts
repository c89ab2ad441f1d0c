/** A transaction's bytes as answers carry them. */
import { toHex } from "#src/base/bytes.ts";

/** Characters that are made of bytes at once: more arguments than some ten thousand overflow the stack. */
const AT_ONCE = 8_192;

/** Text of some bytes in base 64 or 16. */
export function transactionText(bytes: Uint8Array, encoding: "base64" | "base16"): string {
  if (encoding === "base16") return toHex(bytes);
  let binary = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  }
  return btoa(binary);
}
