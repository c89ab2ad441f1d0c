import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, it } from "vitest";
import { byteType } from "#src/store/bytes.ts";

it("bytes are written as PostgreSQL reads them, and read as it writes them", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    const text = `\\x${Buffer.from(bytes).toString("hex")}`;
    expect(byteType.serialize(bytes)).toBe(text);
    expect(byteType.serialize(Buffer.from(bytes))).toBe(text);
    const read = byteType.parse(text);
    expect(read).toEqual(bytes);
    expect(read.constructor).toBe(Uint8Array);
  }));
});
