/**
 * Signed messages (CIP-8), in the form that browser wallets give them (CIP-30): a COSE_Sign1 whose protected headers
 * name the address, and the COSE_Key of the signature (RFC 9052, RFC 9053).
 */
import { encode } from "#src/cardano/cbor.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";

/** Labels and values of COSE's registries that are used here. */
const HEADER = { algorithm: 1 } as const;
const KEY = { type: 1, algorithm: 3, curve: -1, x: -2 } as const;
const [EDDSA, OKP, ED25519] = [-8, 1, 6];

/** The `DataSignature` of CIP-30: CBOR of a COSE_Sign1 without a tag, and of the COSE_Key that verifies it. */
export interface SignedMessage {
  readonly signature: Uint8Array;
  readonly key: Uint8Array;
}

/**
 * Signs a message for an address (its bytes) with the key of its credential: the payment key, or the stake key of a
 * reward address. The payload is signed as it is, not its hash.
 *
 * @throws {TypeError} where the key is neither 32 nor 64 bytes
 */
export function signMessage(payload: Uint8Array, address: Uint8Array, key: SigningKey): SignedMessage {
  const headers = encode(
    new Map<number | string, number | Uint8Array>([[HEADER.algorithm, EDDSA], ["address", address]]),
  );
  const signed = sign(key, encode(["Signature1", headers, new Uint8Array(), payload]));
  return {
    signature: encode([headers, new Map([["hashed", false]]), payload, signed]),
    key: encode(
      new Map<number, number | Uint8Array>([
        [KEY.type, OKP],
        [KEY.algorithm, EDDSA],
        [KEY.curve, ED25519],
        [KEY.x, publicKey(key)],
      ]),
    ),
  };
}
