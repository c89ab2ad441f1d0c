/** Small Plutus programs (UPLC 1.1.0) for tests, written bit by bit so that no compiler is needed. */
import { concat, utf8 } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";

/** The flat encoding of a program: its version, its term, and the filler that ends it. */
class Flat {
  private digits = "";

  bits(digits: string): this {
    this.digits += digits;
    return this;
  }

  /** Filler to the next byte: zeros, then a one. */
  pad(): this {
    return this.bits("0".repeat(7 - (this.digits.length % 8)) + "1");
  }

  bytes(bytes: Uint8Array): this {
    for (const byte of bytes) this.bits(byte.toString(2).padStart(8, "0"));
    return this;
  }

  program(version: readonly number[]): Uint8Array {
    this.pad();
    const bytes = this.digits.match(/.{8}/g)!.map((byte) => parseInt(byte, 2));
    return encode(concat(Uint8Array.from(version), Uint8Array.from(bytes)));
  }
}

const V3 = [1, 1, 0];
const LAMBDA = "0010", UNIT = "0100" + "1" + "0011" + "0", ERROR = "0110";

/** `\context -> ()`: a Plutus V3 script that always accepts, as the bytes of a witness set (flat inside CBOR). */
export const agrees = new Flat().bits(LAMBDA + UNIT).program(V3);

/** `\context -> error`: a Plutus V3 script that always refuses. */
export const refuses = new Flat().bits(LAMBDA + ERROR).program(V3);

/** `\context -> force (trace message (delay error))`: refuses with a message. */
export function refusesSaying(message: string): Uint8Array {
  const text = utf8(message);
  const trace = "0101" + "0111" + "0011100"; // force (builtin trace)
  return new Flat().bits(LAMBDA + "0101" + "0011" + "0011" + trace + "0100" + "1" + "0010" + "0")
    .pad().bytes(Uint8Array.of(text.length, ...text, 0)).bits("0001" + ERROR).program(V3);
}

/** `\datum redeemer context -> ()` of Plutus V1 and V2 (UPLC 1.0.0). */
export const agreesWithThree = new Flat().bits(LAMBDA.repeat(3) + UNIT).program([1, 0, 0]);

/** `\redeemer context -> ()` of Plutus V1 and V2 (UPLC 1.0.0): minting, rewarding, certifying. */
export const agreesWithTwo = new Flat().bits(LAMBDA.repeat(2) + UNIT).program([1, 0, 0]);

/** Hash of a Plutus script: 28 bytes in hexadecimal. `language` is 1 to 3 for Plutus V1 to V3. */
export function plutusHash(language: 1 | 2 | 3, script: Uint8Array): string {
  return hash224(concat(Uint8Array.of(language), script));
}
