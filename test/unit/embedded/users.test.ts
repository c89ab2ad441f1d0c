/** The users of a NATS endpoint: what an entry may be, and which problem is reported. */
import { expect, test } from "vitest";
import { parseUsers } from "#src/embedded/nats/users.ts";
import { blocksOf, readPage } from "../../support/docs/pages.ts";

const HASH = "$2b$04$" + "a".repeat(53);
const TOKEN = "sha256:" + "0".repeat(64);

/** The problem of a file with these entries, or the users. */
const read = (entries: unknown) => {
  const parsed = parseUsers(JSON.stringify(entries));
  return "problem" in parsed ? parsed.problem : parsed.users;
};

test("an entry has a name, a password or token, and subjects; what is not stated is not allowed", () => {
  expect(read([
    { user: "audit", password: HASH, subscribe: { allow: ["arbor.>"], deny: ["arbor.worker.*"] } },
    { user: "shop", token: TOKEN, publish: { allow: ["shop.>"] } },
  ])).toEqual([
    {
      name: "audit",
      password: HASH,
      token: undefined,
      rights: {
        subscribe: { allow: ["arbor.>"], deny: ["arbor.worker.*"] },
        publish: { allow: [], deny: [] },
        guest: false,
      },
      entry: expect.any(String),
    },
    {
      name: "shop",
      password: undefined,
      token: TOKEN,
      rights: { subscribe: { allow: [], deny: [] }, publish: { allow: ["shop.>"], deny: [] }, guest: false },
      entry: expect.any(String),
    },
  ]);
  expect(read([])).toEqual([]);
});

const NOT_A_HASH = "must be a bcrypt hash ($2a$…, $2b$… or $2y$…), not the password itself";
const NOT_A_SUBJECT = "must be a NATS subject in ASCII, in which * is one token and > the rest";

test.each([
  ["no list", { user: "a" }, "the file: Invalid input: expected array, received object"],
  ["no name", [{ password: HASH }], "entry 1, user: Invalid input: expected string, received undefined"],
  ["no credentials", [{ user: "a" }], 'entry 1 ("a"): must have a password or a token'],
  [
    "a plain password",
    [{ user: "b", token: TOKEN }, { user: "a", password: "hunter2" }],
    `entry 2 ("a"), password: ${NOT_A_HASH}`,
  ],
  ["another hash", [{ user: "a", password: HASH.replace("2b", "2x") }], `entry 1 ("a"), password: ${NOT_A_HASH}`],
  [
    "too high a cost",
    [{ user: "a", password: HASH.replace("04", "15") }],
    'entry 1 ("a"), password: must have a cost of at most 14',
  ],
  [
    "a plain token",
    [{ user: "a", token: "secret" }],
    'entry 1 ("a"), token: must be sha256: and the SHA-256 of the token in hex, not the token itself',
  ],
  [
    "an invalid subject",
    [{ user: "a", token: TOKEN, subscribe: { allow: ["a.b", "a..b"] } }],
    `entry 1 ("a"), subscribe.allow.1: ${NOT_A_SUBJECT}`,
  ],
  [
    "a queue in a subject",
    [{ user: "a", token: TOKEN, publish: { deny: ["a queue"] } }],
    `entry 1 ("a"), publish.deny.0: ${NOT_A_SUBJECT}`,
  ],
  ["an unknown member", [{ user: "a", token: TOKEN, admin: true }], 'entry 1 ("a"): Unrecognized key: "admin"'],
  [
    "two of one name",
    [{ user: "a", token: TOKEN }, { user: "a", password: HASH }],
    'entry 2 ("a"), user: entry 1 has the same user',
  ],
  [
    "two with one token",
    [{ user: "a", token: TOKEN }, { user: "b", token: TOKEN }],
    'entry 2 ("b"), token: entry 1 has the same token',
  ],
])("%s is refused, and the entry is named", (_, entries, problem) => {
  expect(read(entries)).toBe(problem);
});

test("the example of the documentation is valid", () => {
  const [example] = blocksOf(readPage("docs/deployment.md")).filter(({ language }) => language === "json");
  expect(parseUsers(example!.code)).toMatchObject({ users: [{ name: "audit" }, { name: "shop" }] });
});

test("what is not JSON is refused, and not repeated", () => {
  expect(parseUsers('[{"password":"hunter2"')).toEqual({ problem: "it is not JSON" });
});
