import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import {
  type Address,
  addressText,
  baseAddress,
  type Credential,
  enterpriseAddress,
  hexAddressText,
  parseAddress,
  paymentKeyHash,
  pointerAddress,
  readAddress,
  readAddressHex,
  rewardAddress,
  scriptAddress,
} from "#src/cardano/address.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { derivePath, parsePath, rootKey } from "#src/cardano/keys/derivation.ts";
import { keyHash, publicKey } from "#src/cardano/keys/signingKey.ts";
import { readKey } from "#src/cardano/keys/keyText.ts";
import { mnemonicEntropy } from "#src/cardano/keys/mnemonic.ts";
import { walletVectors } from "../../support/wallets/walletVectors.ts";

function must(text: string): Address {
  const read = parseAddress(text);
  if (!read.ok) throw new Error(`${text}: ${read.error.message}`);
  return read.value;
}

function reason(text: string, network?: 0 | 1): string | undefined {
  const read = parseAddress(text, network);
  return read.ok ? undefined : read.error.details.reason;
}

const key = (hash: string): Credential => ({ kind: "key", hash });
const script = (hash: string): Credential => ({ kind: "script", hash });

test("the fast conversion of an address to text has the same result as the slow one, or none", () => {
  const hash = "5a".repeat(28);
  for (const network of [0, 1] as const) {
    for (const payment of [key(hash), script(hash)]) {
      const common = [
        enterpriseAddress(network, payment),
        ...[key(hash), script(hash)].map((stake) => baseAddress(network, payment, stake)),
      ];
      for (const address of common) expect(hexAddressText(address.hex)).toBe(addressText(address));
      const pointer = { slot: 1n, transaction: 2n, certificate: 3n };
      expect(hexAddressText(pointerAddress(network, payment, pointer).hex)).toBeUndefined();
    }
    expect(hexAddressText(rewardAddress(network, key(hash)).hex)).toBeUndefined();
  }
  for (const none of ["", "0", "00", `0${hash}`, `60${hash}00`, `02${hash}${hash}`, `80${hash}`]) {
    expect(hexAddressText(none)).toBeUndefined();
  }
});

describe("golden addresses", () => {
  test.each(walletVectors("cip19-address").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const address = must(expected.address);
      expect(address.network).toBe(input.networkTag);
      expect(parseInt(address.hex[0]!, 16)).toBe(input.type);
      expect(addressText(address)).toBe(expected.address);
      const hash = (text: string) => {
        const read = readKey(text);
        if (!read.ok || read.value.form !== "public") throw new Error("no public key");
        return keyHash(read.value.key);
      };
      const payment = input.type % 2 ? script(toHex(fromBech32(input.script)!.bytes)) : key(hash(input.payment_vk));
      if (address.kind === "reward") return;
      expect("payment" in address && address.payment).toEqual(payment);
    },
  );

  test.each(walletVectors("inspect-address").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const text = input.request.split("/").at(-1);
      const address = must(text);
      expect(parseInt(address.hex[0]!, 16)).toBe(expected.address_type);
      expect(addressText(address)).toBe(text);
      if (address.kind === "byron") {
        expect(address.byron.root).toBe(expected.address_root);
        expect(address.byron.magic).toBe(expected.network_tag ?? undefined);
        expect(address.byron.derivationPath !== undefined).toBe(expected.address_style === "Byron");
        return;
      }
      expect(address.network).toBe(expected.network_tag);
      if ("payment" in address) {
        expect(address.payment.hash).toBe(expected.spending_key_hash ?? expected.spending_shared_hash);
      }
      if (address.kind === "pointer") {
        expect(address.pointer).toEqual({
          slot: BigInt(expected.pointer.slot_num),
          transaction: BigInt(expected.pointer.transaction_index),
          certificate: BigInt(expected.pointer.output_index),
        });
      }
      if (address.kind === "base") {
        expect(address.stake.hash).toBe(
          expected.stake_key_hash ?? expected.stake_shared_hash ?? expected.stake_script_hash,
        );
      }
    },
  );

  test.each(walletVectors("shelley-addresses-testnet").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const entropy = mnemonicEntropy(input.mnemonic.split(" "));
      if (!entropy.ok) throw new Error("no mnemonic");
      const root = rootKey(entropy.value);
      const at = (path: string) => key(keyHash(publicKey(derivePath(root, parsePath(path)!).key)));
      const payment = (index: number) => at(`1852H/1815H/0H/0/${index}`);
      const stake = (account: number) => at(`1852H/1815H/${account}H/2/0`);
      const made: Record<string, Address> = {};
      for (const index of [0, 1, 1442]) {
        made[`paymentAddr${index}`] = enterpriseAddress(0, payment(index));
        for (const account of [0, 1]) {
          made[`delegationAddr${index}Stake${account}`] = baseAddress(
            0,
            payment(index),
            stake(account),
          );
        }
      }
      for (const [name, [slot, transaction, certificate]] of Object.entries<[number, number, number]>(input.pointers)) {
        made[`pointerAddr0S${name.slice(1)}`] = pointerAddress(0, payment(0), {
          slot: BigInt(slot),
          transaction: BigInt(transaction),
          certificate: BigInt(certificate),
        });
      }
      expect(Object.fromEntries(Object.entries(made).map(([name, address]) => [name, addressText(address)]))).toEqual(
        expected,
      );
      for (const address of Object.values(made)) expect(must(addressText(address))).toEqual(address);
    },
  );

  test.each(walletVectors("reward-address").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const entropy = mnemonicEntropy(input.mnemonic.split(" "));
      if (!entropy.ok) throw new Error("no mnemonic");
      const stake = keyHash(publicKey(derivePath(rootKey(entropy.value), parsePath(input.path)!).key));
      expect(addressText(rewardAddress(input.networkTag, key(stake)))).toBe(expected.address);
    },
  );

  test.each(walletVectors("byron-random-address", "icarus-address").map((vector) => [vector.id, vector] as const))(
    "%s",
    (_id, { input, expected }) => {
      const address = must(expected.address);
      expect(address).toMatchObject({ kind: "byron", network: 1 });
      expect(addressText(address)).toBe(expected.address);
      expect("byron" in address && address.byron.derivationPath !== undefined).toBe(!input.path.startsWith("44H"));
    },
  );
});

