/** The default accounts: the addresses and keys that users of Yaci DevKit have in their tests. */
import { expect, test } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { hexAddressText } from "#src/cardano/address.ts";
import { keyHash, publicKey } from "#src/cardano/keys/signingKey.ts";
import { accountAddress, ACCOUNTS_MNEMONIC, devnetAccounts } from "#src/devnet/genesis/accounts.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { newGenesis } from "../../../support/devnet/genesis.ts";

const text = (index: number) => hexAddressText(accountAddress(0, devnetAccounts(20)[index]!));

test("the accounts have the addresses that Yaci DevKit prints", () => {
  expect(ACCOUNTS_MNEMONIC.split(" ")).toEqual([...Array.from({ length: 23 }, () => "test"), "sauce"]);
  expect(text(0)).toBe(
    "addr_test1qryvgass5dsrf2kxl3vgfz76uhp83kv5lagzcp29tcana68ca5aqa6swlq6llfamln09tal7n5kvt4275ckwedpt4v7q48uhex",
  );
  expect(text(1)).toBe(
    "addr_test1qpqy3lufef8c3en9nrnzp2svwy5vy9zangvp46dy4qw23clgfxhn3pqv243d6wptud7fuaj5tjqer7wc7m036gx0emsqaqa8te",
  );
  expect(text(2)).toBe(
    "addr_test1qr9xuxclxgx4gw3y4h4tcz4yvfmrt3e5nd3elphhf00a67xnrv5vjcv6tzehj2nnjj4cth4ndzyuf4asvvkgzeac2hfqk0za93",
  );
});

test("each account has its own keys, and its address is of them", () => {
  const accounts = devnetAccounts(20);
  expect(accounts.map(({ index }) => index)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(new Set(accounts.flatMap(({ payment, stake }) => [payment, stake])).size).toBe(40);
  for (const account of accounts) {
    expect(keyHash(publicKey(account.paymentKey))).toBe(account.payment);
    expect(keyHash(publicKey(account.stakeKey))).toBe(account.stake);
    expect(accountAddress(0, account)).toBe("00" + account.payment + account.stake);
  }
  expect(devnetAccounts(3)).toEqual(accounts.slice(0, 3));
});

test("the genesis has one output for each, with the hash of the address as its transaction", () => {
  const genesis = newGenesis();
  const funded = genesisOutputs(genesis).slice(-20);
  expect(funded.map(({ ref, output }) => [ref.txHash, ref.index, output.address, output.value.lovelace])).toEqual(
    devnetAccounts(20).map((account) => {
      const address = accountAddress(0, account);
      return [hash256(fromHex(address)), 0, address, 10_000_000_000n];
    }),
  );
  expect(genesisOutputs({ ...genesis, accounts: 0 })).toHaveLength(4);
});
