/**
 * Encodes and decodes `bytea`. postgres.js does it by `Buffer`, which takes twelve times as long on Deno as the
 * platform's own hexadecimal.
 */
import { Buffer } from "node:buffer";
import { fromHex, toHex } from "#src/base/bytes.ts";

/** Whether the platform has hexadecimal of its own: Deno, and Node since 25. */
const isNative = "fromHex" in Uint8Array;

/** The type of bytes, for the option `types` of postgres.js. */
export const byteType = {
  to: 17,
  from: [17],
  serialize: (bytes: Uint8Array) => `\\x${isNative ? toHex(bytes) : Buffer.from(bytes).toString("hex")}`,
  parse: (text: string) => isNative ? fromHex(text.slice(2)) : new Uint8Array(Buffer.from(text.slice(2), "hex")),
};
