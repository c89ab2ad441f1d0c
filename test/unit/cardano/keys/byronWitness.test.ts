/** Byron wallets on the ledger: their signatures spend, signatures by other keys do not. */
import { readFileSync } from "node:fs";
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { beforeAll, expect, test } from "vitest";
import { concat, fromHex } from "#src/base/bytes.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { byronAddress, byronAttributes, isByronKey, readByron } from "#src/cardano/byron.ts";
import { as, decode, raw } from "#src/cardano/cbor.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { addWitnesses } from "#src/cardano/transaction.ts";
import { byronKeyPaths, byronPathKey, openByronPath, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { descender } from "#src/cardano/keys/master.ts";
import { accountPath } from "#src/cardano/keys/paths.ts";
import { openRoot, publicKeys, signMessages } from "#src/cardano/keys/root.ts";
import { unseal } from "#src/cardano/keys/seal.ts";
import type { OpenedRoot, Path, WalletStyle } from "#src/cardano/keys/types.ts";
import { vectors } from "../../../support/base/vectors.ts";
import { ada, output, World } from "../../../support/ledger/draft.ts";

const style: WalletStyle = "random";
const passphrase = "Secure Passphrase";
const path = [HARD, HARD + 123_456_789];
const soft = [HARD, 7];

interface Owner extends OpenedRoot {
  address(path: Path): Promise<string>;
}

async function owner(): Promise<Owner> {
  const made = await openRoot({ mnemonic: { style, words: newMnemonic(12) }, passphrase, paths: [] });
  if (!made.ok) throw new Error(made.error.message);
  const { sealed, root } = made.value;
  return {
    ...made.value,
    async address(at) {
      const keys = await publicKeys({ style, sealed, passphrase, paths: [at] });
      if (!keys.ok) throw new Error(keys.error.message);
      return randomAddress({ pathKey: byronPathKey(root), path: at, key: keys.value[0]!, magic: 42 });
    },
  };
}

let mine: Owner;
let other: Owner;
beforeAll(async () => {
  [mine, other] = await Promise.all([owner(), owner()]);
});

/** A transaction that spends from an address, signed by a root key at the path in the address. */
async function spend(
  world: World,
  address: string,
  by: Pick<Owner, "sealed">,
  at: Path,
  style: WalletStyle = "random",
): Promise<Uint8Array> {
  const unsigned = world.write({
    inputs: [world.fund(address)],
    keys: [],
    paid: 2n * ada,
    outputs: [output(address, 2n * ada)],
  });
  const [body] = as(decode(unsigned), "array").value;
  const wanted = [{ message: blake2b256(raw(body!)), paths: [at] }];
  const signed = await signMessages({ style, sealed: by.sealed, passphrase, wanted });
  if (!signed.ok) throw new Error(signed.error.message);
  const attributes = byronAttributes(address);
  return addWitnesses(unsigned, { bootstraps: signed.value[0]!.map((signature) => ({ ...signature, attributes })) });
}

test.each([["hard", path], ["soft", soft]])(
  "outputs at an address of a %s path are spent by its wallet alone",
  async (_name, at) => {
    const world = new World();
    const address = await mine.address(at);
    const path = openByronPath(byronPathKey(mine.root), readByron(fromHex(address)).derivationPath!);
    expect(path).toEqual(at);
    expect(openByronPath(byronPathKey(other.root), readByron(fromHex(address)).derivationPath!)).toBeUndefined();
    expect(await world.failures(await spend(world, address, mine, path!))).toEqual([]);
    expect(await world.failures(await spend(world, address, other, path!))).toEqual(["MissingVKeyWitnessesUTXOW"]);
  },
);

interface Recorded {
  readonly case: string;
  readonly mnemonic_sentence: readonly string[];
  readonly address: string;
  readonly account_index: number;
  readonly index_of_the_key: number;
  readonly index_recorded_in_the_address: number;
}
const { cases } = JSON.parse(readFileSync(vectors("byron-mismatched-index.json"), "utf8")) as { cases: Recorded[] };
test.each(cases)("the key of an address whose recorded index may be the soft form: $case", async (recorded) => {
  const made = await openRoot({ mnemonic: { style, words: recorded.mnemonic_sentence }, passphrase, paths: [] });
  if (!made.ok) throw new Error(made.error.message);
  const { sealed, root } = made.value;
  const parsed = parseAddress(recorded.address);
  if (!parsed.ok || parsed.value.kind !== "byron") throw new Error("no Byron address");
  const path = openByronPath(byronPathKey(root), parsed.value.byron.derivationPath!)!;
  expect(path).toEqual([recorded.account_index, recorded.index_recorded_in_the_address]);
  const paths = byronKeyPaths(path);
  const keys = await publicKeys({ style, sealed, passphrase, paths });
  if (!keys.ok) throw new Error(keys.error.message);
  const found = paths.filter((_, i) => {
    const key = fromHex(keys.value[i]!);
    return isByronKey(parsed.value.hex, key.subarray(0, 32), key.subarray(32));
  });
  expect(found).toEqual([[recorded.account_index, recorded.index_of_the_key]]);
});

test("only the soft index of a random wallet's path has another form", () => {
  expect(byronKeyPaths([HARD, HARD + 1])).toEqual([[HARD, HARD + 1]]);
  expect(byronKeyPaths([...accountPath("icarus"), 0, 1])).toEqual([[...accountPath("icarus"), 0, 1]]);
});

test.each(["icarus", "trezor", "ledger"] as const)(
  "outputs of a wallet of the style %s are spent by it alone, with the witness that another library makes",
  async (style) => {
    const at = [...accountPath(style), 1, 5];
    const mine = await openRoot({ mnemonic: { style, words: newMnemonic(24) }, passphrase, paths: [at] });
    if (!mine.ok) throw new Error(mine.error.message);
    const world = new World();
    const address = byronAddress({ key: fromHex(mine.value.keys[0]!), magic: 42 });
    const signed = await spend(world, address, mine.value, at, style);
    expect(await world.failures(signed)).toEqual([]);
    const other = await spend(world, address, mine.value, [...accountPath(style), 1, 6], style);
    expect(await world.failures(other)).toEqual(["MissingVKeyWitnessesUTXOW"]);

    const transaction = csl.FixedTransaction.from_bytes(signed);
    const made = transaction.witness_set().bootstraps()!.get(0);
    const node = await unseal(mine.value.sealed, passphrase);
    const { key, chainCode } = descender(style, node!)(at);
    const theirs = csl.make_icarus_bootstrap_witness(
      transaction.transaction_hash(),
      csl.ByronAddress.from_bytes(fromHex(address)),
      csl.Bip32PrivateKey.from_bytes(concat(key, chainCode)),
    );
    expect(made.to_hex()).toBe(theirs.to_hex());
  },
);

test("an address with a copied path differs from the wallet's by its key", async () => {
  const own = await mine.address(path);
  const derivationPath = fromHex(readByron(fromHex(own)).derivationPath!);
  const forged = byronAddress({ key: fromHex(other.root), magic: 42, derivationPath });
  expect(openByronPath(byronPathKey(mine.root), readByron(fromHex(forged)).derivationPath!)).toEqual(path);
  const keys = await publicKeys({ style, sealed: mine.sealed, passphrase, paths: [path] });
  const key = fromHex(keys.ok ? keys.value[0]! : "");
  expect(isByronKey(own, key.subarray(0, 32), key.subarray(32))).toBe(true);
  expect(isByronKey(forged, key.subarray(0, 32), key.subarray(32))).toBe(false);
});
