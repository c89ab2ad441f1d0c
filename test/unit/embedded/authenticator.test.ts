/** Checks of credentials: what is remembered, and what happens while a password is checked. */
import { createHash } from "node:crypto";
import { hash } from "@node-rs/bcrypt";
import { expect, test } from "vitest";
import { ANYBODY, Authenticator, SERVICE } from "#src/embedded/nats/authenticator.ts";
import type { NatsUser } from "#src/embedded/nats/users.ts";

const rights = { subscribe: { allow: ["a.>"], deny: [] }, publish: { allow: [], deny: [] }, guest: false };
const user = async (name: string, password: string): Promise<NatsUser> => ({
  ...{ name, password: await hash(password, 4), token: undefined, rights, entry: `${name} ${password}` },
});
const login = (name: string, password: string) => ({ kind: "user", user: name, password }) as const;
const always = () => true;

test("tokens and clients without credentials are checked at once", () => {
  const token = `sha256:${createHash("sha256").update("a user's token").digest("hex")}`;
  const one: NatsUser = { name: "a", password: undefined, token, rights, entry: "a" };
  const authenticator = new Authenticator("the token", [one]);
  const check = (text: string) => authenticator.check({ kind: "token", token: text }, "127.0.0.1", always);
  expect(check("the token")).toBe(SERVICE);
  expect(check("a user's token")).toEqual({ rights, user: one });
  expect(check(token)).toBeUndefined();
  expect(authenticator.check({ kind: "none" }, undefined, always)).toBe(ANYBODY);
  expect(authenticator.check({ kind: "other" }, undefined, always)).toBeUndefined();
  expect(authenticator.check(login("a", ""), undefined, always)).toBeUndefined();
});

test("a right password is recognized later without a check, until the entry changes", async () => {
  const [first, second] = [await user("a", "one"), await user("a", "two")];
  const authenticator = new Authenticator("the token", [first]);
  expect(await authenticator.check(login("a", "one"), "127.0.0.1", always)).toEqual({ rights, user: first });
  expect(authenticator.check(login("a", "one"), "127.0.0.1", always)).toEqual({ rights, user: first });
  authenticator.replace([second]);
  expect(authenticator.isCurrent({ rights, user: first })).toBe(false);
  expect(await authenticator.check(login("a", "one"), "127.0.0.1", always)).toBeUndefined();
  authenticator.replace([first]);
  expect(authenticator.check(login("a", "one"), "127.0.0.1", always)).toBeInstanceOf(Promise);
});

test("a user that is removed while its password is checked is refused", async () => {
  const authenticator = new Authenticator("the token", [await user("a", "one")]);
  const checked = authenticator.check(login("a", "one"), "127.0.0.1", always);
  authenticator.replace([]);
  expect(await checked).toBeUndefined();
});

test("of many attempts a bounded number waits, and one whose client is gone is not checked", async () => {
  const authenticator = new Authenticator("the token", [await user("a", "one")]);
  // each from an address of its own, so that none has too many failures
  const attempts = Array.from({ length: 100 }, (_, i) => authenticator.check(login("a", "one"), `10.0.0.${i}`, always));
  expect(attempts.filter((one) => one === undefined)).toHaveLength(100 - 64 - 2);
  await Promise.all(attempts);
  authenticator.replace([await user("b", "two")]);
  expect(await authenticator.check(login("b", "two"), "10.0.1.1", () => false)).toBeUndefined();
  expect(await authenticator.check(login("b", "two"), "10.0.1.1", always)).toMatchObject({ user: { name: "b" } });
});

test("failures are counted by IPv4 address, and by the first half of an IPv6 address", async () => {
  const authenticator = new Authenticator("the token", [await user("a", "one")]);
  const fail = async (address: string) => {
    for (let i = 0; i < 10; i++) await authenticator.check(login("a", "wrong"), address, always);
  };
  const right = (address: string) => authenticator.check(login("a", "one"), address, always);
  await fail("::ffff:10.0.0.1");
  await fail("2001:db8::1");
  expect([right("10.0.0.1"), right("2001:db8::2")]).toEqual([undefined, undefined]);
  expect(await right("10.0.0.2")).toMatchObject({ user: { name: "a" } });
});
