import { describe, expect, it } from "vitest";
import { type Address, readAddressHex } from "#src/cardano/address.ts";
import { addressOf, credentialOf, ownedCredential, parseCredential } from "#src/wallets/index/credential.ts";
import { byronPathKey, randomAddress } from "#src/cardano/keys/byronAddress.ts";

const key = { kind: "key", hash: "11".repeat(28) } as const;
const script = { kind: "script", hash: "22".repeat(28) } as const;
const described = (hex: string): Address => {
  const read = readAddressHex(hex);
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
};

describe("the credential of an address", () => {
  it("is its payment part, with any stake part", () => {
    for (const payment of [key, script]) {
      for (const stake of [key, script, undefined]) {
        for (const network of [0, 1] as const) {
          const address = addressOf(payment, stake, network);
          expect(credentialOf(address)).toBe(ownedCredential(payment));
          expect(described(address)).toMatchObject({
            network,
            payment,
            ...(stake ? { kind: "base", stake } : { kind: "enterprise" }),
          });
        }
      }
    }
    expect(credentialOf(`40${key.hash}010203`)).toBe(ownedCredential(key));
    expect(credentialOf(`51${script.hash}010203`)).toBe(ownedCredential(script));
  });

  it("is the root of an address of Byron", () => {
    const address = randomAddress({
      pathKey: byronPathKey("11".repeat(64)),
      path: [2 ** 31, 2 ** 31],
      key: "33".repeat(64),
    });
    const read = described(address);
    expect(credentialOf(address)).toBe(read.kind === "byron" ? `byron-${read.byron.root}` : "");
  });

  it("is undefined if no key or script can spend", () => {
    expect(credentialOf(`e0${key.hash}`)).toBeUndefined();
    expect(credentialOf("")).toBeUndefined();
    expect(credentialOf("6011")).toBeUndefined();
    expect(credentialOf("82d818")).toBeUndefined();
    expect(credentialOf(`90${key.hash}`)).toBeUndefined();
  });

  it("is decoded as encoded", () => {
    expect(parseCredential(ownedCredential(key))).toEqual(key);
    expect(parseCredential(ownedCredential(script))).toEqual(script);
    expect(parseCredential(`byron-${key.hash}`)).toBeUndefined();
    expect(parseCredential("key")).toBeUndefined();
  });
});
