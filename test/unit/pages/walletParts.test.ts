/** Pure parts of the wallet page: histories, rules of shared wallets, invitations, and what is typed into forms. */
import { describe, expect, it } from "vitest";
import { writeKey } from "#src/cardano/keys/keyText.ts";
import { newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import type { Transaction } from "#src/client/wallets.ts";
import { invitationText, isAccountKey, readInvitation } from "#src/pages/wallet/invitation.ts";
import { isSatisfied, ownersIn, ruleOf, scriptWords, timedRule } from "#src/pages/wallet/scripts.ts";
import { csvOf } from "#src/pages/wallet/csv.ts";
import { accountKeyIn } from "#src/pages/wallet/watch.tsx";
import { governanceWords } from "#src/pages/wallet/governanceWords.ts";
import {
  assetChanges,
  hasText,
  matchingPage,
  messageOf,
  PAGE,
  paymentsOf,
  purposeOf,
} from "#src/pages/wallet/transactions.ts";

it("reads an account's key as it was copied, with the line ends of a message", () => {
  const key = "0123456789abcdef".repeat(8);
  expect(accountKeyIn(`  ${key.slice(0, 64)}\r\n${key.slice(64).toUpperCase()}\n`)).toBe(key);
  expect(accountKeyIn(key.slice(1))).toBeUndefined();
});

const path = ["1852H", "1815H", "0H", "0", "0"];
const amount = { quantity: 1, unit: "lovelace" as const };
const asset = (quantity: number) => ({ policy_id: "aa".repeat(28), asset_name: "01", quantity });
const transaction = (more: object): Transaction => ({
  id: "00".repeat(32),
  direction: "outgoing",
  status: "in_ledger",
  inputs: [],
  outputs: [],
  certificates: [],
  withdrawals: [],
  mint: { tokens: [] },
  burn: { tokens: [] },
  ...more,
} as unknown as Transaction);

describe("a history as CSV", () => {
  const lovelace = (quantity: number | bigint) => ({ quantity, unit: "lovelace" as const });
  const listed = (more: object) =>
    transaction({
      amount: lovelace(1_500_000),
      fee: lovelace(170_000),
      deposit_taken: lovelace(0),
      deposit_returned: lovelace(0),
      ...more,
    });
  const rows = (...more: object[]) => csvOf(more.map(listed)).split("\r\n").slice(1, -1);

  it("has numbers without groups, signs, and the time in UTC", () => {
    const inserted_at = { time: "2026-11-30T10:00:00Z", height: { quantity: 12 } };
    expect(rows(
      { inserted_at, deposit_taken: lovelace(2_000_000) },
      {
        direction: "incoming",
        amount: lovelace(45_000_000_000_000_001n),
        pending_since: { time: "T" },
        status: "pending",
      },
    )).toEqual([
      `2026-11-30T10:00:00Z,${"00".repeat(32)},in_ledger,Sent to itself,-1.500000,0.170000,2.000000,12,,`,
      `T,${"00".repeat(32)},pending,Received,45000000000.000001,,,,,`,
    ]);
    expect(csvOf([])).toBe("time,transaction,status,purpose,ada,fee_ada,deposit_ada,block,message,tokens\r\n");
  });

  it("quotes what would end a field, and makes no formula of a message", () => {
    const message = (...msg: string[]) => rows({ metadata: { 674: { msg } } })[0]!.slice(`,${"00".repeat(32)}`.length);
    const start = ",in_ledger,Sent to itself,-1.500000,0.170000,0.000000,,";
    expect(message('say "hi", now')).toBe(`${start}"say ""hi"", now",`);
    expect(message("a", "\nb")).toBe(`${start}"a\nb",`);
    for (const first of "=+-@\t") expect(message(`${first}1`)).toBe(`${start}'${first}1,`);
    expect(message("\r=1")).toBe(`${start}"'\r=1",`);
    expect(message('=HYPERLINK("x")')).toBe(`${start}"'=HYPERLINK(""x"")",`);
    expect(message("1-1")).toBe(`${start}1-1,`);
  });

  it("names tokens by their ids, with what changed", () => {
    const outputs = [{ derivation_path: path, assets: [asset(5), { ...asset(2), asset_name: "02" }] }];
    expect(rows({ outputs })[0]).toMatch(new RegExp(`,(aa){28}01 5; (aa){28}02 2$`));
  });
});

describe("a transaction of the history", () => {
  it.each([
    [{ 674: { msg: ["Thanks", "again"] } }, ["Thanks", "again"]],
    [{ 674: { msg: "Thanks" } }, undefined],
    [{ 674: { msg: [1] } }, undefined],
    [{ 674: { msg: ["Thanks"], enc: "basic" } }, undefined],
    [{ 674: { msg: ["Thanks"] }, 1: "more" }, undefined],
    [{ 674: null }, undefined],
    [null, undefined],
  ])("has a message where that is all of its metadata: %j", (metadata, lines) => {
    expect(messageOf(metadata)).toEqual(lines);
  });

  it("says what the wallet gained and lost of its tokens", () => {
    const key = "aa".repeat(28) + "01";
    const changes = (inputs: number, outputs: number) =>
      assetChanges(transaction({
        inputs: [{ derivation_path: path, assets: [asset(inputs)] }, { assets: [asset(9)] }],
        outputs: [{ derivation_path: path, assets: [asset(outputs)] }, { assets: [asset(8)] }],
      }));
    expect([...changes(5, 2)]).toEqual([[key, -3n]]);
    expect([...changes(2, 5)]).toEqual([[key, 3n]]);
    expect(changes(5, 5).size).toBe(0);
  });

  it("has a purpose in a word", () => {
    const purpose = (more: object) => purposeOf(transaction(more));
    expect(purpose({ direction: "incoming" })).toBe("Received");
    expect(purpose({ outputs: [{ amount }] })).toBe("Sent");
    expect(purpose({ outputs: [{ amount, derivation_path: path }] })).toBe("Sent to itself");
    expect(purpose({ withdrawals: [{ amount }], direction: "incoming" })).toBe("Withdrew rewards");
    expect(purpose({ certificates: [{ certificate_type: "join_pool" }] })).toBe("Joined a pool");
    expect(purpose({ certificates: [{ certificate_type: "cast_vote" }] })).toBe("Delegated the vote");
    expect(purpose({ mint: { tokens: [{}] } })).toBe("Minted tokens");
    expect(purpose({ votes: [{}] })).toBe("Voted");
    expect(purpose({ proposals: [{}] })).toBe("Proposed a governance action");
    expect(purpose({ certificates: [{ certificate_type: "register_drep" }, { certificate_type: "cast_vote" }] })).toBe(
      "Became a representative",
    );
  });

  it("says what it does in governance, and for whom where that is not the wallet", () => {
    const words = governanceWords(transaction({
      certificates: [
        { certificate_type: "register_drep", drep: "drep1own", drep_path: path },
        { certificate_type: "update_drep", drep: "drep1other" },
        { certificate_type: "authorize", committee_cold: "cc_cold1", committee_hot: "cc_hot1" },
        { certificate_type: "cast_vote", vote: "abstain" },
      ],
      votes: [
        { voter_role: "drep", voter: "drep1own", derivation_path: path, action: "gov_action1a", vote: "yes" },
        { voter_role: "pool", voter: "pool1", action: "gov_action1a", vote: "abstain" },
      ],
      proposals: [
        { id: "gov_action1b", action: "treasury", return_account: "stake1", return_account_path: path },
        { id: "gov_action1c", action: "info", return_account: "stake1" },
      ],
    }));
    expect(words).toEqual([
      "Registers this wallet as a representative",
      "Replaces the metadata of the representative drep1other",
      "Names the voting key of the committee member cc_cold1",
      "Yes on gov_action1a",
      "As the pool pool1: Abstain on gov_action1a",
      "Proposes payments from the treasury (gov_action1b); the deposit returns to this wallet's rewards",
      "Proposes an opinion (gov_action1c); the deposit returns to stake1",
    ]);
    expect(governanceWords(transaction({}))).toEqual([]);
  });

  it("can be paid again to the others, without its change", () => {
    const outputs = [{ address: "addr1a", amount, assets: [asset(3)] }, {
      address: "addr1b",
      amount,
      derivation_path: path,
    }];
    expect(paymentsOf(transaction({ outputs }))).toEqual([
      { address: "addr1a", lovelace: 1n, assets: [{ asset: "aa".repeat(28) + "01", quantity: 3n }] },
    ]);
  });

  it("has the text of its id, of an address and of a token", () => {
    const one = transaction({ outputs: [{ address: "addr_test1xyz", amount, assets: [asset(1)] }] });
    for (const text of ["0000", "test1XYZ", "aaaa"]) expect(hasText(one, text)).toBe(true);
    expect(hasText(one, "nothing")).toBe(false);
  });
});

describe("a page of matching transactions", () => {
  const history = Array.from(
    { length: 500 },
    (_, i) => transaction({ id: `${i}`, outputs: [{ address: i % 10 === 0 ? "addr1ten" : "addr1other", amount }] }),
  );
  const readPage = (after: string | undefined) => {
    const from = Number(after ?? 0);
    const entries = history.slice(from, from + 20);
    return Promise.resolve({ entries, after: from + 20 < history.length ? `${from + 20}` : undefined });
  };

  it("leaves none out and shows none twice, with a text and without", async () => {
    for (const text of ["", "ten"]) {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await matchingPage(readPage, text, after);
        if (page.after !== undefined) expect(page.entries.length).toBeGreaterThanOrEqual(PAGE);
        seen.push(...page.entries.map(({ id }) => id));
        after = page.after;
      } while (after !== undefined);
      expect(seen).toEqual(
        history.filter((one) => text === "" || hasText(one, text)).map(({ id }) => id),
      );
    }
  });

  it("ends after a number of reads where nothing matches, and goes on from there", async () => {
    let reads = 0;
    const endless = (after: string | undefined) => {
      reads++;
      return Promise.resolve({ entries: history.slice(1, 3), after: `${Number(after ?? 0) + 1}` });
    };
    const page = await matchingPage(endless, "ten", undefined);
    expect([page.entries, page.after]).toEqual([[], `${reads}`]);
    expect(reads).toBeLessThan(100);
  });
});

