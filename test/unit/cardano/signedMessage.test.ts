/** Signed messages (CIP-8), read and verified by Emurgo's libraries. */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import MSL from "@emurgo/cardano-message-signing-nodejs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { derivePath, rootKey } from "#src/cardano/keys/derivation.ts";
import { publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { signMessage } from "#src/cardano/keys/signedMessage.ts";

/** What a library reads of a signature and its key, and whether they fit together. */
function readByEmurgo({ signature, key }: { signature: Uint8Array; key: Uint8Array }) {
  const message = MSL.COSESign1.from_bytes(signature);
  const headers = message.headers().protected().deserialized_headers();
  const x = MSL.COSEKey.from_bytes(key).header(MSL.Label.new_int(MSL.Int.new_negative(MSL.BigNum.from_str("2"))));
  const verifier = CSL.PublicKey.from_bytes(x!.as_bytes()!);
  const label = MSL.Label.from_algorithm_id(MSL.AlgorithmId.EdDSA);
  const ofKey = MSL.COSEKey.from_bytes(key);
  return {
    algorithm: toHex(headers.algorithm_id()!.to_bytes()) === toHex(label.to_bytes()),
    address: toHex(headers.header(MSL.Label.new_text("address"))!.as_bytes()!),
    hashed: toHex(message.headers().unprotected().header(MSL.Label.new_text("hashed"))!.to_bytes()),
    payload: toHex(message.payload()!),
    key: verifier.to_hex(),
    keyType: toHex(ofKey.key_type().to_bytes()) === toHex(MSL.Label.from_key_type(MSL.KeyType.OKP).to_bytes()),
    keyAlgorithm: toHex(ofKey.algorithm_id()!.to_bytes()) === toHex(label.to_bytes()),
    curve: ofKey.header(MSL.Label.new_int(MSL.Int.new_negative(MSL.BigNum.from_str("1"))))!.as_int()!.as_i32(),
    verified: verifier.verify(
      message.signed_data().to_bytes(),
      CSL.Ed25519Signature.from_bytes(message.signature()),
    ),
  };
}

const address = fromHex("00" + "ab".repeat(56));
const extended = derivePath(rootKey(new Uint8Array(32).fill(7)), [0, 1]).key;

describe("a signed message", () => {
  it.each<[string, SigningKey]>([["seed", new Uint8Array(32).fill(3)], ["extended", extended]])(
    "of a key of the kind %s is what Emurgo's library expects",
    (_kind, key) => {
      const read = readByEmurgo(signMessage(new TextEncoder().encode("hello"), address, key));
      expect(read).toEqual({
        algorithm: true,
        address: toHex(address),
        hashed: "f4",
        payload: "68656c6c6f",
        key: toHex(publicKey(key)),
        keyType: true,
        keyAlgorithm: true,
        curve: 6,
        verified: true,
      });
    },
  );

  it("verifies for every payload, and for no other one", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (payload) => {
        const signed = signMessage(payload, address, extended);
        expect(readByEmurgo(signed)).toMatchObject({ payload: toHex(payload), verified: true });
        const changed = toHex(signed.signature).replace(toHex(address), toHex(address).replace("ab", "ac"));
        expect(readByEmurgo({ ...signed, signature: fromHex(changed) }).verified).toBe(false);
      }),
      { numRuns: 30 },
    );
  });

  it("refuses a key of another length", () => {
    expect(() => signMessage(new Uint8Array(), address, new Uint8Array(33))).toThrow(TypeError);
  });
});
