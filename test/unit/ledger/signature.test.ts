import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import { verifySignature } from "#src/ledger/signature.ts";

const seed = new Uint8Array(32).fill(9);
const message = new Uint8Array(32).fill(1);
const key = publicKey(seed);
const signature = sign(seed, message);

/** Group order of Ed25519, lowest byte first. */
const ORDER = fromHex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");

describe("verifySignature", () => {
  it("accepts the signature of an ordinary and of an extended key", () => {
    expect(verifySignature(key, message, signature)).toBe(true);
    const extended = Uint8Array.from({ length: 64 }, (_, i) => i === 0 ? 8 : i === 31 ? 64 : i);
    expect(verifySignature(publicKey(extended), message, sign(extended, message))).toBe(true);
  });

  it("accepts bytes in any kind of array, and does not change them", () => {
    const bytes = Buffer.from(key);
    expect(verifySignature(bytes, Buffer.from(message), Buffer.from(signature))).toBe(true);
    expect(verifySignature(bytes.fill(255, 31), message, signature)).toBe(false);
    expect(bytes[31]).toBe(255);
  });

  it("refuses every signature with one bit flipped", () => {
    for (let bit = 0; bit < 512; bit += 7) {
      const flipped = signature.slice();
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(verifySignature(key, message, flipped)).toBe(false);
    }
  });

  it("refuses another message and another key", () => {
    expect(verifySignature(key, new Uint8Array(32), signature)).toBe(false);
    expect(verifySignature(publicKey(new Uint8Array(32)), message, signature)).toBe(false);
  });

  it("refuses a second form of the same signature (the response plus the group's order)", () => {
    const other = signature.slice();
    let carry = 0;
    for (let i = 0; i < 32; i++) {
      const sum = other[32 + i]! + ORDER[i]! + carry;
      other[32 + i] = sum & 255;
      carry = sum >> 8;
    }
    expect(verifySignature(key, message, other)).toBe(false);
  });

  it("refuses keys of small order, which allow a signature of any message", () => {
    const identity = fromHex("01" + "00".repeat(31));
    const anything = new Uint8Array(64);
    anything.set(identity);
    expect(verifySignature(identity, message, anything)).toBe(false);
    for (
      const small of [
        "00".repeat(32),
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "ec" + "ff".repeat(30) + "7f",
        "ee" + "ff".repeat(30) + "ff",
      ]
    ) expect(verifySignature(fromHex(small), message, anything)).toBe(false);
  });

  it("refuses keys that are not a point, and keys beyond the prime", () => {
    expect(verifySignature(fromHex("02" + "00".repeat(31)), message, signature)).toBe(false);
    expect(verifySignature(fromHex("f0" + "ff".repeat(30) + "7f"), message, signature)).toBe(false);
  });
});
