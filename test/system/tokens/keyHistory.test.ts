/** The proven history of a key: a real token's life, read by pages, verified under a policy, and refused where it was changed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TokenReads } from "#src/client/tokenReads.ts";
import { absentDuring, type KeyHistoryPage, verifyKeyHistory } from "#src/client/keyHistory.ts";
import { utf8 } from "#src/base/bytes.ts";
import { vkeyOf } from "#src/tlog/note.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";
import { LoggedTokens, TokenLogReader } from "../../support/tlog/tokenLog.ts";

const DEPTH = 2;

describe("the proven history of a key", () => {
  let infra: Infra;
  let arbor: Arbor;
  let people: LoggedTokens;
  let reads: TokenReads;
  let reader: TokenLogReader;
  let policy: string;
  let token: string;
  let other: string;

  const url = (key: string, query = "") => `/token/${token}/facts/${key}/history?proof=true${query}`;
  const verify = (answer: unknown, key: string, question: object = {}) =>
    verifyKeyHistory(answer, { tokenId: token, key, policy, ...question });
  const spans = (pages: unknown, key: string, question: object = {}) => {
    const found = verify(pages, key, question);
    if (!found.ok) throw new Error(`${found.error.code}: ${found.error.message}`);
    return found.value.versions.map(({ first, last, value }) => [first.seq, last.seq, value]);
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra, blockMs: 0, tokenLog: { origin: "log.example/history", depth: DEPTH } });
    people = new LoggedTokens(arbor.tokens, arbor.devnet);
    reads = new TokenReads(arbor.tokens);
    reader = new TokenLogReader(arbor.tokens);
    await people.fund();
    token = await people.boot();
    other = await people.boot();
    await people.insert(token, "moon", "Luna");
    await people.insert(token, "planet", "Earth");
    await people.insert(other, "planet", "Mars");
    await people.change(token, "update", { key: "planet", oldValue: "Earth", newValue: "Terra" });
    await people.insert(token, "sun", "Sol");
    await people.change(token, "delete", { key: "planet", oldValue: "Terra" });
    await people.insert(token, "star", "Vega");
    await people.insert(token, "planet", "Earth");
    await people.block(DEPTH);
    await reader.until(10);
    policy = `log ${vkeyOf(await reader.key())}\nquorum none\n`;
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  const LIFE = [[0, 1, undefined], [2, 2, "Earth"], [3, 4, "Terra"], [5, 6, undefined], [7, 7, "Earth"]];

  it("has every value with its states, and the states without one", async () => {
    const pages = await reads.provedHistory(token, "planet");
    expect(spans(pages, "planet")).toEqual(LIFE);
    const found = verify(pages, "planet", { from: 0, to: 7, network: 42 });
    expect(found).toMatchObject({ ok: true, value: { token, key: "planet", from: 0, to: 7, absent: false } });
    if (!found.ok) return;
    const { value } = found;
    expect(value.checked[0]).toContain("has the entries 0 to 7 of the token");
    expect(value.checked).toContainEqual(
      expect.stringMatching(
        /^In all states from 3 \(slot \d+\) to 4 \(slot \d+\) the value under the key "planet" is "Terra"/,
      ),
    );
    expect(value.notChecked).toContain("What happened after the token's entry 7; a rollback may have withdrawn it.");
    expect([absentDuring(value, 0, 1), absentDuring(value, 5, 6), absentDuring(value, 1, 2), absentDuring(value, 5, 8)])
      .toEqual([true, true, false, undefined]);
  });

  it("proves that a key was absent in all states", async () => {
    const pages = await reads.provedHistory(token, "comet");
    expect(verify(pages, "comet")).toMatchObject({ ok: true, value: { absent: true, from: 0, to: 7 } });
  });

  it("has spans and pages, all under one checkpoint", async () => {
    for (const [from, to] of [[0, 0], [2, 5], [6, 7], [7, 7]] as const) {
      const inside = LIFE.filter(([first, last]) => Number(last) >= from && Number(first) <= to)
        .map(([first, last, value]) => [Math.max(from, Number(first)), Math.min(to, Number(last)), value]);
      expect(spans(await reads.provedHistory(token, "planet", { from, to }), "planet", { from, to })).toEqual(inside);
    }
    for (const limit of [1, 2, 3, 7, 8]) {
      const pages: KeyHistoryPage[] = [];
      for (let next: string | undefined = url("planet", `&limit=${limit}`); next !== undefined;) {
        const response: Response = await fetch(arbor.tokens + next);
        pages.push(await response.json());
        next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
        // the log grows between two pages
        await people.block();
      }
      expect(pages.map(({ states }) => states.length)).toEqual(
        Array.from({ length: Math.ceil(8 / limit) }, (_, i) => Math.min(limit, 8 - i * limit)),
      );
      expect(spans(pages, "planet", { from: 0, to: 7 })).toEqual(LIFE);
      if (pages.length > 1) {
        expect(verify(pages.slice(0, -1), "planet", { to: 7 })).toMatchObject({ error: { code: "incomplete" } });
        expect(verify(pages.slice(1), "planet")).toMatchObject({ error: { code: "incomplete" } });
        expect(verify(pages.toReversed(), "planet")).toMatchObject({ error: { code: "incomplete" } });
      }
    }
  });

  it("is refused for another token, key, network, span or log", async () => {
    const pages = await reads.provedHistory(token, "planet");
    const wrong: readonly (readonly [object, string])[] = [
      [{ tokenId: other }, "other_question"],
      [{ key: "moon" }, "other_question"],
      [{ network: 1 }, "other_question"],
      [{ policyId: "00".repeat(28) }, "other_question"],
      [{ from: 1 }, "incomplete"],
      [{ to: 6 }, "incomplete"],
      [{ to: 8 }, "incomplete"],
      [{ policy: "quorum none\n" }, "not_logged"],
      [{ policy: "" }, "bad_policy"],
    ];
    for (const [question, code] of wrong) {
      expect(verify(pages, "planet", question), JSON.stringify(question)).toMatchObject({ ok: false, error: { code } });
    }
    const foreign = await reads.provedHistory(other, "planet");
    expect(verify(foreign.map((page) => ({ ...page, tokenId: token })), "planet")).toMatchObject({
      error: { code: "not_logged" },
    });
  });

  it("is written to a file and verified by the command line, which needs no service for that", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "arbor-history-"));
    try {
      const file = (name: string, text: string) => {
        writeFileSync(path.join(folder, name), text);
        return path.join(folder, name);
      };
      const written = await runCli(["token", "history", token, "planet", "--offline", "--from", "2"], {
        env: { ARBOR_TOKENS_URL: arbor.tokens },
      });
      expect(written).toMatchObject({ code: 0, stderr: "" });
      const read = (name: string) =>
        runCli(["verify", name, "--policy", file("policy.txt", policy)], {
          env: { ARBOR_TOKENS_URL: "http://127.0.0.1:1" },
        });
      const { code, stdout } = await read(file("history.json", written.stdout));
      expect(code).toBe(0);
      expect(stdout).toContain(`has the entries 2 to 7 of the token ${token}`);
      expect(stdout).toMatch(/In the state 2 \(slot \d+\) the value under the key "planet" is "Earth"/);
      const content = JSON.parse(written.stdout);
      content.pages[0].states.splice(1, 1);
      expect(await read(file("lie.json", JSON.stringify(content)))).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("(not_logged)"),
      });
      expect(await runCli(["token", "history", token, "--offline"], { env: {} })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("(bad_options)"),
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("has keys in every encoding", async () => {
    const hex = await reads.provedHistory(token, utf8("planet"));
    expect(spans(hex, "planet")).toEqual(LIFE);
    const { body } = await http(arbor.tokens, "GET", url(hex[0]!.path, "&encoding=digest"));
    expect(spans(body, "planet")).toEqual(LIFE);
    const empty = await http(arbor.tokens, "GET", `/token/${token}/facts//history?proof=true`);
    expect(verify(empty.body, "")).toMatchObject({ ok: true, value: { absent: true } });
  });

  it.each([
    ["&from=-1", 400],
    ["&from=x", 400],
    ["&from=1e3", 400],
    ["&from=3&to=2", 400],
    ["&from=9999999999999999", 400],
    ["&limit=0", 400],
    ["&limit=1001", 400],
    ["&after=x", 400],
    ["&after=eyJuZXh0IjowfQ", 400],
    ["&encoding=digest", 400],
    ["&from=8", 404],
    ["&to=8", 404],
    ["&to=999999999999999", 404],
  ])("answers %s with %i", async (query, status) => {
    expect((await http(arbor.tokens, "GET", url("planet", query))).status).toBe(status);
  });

  it("refuses a span without a proof, a token that is none, and a cursor of a checkpoint that is none", async () => {
    expect(await http(arbor.tokens, "GET", `/token/${token}/facts/planet/history?from=0`)).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(await http(arbor.tokens, "GET", `/token/${"ab".repeat(32)}/facts/planet/history?proof=true`))
      .toMatchObject({ status: 404, body: { code: "token_unknown" } });
    const cursor = btoa(JSON.stringify({ next: 1, to: 7, size: 4_000_000 }));
    expect(await http(arbor.tokens, "GET", url("planet", `&after=${cursor}`))).toMatchObject({
      status: 409,
      body: { code: "rolled_back" },
    });
  });

  it("has the state that a rollback gave the token, and its end", async () => {
    const { slot } = verifiedLast(await reads.provedHistory(token, "planet"));
    const rolled = await http(arbor.devnet, "POST", "/rollback", { slot: slot - 1, drop: true });
    expect(rolled.status).toBe(200);
    await until("the state is in the log again", async () => {
      await people.block();
      const entries = await reader.entries();
      return entries.filter((leaf) => leaf.kind === "rollback").length === 1 &&
        entries.some((leaf) => leaf.kind === "update" && leaf.token === token && leaf.seq === 9 && leaf.slot > slot);
    });
    await people.end(token);
    await people.block(DEPTH);
    await until("the end", async () => (await reader.entries()).some(({ kind }) => kind === "end"));
    const pages = await reads.provedHistory(token, "planet");
    expect(spans(pages, "planet")).toEqual([...LIFE.slice(0, -1), [9, 9, "Earth"]]);
    const found = verify(pages, "planet");
    expect(found).toMatchObject({ ok: true, value: { to: 10, end: { seq: 10 } } });
    expect(verifiedLast(pages).slot).toBeGreaterThan(slot);
    expect(spans(await reads.provedHistory(token, "planet", { from: 10 }), "planet", { from: 10 })).toEqual([]);
    // a span may begin with what was withdrawn, and not end with it
    expect(spans(await reads.provedHistory(token, "planet", { from: 7 }), "planet", { from: 7 }))
      .toEqual([[9, 9, "Earth"]]);
    expect((await http(arbor.tokens, "GET", url("planet", "&to=7"))).status).toBe(404);
  });

  function verifiedLast(pages: unknown) {
    const found = verify(pages, "planet");
    if (!found.ok) throw new Error(found.error.message);
    return found.value.versions.at(-1)!.last;
  }
});