describe("the rule of a shared wallet", () => {
  it("is said in words", () => {
    expect(scriptWords(ruleOf(2, 2))).toBe("all of: Owner 1, Owner 2");
    expect(scriptWords(ruleOf(3, 1))).toBe("any of: Owner 1, Owner 2, Owner 3");
    expect(scriptWords(ruleOf(3, 2))).toBe("2 of 3: Owner 1, Owner 2, Owner 3");
    expect(scriptWords({ all: ["cosigner#0", { any: ["cosigner#1", { active_from: 5 }] }] })).toBe(
      "all of: Owner 1, (any of: Owner 2, from slot 5 on)",
    );
    expect(scriptWords({ all: ["cosigner#0", { active_until: 9 }] }, (slot) => `day ${slot}`)).toBe(
      "Owner 1; only before day 9",
    );
    expect(scriptWords(timedRule(2, 2, { kind: "fewer", slot: 7, needed: 1 }))).toBe(
      "(all of: Owner 1, Owner 2) or (any of: Owner 1, Owner 2; only from slot 7 on)",
    );
  });

  it("has times", () => {
    expect(timedRule(2, 2, { kind: "from", slot: 7 })).toEqual({
      all: ["cosigner#0", "cosigner#1", { active_from: 7 }],
    });
    expect(timedRule(2, 1, { kind: "until", slot: 7 })).toEqual({
      all: [{ any: ["cosigner#0", "cosigner#1"] }, { active_until: 7 }],
    });
    const fewer = timedRule(3, 3, { kind: "fewer", slot: 7, needed: 2 });
    const two = new Set(["cosigner#0", "cosigner#2"]);
    expect(isSatisfied(fewer, new Set([...two, "cosigner#1"]))).toBe(true);
    expect(isSatisfied(fewer, two)).toBe(false);
    expect(isSatisfied(fewer, two, { validFrom: 6 })).toBe(false);
    expect(isSatisfied(fewer, two, { validFrom: 7 })).toBe(true);
    expect(isSatisfied(fewer, new Set(["cosigner#0"]), { validFrom: 7 })).toBe(false);
    const ending = { any: [{ all: ["cosigner#0", { active_until: 7 }] }] };
    const ended = (validTo: number | undefined) => isSatisfied(ending, new Set(["cosigner#0"]), { validTo });
    expect([ended(undefined), ended(8), ended(7)]).toEqual([false, false, true]);
  });

  it("is satisfied by enough owners", () => {
    const signed = (...owners: number[]) => new Set(owners.map((one) => `cosigner#${one}`));
    expect(isSatisfied(ruleOf(2, 2), signed(0))).toBe(false);
    expect(isSatisfied(ruleOf(2, 2), signed(0, 1))).toBe(true);
    expect(isSatisfied(ruleOf(3, 1), signed(2))).toBe(true);
    expect(isSatisfied(ruleOf(3, 2), signed(2))).toBe(false);
    expect(isSatisfied(ruleOf(3, 2), signed(2, 0))).toBe(true);
    expect(isSatisfied({ any: ["cosigner#0", { all: ["cosigner#1", "cosigner#2"] }] }, signed(1))).toBe(false);
  });

  it("travels in an invitation, which accepts nothing else", () => {
    const node = { key: publicKey(newSeed()), chainCode: new Uint8Array(32) };
    const key = writeKey("acct_shared_xvk", { form: "publicNode", node });
    expect(isAccountKey(key)).toBe(true);
    expect(isAccountKey("acct_xvk1qqqq")).toBe(false);
    const invitation = { name: "Club", rule: ruleOf(3, 2), delegates: true, keys: { "cosigner#0": key } };
    expect(readInvitation(invitationText(invitation))).toEqual(invitation);
    expect(ownersIn(invitation.rule)).toEqual(["cosigner#0", "cosigner#1", "cosigner#2"]);
    const written = JSON.parse(invitationText(invitation))["arbor-shared-wallet-1"];
    const changed = (more: object) =>
      readInvitation(JSON.stringify({ "arbor-shared-wallet-1": { ...written, ...more } }));
    expect(changed({ keys: { "cosigner#9": key } })).toBeUndefined();
    expect(changed({ keys: { "cosigner#0": "acct_xvk1" } })).toBeUndefined();
    expect(changed({ rule: { all: ["someone"] } })).toBeUndefined();
    expect(changed({ rule: { all: [] } })).toBeUndefined();
    for (const text of ["", "{}", "null", "[]", "no JSON"]) expect(readInvitation(text)).toBeUndefined();
  });
});
