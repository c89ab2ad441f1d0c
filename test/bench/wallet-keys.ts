/**
 * Keys of wallets: the cost of a passphrase, and bulk derivation compared with single derivation and with libsodium.
 */
import process from "node:process";
import sodium from "libsodium-wrappers-sumo";
import { silentLog } from "#src/base/log.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { deriveCredentialsInThreads } from "#src/wallets/builds/credentials.ts";
import { derivePublic, type PublicNode, rootKey, toPublic } from "#src/cardano/keys/derivation.ts";
import { hash224, initHash } from "#src/cardano/hash.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { readXpub, writeXpub } from "#src/cardano/keys/account.ts";
import { deriveCredentials } from "#src/cardano/keys/bulk.ts";
import { accountPath } from "#src/cardano/keys/paths.ts";
import { table } from "./machine.ts";

const account = writeXpub(toPublic(rootKey(new Uint8Array(16))));
const soon = () => ({ deadline: Date.now() + 600_000 });

/** Hash of a soft child's key, by the functions of libsodium. */
function bySodium({ key, chainCode }: PublicNode, index: number): string {
  const message = new Uint8Array(37);
  message[0] = 2;
  message.set(key, 1);
  new DataView(message.buffer).setUint32(33, index, true);
  const z = sodium.crypto_auth_hmacsha512(message, chainCode);
  const scalar = new Uint8Array(32);
  for (let i = 0, carry = 0; i <= 28; i++) {
    const shifted = (i < 28 ? z[i]! << 3 : 0) | carry;
    scalar[i] = shifted;
    carry = shifted >> 8;
  }
  return hash224(sodium.crypto_core_ed25519_add(key, sodium.crypto_scalarmult_ed25519_base_noclamp(scalar)));
}

async function bulk(print: (line: string) => void): Promise<void> {
  const count = process.argv.includes("--quick") ? 500 : 2_000;
  const parent = derivePublic(readXpub(account)!, 0);
  const ways: readonly [string, () => void | Promise<unknown>][] = [
    ["one by one (noble)", () => {
      for (let i = 0; i < count; i++) hash224(derivePublic(parent, i).key);
    }],
    ["one by one (libsodium)", () => {
      for (let i = 0; i < count; i++) bySodium(parent, i);
    }],
    ["in bulk (noble and tables)", () => deriveCredentials({ account, role: 0, from: 0, count })],
  ];
  const best = new Map<string, number>();
  for (let round = 0; round < 4; round++) {
    for (const [name, work] of ways) {
      const start = performance.now();
      await work();
      best.set(name, Math.min(best.get(name) ?? Infinity, (performance.now() - start) * 1_000 / count));
    }
  }
  const rows = [...best].map(([name, each]) => [name, each.toFixed(0)]);
  table(["keys of a role", "µs each, the best of four rounds"], rows).forEach((line) => print(line));
}

async function threads(print: (line: string) => void): Promise<void> {
  const builders = startBuilders({ threads: 1, log: silentLog });
  const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const start = performance.now();
    return [await work(), performance.now() - start];
  };
  const passphrase = "Secure Passphrase";
  const open = () =>
    builders.run("openRoot", {
      mnemonic: { style: "shelley", words: newMnemonic(24) },
      passphrase,
      paths: [accountPath("shelley")],
    }, soon());
  await open();
  const [opened, opening] = await timed(open);
  if (!opened.ok) throw new Error(opened.error.message);
  const { sealed } = opened.value;
  const rows: (string | number)[][] = [["from words to a sealed root key", opening.toFixed(0)]];
  for (const count of [1, 100]) {
    const paths = Array.from({ length: count }, (_, i) => [...accountPath("shelley"), 0, i]);
    const sign = () =>
      builders.run("signMessages", {
        style: "shelley",
        sealed,
        passphrase,
        wanted: [{ message: new Uint8Array(32), paths }],
      }, soon());
    await sign();
    rows.push([
      `open it and sign under ${count === 1 ? "one key" : `${count} keys`}`,
      (await timed(sign))[1].toFixed(0),
    ]);
  }
  const keys = process.argv.includes("--quick") ? 4_000 : 200_000;
  const derive = deriveCredentialsInThreads(builders);
  const [, deriving] = await timed(() =>
    Promise.all(
      ([0, 1] as const).map((role) => derive({ wallet: "", kind: "shelley", account, role, from: 0, count: keys / 2 })),
    )
  );
  rows.push([`credentials of both roles, ${keys.toLocaleString("en")} in all`, deriving.toFixed(0)]);
  table(["in one builder thread", "ms"], rows).forEach((line) => print(line));
  await builders.stop();
}

/** Prints the costs of keys. */
export async function benchWalletKeys(print: (line: string) => void = console.log): Promise<void> {
  await Promise.all([sodium.ready, initHash()]);
  await bulk(print);
  print("");
  await threads(print);
}