describe("addresses created here", () => {
  const hash = fc.uint8Array({ minLength: 28, maxLength: 28 }).map(toHex);
  const credential = fc.record({ kind: fc.constantFrom("key" as const, "script" as const), hash });
  const network = fc.constantFrom(0 as const, 1 as const);
  /** As large as the ledger stores them: 32 bits, 16, 16. */
  const uint = (bits: bigint) => fc.bigInt({ min: 0n, max: (1n << bits) - 1n });

  test("are decoded from text and bytes, as by another library", () => {
    const pointer = fc.record({ slot: uint(32n), transaction: uint(16n), certificate: uint(16n) });
    const any = fc.oneof(
      fc.tuple(network, credential, credential).map((parts) => baseAddress(...parts)),
      fc.tuple(network, credential).map((parts) => enterpriseAddress(...parts)),
      fc.tuple(network, credential, pointer).map((parts) => pointerAddress(...parts)),
      fc.tuple(network, credential).map((parts) => rewardAddress(...parts)),
      fc.tuple(network, hash).map((parts) => scriptAddress(...parts)),
    );
    fc.assert(fc.property(any, (address) => {
      const text = addressText(address);
      expect(must(text)).toEqual(address);
      expect(readAddressHex(address.hex)).toEqual({ ok: true, value: address });
      const theirs = csl.Address.from_bech32(text);
      expect(theirs.to_hex()).toBe(address.hex);
      expect(theirs.network_id()).toBe(address.network);
      const signer = "payment" in address && address.payment.kind === "key" ? address.payment.hash : undefined;
      expect(paymentKeyHash(address.hex)).toBe(signer);
      expect(parseAddress(text, address.network).ok).toBe(true);
      expect(reason(text, address.network === 0 ? 1 : 0)).toBe("network");
    }));
  });

  test("every change of one character is detected", () => {
    const text = addressText(baseAddress(0, key("ab".repeat(28)), key("cd".repeat(28))));
    for (let i = 0; i < text.length; i++) {
      const other = text.slice(0, i) + (text[i] === "q" ? "p" : "q") + text.slice(i + 1);
      expect(parseAddress(other).ok).toBe(false);
    }
  });
});

describe("refusals", () => {
  const good = enterpriseAddress(0, key("ab".repeat(28)));
  const bytes = fromHex(good.hex);
  const withHeader = (header: number, prefix = "addr_test", body = bytes.subarray(1)) =>
    toBech32(prefix, Uint8Array.of(header, ...body));

  test("each has its reason", () => {
    expect(reason("")).toBe("malformed");
    expect(reason("addr_test1")).toBe("checksum");
    expect(reason("nonsense 0OIl")).toBe("malformed");
    expect(reason(addressText(good).slice(0, -1))).toBe("checksum");
    expect(reason(toBech32("addr", bytes))).toBe("network");
    expect(reason(toBech32("stake_test", bytes))).toBe("prefix");
    expect(reason(toBech32("pool", bytes))).toBe("prefix");
    expect(reason(withHeader(0xe0))).toBe("prefix");
    expect(reason(withHeader(0x62))).toBe("network");
    expect(reason(withHeader(0x90))).toBe("kind");
    expect(reason(withHeader(0xd0))).toBe("kind");
    expect(reason(withHeader(0x60, "addr_test", bytes))).toBe("length");
    expect(reason(withHeader(0x60, "addr_test", bytes.subarray(2)))).toBe("length");
    expect(reason(withHeader(0x00))).toBe("length");
    expect(reason(withHeader(0x40, "addr_test", Uint8Array.of(...bytes.subarray(1), 1, 2)))).toBe("malformed");
    expect(reason(withHeader(0x40, "addr_test", Uint8Array.of(...bytes.subarray(1), 1, 2, 0x83)))).toBe("malformed");
    expect(reason(withHeader(0x40, "addr_test", Uint8Array.of(...bytes.subarray(1), 1, 2, 3, 4)))).toBe("malformed");
    expect(readAddress(new Uint8Array())).toMatchObject({ ok: false, error: { details: { reason: "length" } } });
  });

  test("upper case is bech32, mixed case is not", () => {
    expect(parseAddress(addressText(good).toUpperCase())).toEqual({ ok: true, value: good });
    expect(reason("ADDR" + addressText(good).slice(4))).toBe("checksum");
  });

  test("a Byron address with one character changed, or of another network", () => {
    const byron = "Ae2tdPwUPEYz6ExfbWubiXPB6daUuhJxikMEb4eXRp5oKZBKZwrbJ2k7EZe";
    expect(parseAddress(byron).ok).toBe(true);
    expect(["checksum", "malformed"]).toContain(reason(byron.slice(0, 20) + "z" + byron.slice(21)));
    expect(reason(byron, 0)).toBe("network");
    expect(reason("1".repeat(5000))).toBe("malformed");
  });

  test("arbitrary bytes and texts never throw", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (some) => void readAddress(some)));
    fc.assert(fc.property(fc.string(), (some) => void parseAddress(some)));
  });
});
