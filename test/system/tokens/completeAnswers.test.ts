/**
 * Answers with the proof that nothing was left out, verified against the root of a second instance; and an instance that
 * leaves something out, shows an old state, or proves something else.
 */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fromUtf8, toHex, utf8 } from "#src/base/bytes.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { verifyRequestSet, verifyTokenFacts, verifyTokenList, verifyTokenState } from "#src/client/ledgerAnswers.ts";
import { fetchTrustedRoot, type TrustedRoot } from "#src/client/ledgerRoot.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { type FalsifyingProxy, startFalsifyingProxy } from "../../support/infra/falsifyingProxy.ts";
import { inBrowserContext } from "../../support/pages/browserModule.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { http } from "../../support/service/user.ts";
import { LoggedTokens } from "../../support/tlog/tokenLog.ts";
import { withoutOutput } from "../../support/tokens/omitted.ts";
import { until } from "../../support/base/until.ts";

function valueOf<T>(result: Result<T, Failure>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

describe("complete answers", () => {
  let infra: Infra;
  let arbor: Arbor;
  let people: LoggedTokens;
  let proxy: FalsifyingProxy;
  let honest: TokenClient;
  let lying: TokenClient;
  let [first, second]: [string, string] = ["", ""];
  /** Open requests for a new fact of the first token, and of the second. */
  let [open, others]: [string, string] = ["", ""];
  // deno-lint-ignore no-explicit-any
  let past: Record<string, any>;

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra, blockMs: 0 });
    [honest, proxy] = [new TokenClient(arbor.tokens), await startFalsifyingProxy(arbor.tokens)];
    lying = new TokenClient(proxy.url);
    people = new LoggedTokens(arbor.tokens, arbor.devnet);
    await people.fund();
    [first, second] = [await people.boot(), await people.boot()];
    await people.insert(first, "planet", "Earth");
    past = {
      state: await honest.provedToken(first),
      facts: await honest.provedFacts(first),
      tokens: await honest.provedTokens(),
    };
    await people.insert(first, "moon", "Luna");
    [open, others] = [await people.request(first, "star", "Sun"), await people.request(second, "comet", "Halley")];
  });
  beforeEach(() => {
    proxy.falsify = undefined;
  });
  afterAll(async () => {
    await proxy?.stop();
    await arbor?.end();
    await infra?.stop();
  });

  /** The root after the block of an answer, from the devnet as the second instance. */
  const anchor = async (answer: unknown): Promise<TrustedRoot> =>
    valueOf(await fetchTrustedRoot(answer, { instances: [arbor.devnet] }));

  it("lists all tokens, a state, all open requests and all facts, each by the outputs alone", async () => {
    const listed = await honest.provedTokens();
    const list = valueOf(verifyTokenList(listed, { trusted: await anchor(listed) }));
    expect(list.tokens.map(({ tokenId }) => tokenId).sort()).toEqual([first, second].sort());
    const { tokens } = await honest.tokens();
    for (const { tokenId, owner, root, outputRefId } of tokens) {
      expect(list.tokens).toContainEqual(expect.objectContaining({ tokenId, owner, root, outputRefId }));
    }
    expect(list.checked).toEqual([
      expect.stringMatching(
        /^The response is of the block [0-9a-f]{64} in slot \d+, after which the root of all unspent outputs was [0-9a-f]{64} by 1 other source\.$/,
      ),
      "4 outputs are all that the addresses of the 3 versions of the contract had after it.",
      "2 of them are states of tokens: each holds one asset of the contract, and owner and root are in its datum.",
    ]);
    expect(list.notChecked[0]).toBe(
      `Whether the trusted root is that of the ledger: it rests on ${arbor.devnet}.`,
    );

    const shown = await honest.provedToken(first);
    const state = valueOf(verifyTokenState(shown, { tokenId: first, trusted: await anchor(shown) }));
    expect(state.token).toEqual(list.tokens.find(({ tokenId }) => tokenId === first));

    const asked = await honest.provedRequests(first);
    const { requests } = valueOf(verifyRequestSet(asked, { tokenId: first, trusted: await anchor(asked) }));
    expect(requests.map(({ outputRefId, key, operation }) => [outputRefId, fromUtf8(key), operation])).toEqual([
      [`${open}-0`, "star", { type: "insert", value: utf8("Sun") }],
    ]);
    const [said] = (await http(arbor.tokens, "GET", `/token/${first}/requests`)).body.requests;
    expect(requests[0]).toMatchObject({ refundAddress: said.refundAddress, fee: BigInt(said.fee) });

    const given = await honest.provedFacts(first);
    const facts = valueOf(verifyTokenFacts(given, { tokenId: first, trusted: await anchor(given) }));
    expect(new Map([...facts.facts].sort())).toEqual(
      new Map(
        [["planet", "Earth"], ["moon", "Luna"]].map((pair) => pair.map((text) => toHex(utf8(text!))))
          .sort() as [string, string][],
      ),
    );
    expect(facts.checked.at(-1)).toBe(
      `2 facts have the root ${state.token.root} together: none is missing, added or changed.`,
    );
  });

  it("proves that a token has no facts, and that there is no request of an unknown one", async () => {
    const facts = await honest.provedFacts(second);
    expect(valueOf(verifyTokenFacts(facts, { tokenId: second, trusted: await anchor(facts) })).facts.size).toBe(0);
    const asked = await honest.provedRequests("ab".repeat(32));
    const verified = verifyRequestSet(asked, { tokenId: "ab".repeat(32), trusted: await anchor(asked) });
    expect(valueOf(verified).requests).toEqual([]);
    expect(await http(arbor.tokens, "GET", `/token/${"ab".repeat(32)}?proof=true`)).toMatchObject({
      status: 404,
      body: { code: "token_unknown" },
    });
  });

  it("finds an instance that omits a token", async () => {
    proxy.falsify = ({ path }, answer) =>
      Promise.resolve(path.startsWith("/tokens") ? withoutOutput(answer, "tokens", stateRef) : undefined);
    const stateRef = (await honest.token(second)).outputRefId;
    const answer = await lying.provedTokens();
    expect(verifyTokenList(answer, { trusted: await anchor(answer) })).toMatchObject({
      ok: false,
      error: {
        code: "incomplete",
        message: expect.stringMatching(
          /^The 3 outputs that the response shows are not all outputs of the contract [0-9a-f]{56} after the block: outputs are missing, added or changed\. The proof does not lead to the trusted root\.$/,
        ),
      },
    });
  });

  it("finds an instance that omits all versions of the contract but one, or all outputs of one", async () => {
    proxy.falsify = (_, answer) => Promise.resolve({ ...answer, tokens: answer.tokens.slice(0, 1) });
    const some = await lying.provedTokens();
    expect(verifyTokenList(some, { trusted: await anchor(some) })).toMatchObject({
      error: { code: "incomplete", message: expect.stringMatching(/^The response lacks the outputs of the contract/) },
    });
    // the proof that another version has no outputs, for the one that has
    proxy.falsify = (_, answer) => {
      const empty = answer.tokens.find(({ entries }: { entries: unknown[] }) => entries.length === 0);
      const tokens = answer.tokens.map(({ address }: { address: string }) => ({ ...empty, address }));
      return Promise.resolve({ ...answer, tokens });
    };
    const none = await lying.provedTokens();
    expect(verifyTokenList(none, { trusted: await anchor(none) })).toMatchObject({
      error: { code: "incomplete", message: expect.stringContaining("The proof is of the absence of another key.") },
    });
    // that the tree is empty
    proxy.falsify = (_, answer) =>
      Promise.resolve({
        ...answer,
        tokens: answer.tokens.map((one: object) => ({ ...one, entries: [], completeness_proof: "82018100" })),
      });
    const nothing = await lying.provedTokens();
    expect(verifyTokenList(nothing, { trusted: await anchor(nothing) })).toMatchObject({
      error: {
        code: "incomplete",
        message: expect.stringContaining("The proof does not lead to the trusted root."),
      },
    });
  });

  it("finds an instance that omits a request", async () => {
    proxy.falsify = (_, answer) => Promise.resolve(withoutOutput(answer, "request_set", `${open}-0`));
    const answer = await lying.provedRequests(first);
    expect(verifyRequestSet(answer, { tokenId: first, trusted: await anchor(answer) })).toMatchObject({
      ok: false,
      error: {
        code: "incomplete",
        message: expect.stringMatching(/^The 3 outputs that the response shows are not all/),
      },
    });
    expect(others).not.toBe(open);
  });

  it("finds an instance that omits, changes or adds a fact", async () => {
    const lies: ((facts: { key: string; value: string }[]) => unknown[])[] = [
      (facts) => facts.slice(1),
      ([one, ...facts]) => [{ ...one, value: toHex(utf8("Mars")) }, ...facts],
      (facts) => [...facts, { key: "00", value: "00" }],
    ];
    for (const lie of lies) {
      proxy.falsify = (_, answer) => Promise.resolve({ ...answer, facts: lie(answer.facts) });
      const answer = await lying.provedFacts(first);
      expect(verifyTokenFacts(answer, { tokenId: first, trusted: await anchor(answer) })).toMatchObject({
        ok: false,
        error: {
          code: "facts_differ",
          message: expect.stringMatching(
            /^The \d facts are not all facts of the token: they do not have the root in its state; facts are missing, added or changed\.$/,
          ),
        },
      });
    }
    proxy.falsify = (_, answer) => Promise.resolve({ ...answer, facts: [...answer.facts, answer.facts[0]] });
    const twice = await lying.provedFacts(first);
    expect(verifyTokenFacts(twice, { tokenId: first, trusted: await anchor(twice) })).toMatchObject({
      error: { code: "facts_differ", message: expect.stringMatching(/^The key [0-9a-f]+ is in the response twice\.$/) },
    });
  });

  it("finds an instance that shows an old state as new", async () => {
    // the old state under the new snapshot
    proxy.falsify = (_, answer) => Promise.resolve({ ...past.state, snapshot: answer.snapshot });
    const dressed = await lying.provedToken(first);
    expect(verifyTokenState(dressed, { tokenId: first, trusted: await anchor(dressed) })).toMatchObject({
      ok: false,
      error: {
        code: "not_unspent",
        message: expect.stringMatching(
          /^The state output [0-9a-f]{64}#0 is not proven to be unspent after the block: it is an old state or was changed\. The proof does not lead to the trusted root\.$/,
        ),
      },
    });
    // a whole old answer is true of its block: only its age shows
    proxy.falsify = ({ path }) =>
      Promise.resolve(path.includes("/facts") ? past.facts : path.startsWith("/tokens") ? past.tokens : past.state);
    for (const old of [await lying.provedToken(first), await lying.provedFacts(first), await lying.provedTokens()]) {
      expect(await fetchTrustedRoot(old, { instances: [arbor.devnet], mostBehind: 3 })).toMatchObject({
        ok: false,
        error: {
          code: "too_old",
          message: expect.stringMatching(/^The response is of the block in slot \d+, and 4 newer blocks are known\.$/),
        },
      });
    }
    const of = valueOf(await fetchTrustedRoot(past.state, { instances: [arbor.devnet] }));
    expect(valueOf(verifyTokenState(past.state, { tokenId: first, trusted: of })).point).toEqual(of.point);
    // an old root with a new block
    const now = await honest.provedToken(first);
    const trusted = await anchor(now);
    const mixed = { ...past.state, snapshot: { ...past.state.snapshot, chainpoint: now.snapshot.chainpoint } };
    expect(verifyTokenState(mixed, { tokenId: first, trusted })).toMatchObject({ error: { code: "other_root" } });
    expect(verifyTokenState(past.state, { tokenId: first, trusted })).toMatchObject({ error: { code: "other_block" } });
  });

  it("finds an instance that replays the proof of another token", async () => {
    const another = await honest.provedToken(second);
    proxy.falsify = () => Promise.resolve(another);
    const answer = await lying.provedToken(first);
    expect(verifyTokenState(answer, { tokenId: first, trusted: await anchor(answer) })).toMatchObject({
      ok: false,
      error: {
        code: "other_token",
        message: expect.stringMatching(
          new RegExp(`^The output [0-9a-f]{64}#0 is unspent, but is no state of the token ${first}\\.$`),
        ),
      },
    });
    const facts = await honest.provedFacts(second);
    proxy.falsify = () => Promise.resolve(facts);
    const replayed = await lying.provedFacts(first);
    expect(verifyTokenFacts(replayed, { tokenId: first, trusted: await anchor(replayed) })).toMatchObject({
      error: { code: "other_token" },
    });
    // an unspent output that names the token without holding it: a request
    const request = (await http(arbor.devnet, "GET", `/utxo/${open}/0`)).body;
    const proof = (await http(arbor.devnet, "GET", `/utxo/${open}/0/proof`)).body;
    const state = { utxo: { tx_in: { tx_id: open, tx_ix: 0 }, tx_out: request, utxo_proof: proof } };
    const { snapshot } = await honest.provedToken(first);
    expect(verifyTokenState({ snapshot, state }, { tokenId: first, trusted: await anchor({ snapshot }) }))
      .toMatchObject({ error: { code: "other_token" } });
    // a test network's state is none of mainnet's
    const own = await honest.provedToken(first);
    const trusted = await anchor(own);
    expect(verifyTokenState(own, { tokenId: first, network: 1, trusted })).toMatchObject({
      error: { code: "other_token" },
    });
    expect(verifyTokenState(own, { tokenId: first, policies: ["ab".repeat(28)], trusted })).toMatchObject({
      error: { code: "other_token" },
    });
  });

  it("trusts no root on which instances disagree, which too few know, or of another chain", async () => {
    const other = await startFalsifyingProxy(arbor.devnet);
    const answer = await honest.provedToken(first);
    const both = { instances: [arbor.devnet, other.url], waitMs: 0 };
    expect(valueOf(await fetchTrustedRoot(answer, both)).from).toEqual(both.instances);
    other.falsify = (_, roots) =>
      Promise.resolve(roots.map((one: object) => ({ ...one, merkleRoot: "ab".repeat(32) })));
    expect(await fetchTrustedRoot(answer, { ...both, quorum: 1 })).toMatchObject({
      error: {
        code: "instances_disagree",
        message: expect.stringMatching(/^http\S+ and http\S+ have different roots after the block in slot \d+\.$/),
      },
    });
    other.falsify = (_, roots) => Promise.resolve(roots.map((one: object) => ({ ...one, blockHash: "ab".repeat(32) })));
    expect(await fetchTrustedRoot(answer, { ...both, quorum: 1 })).toMatchObject({
      error: { code: "instances_disagree", message: expect.stringMatching(/has another block in slot \d+: (ab){32}/) },
    });
    other.falsify = () => Promise.resolve([]);
    expect(await fetchTrustedRoot(answer, both)).toMatchObject({
      error: { code: "no_quorum", message: expect.stringMatching(/^1 of 2 instances know the block/) },
    });
    expect((await fetchTrustedRoot(answer, { ...both, quorum: 1 })).ok).toBe(true);
    for (const odd of [{ roots: 1 }, [1], [{ slotNo: "1", blockHash: 2 }]]) {
      other.falsify = () => Promise.resolve(odd);
      expect(await fetchTrustedRoot(answer, both)).toMatchObject({ error: { code: "no_quorum" } });
    }
    for (const quorum of [0, 3, 1.5]) {
      expect(await fetchTrustedRoot(answer, { ...both, quorum })).toMatchObject({ error: { code: "bad_quorum" } });
    }
    expect(await fetchTrustedRoot(answer, { instances: [arbor.devnet, `${arbor.devnet}/`], quorum: 2 })).toMatchObject({
      error: { code: "bad_quorum" },
    });
    // one instance waits for the block
    let asked = 0;
    other.falsify = (_, roots) => Promise.resolve(asked++ < 2 ? [] : roots);
    expect((await fetchTrustedRoot(answer, { ...both, waitMs: 60_000 })).ok).toBe(true);
    await other.stop();
  });

  it("verifies by the command line, which refuses what is not proven", async () => {
    const cli = (url: string, ...args: string[]) => runCli(["token", ...args], { env: { ARBOR_TOKENS_URL: url } });
    const against = ["--against", arbor.devnet];
    const list = await cli(arbor.tokens, "list", ...against);
    expect(list).toMatchObject({ code: 0, stderr: expect.stringContaining("checked: 4 outputs are all that") });
    expect(list.stderr).toContain("not checked: Whether the trusted root is that of the ledger");
    expect(JSON.parse(list.stdout).tokens.map(({ tokenId }: { tokenId: string }) => tokenId).sort())
      .toEqual([first, second].sort());
    const show = await cli(arbor.tokens, "show", first, ...against);
    const { root } = await honest.token(first);
    expect(JSON.parse(show.stdout)).toMatchObject({ token: { tokenId: first, root } });
    const requests = await cli(arbor.tokens, "requests", first, ...against);
    expect(JSON.parse(requests.stdout).requests).toMatchObject([
      { outputRefId: `${open}-0`, change: { type: "insert", key: "star", value: "Sun" } },
    ]);
    const facts = await cli(arbor.tokens, "facts", first, ...against);
    expect(JSON.parse(facts.stdout).facts).toEqual({ planet: "Earth", moon: "Luna" });

    proxy.falsify = (_, answer) => Promise.resolve({ ...answer, facts: answer.facts.slice(1) });
    expect(await cli(proxy.url, "facts", first, ...against)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/facts are missing, added or changed\. \(facts_differ\)\n$/),
    });
    expect(await cli(arbor.tokens, "list", ...against, "--quorum", "2")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("(bad_quorum)"),
    });
    for (const args of [["list", "--quorum", "1"], ["facts", first, ...against, "--prefix", "p"]]) {
      expect(await cli(arbor.tokens, ...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("(bad_options)"),
      });
    }
  });

  /** Run in a browser: lists and facts, and what is wrong with two of them. */
  const SCRIPT = `
    const { base, second, token } = input;
    const asking = new client.TokenClient(base);
    const list = await asking.provedTokens();
    const facts = await asking.provedFacts(token);
    const requests = await asking.provedRequests(token);
    const state = await asking.provedToken(token);
    const trusted = async (answer) => (await client.fetchTrustedRoot(answer, { instances: [second] })).value;
    const of = async (verify, answer) => {
      const { ok, value, error } = verify(answer, { tokenId: token, trusted: await trusted(answer) });
      return ok ? value : error.code;
    };
    return {
      tokens: (await of(client.verifyTokenList, list)).tokens.map(({ tokenId }) => tokenId).sort(),
      facts: (await of(client.verifyTokenFacts, facts)).facts.size,
      requests: (await of(client.verifyRequestSet, requests)).requests.length,
      state: (await of(client.verifyTokenState, state)).token.tokenId,
      lies: [
        await of(client.verifyTokenFacts, { ...facts, facts: facts.facts.slice(1) }),
        await of(client.verifyTokenList, { ...list, tokens: list.tokens.slice(1) }),
      ],
    };
  `;

  it("verifies with web globals only, and in a browser", async () => {
    const input = { base: arbor.tokens, second: arbor.devnet, token: first };
    const expected = {
      tokens: [first, second].sort(),
      facts: 2,
      requests: 1,
      state: first,
      lies: ["facts_differ", "incomplete"],
    };
    const { outputFiles: [file] } = await build({
      absWorkingDir: fileURLToPath(new URL("../../../", import.meta.url)),
      stdin: {
        contents: `export * from "#src/packages/clientLedger.ts"; export { TokenClient } from "#src/client/tokens.ts";`,
        resolveDir: ".",
      },
      bundle: true,
      format: "esm",
      platform: "browser",
      tsconfigRaw: {},
      write: false,
    });
    const module = file!.text;
    expect(await inBrowserContext(module)(SCRIPT, input)).toEqual(expected);
    const browser = await sharedBrowser();
    if (!browser) return;
    try {
      const page = await browser.newPage();
      await page.goto(`${arbor.devnet}/tip`, { timeout: 120_000 });
      const seen = await page.evaluate(`(async () => {
        const module = new Blob([${JSON.stringify(module)}], { type: "text/javascript" });
        const client = await import(URL.createObjectURL(module));
        const input = ${JSON.stringify(input)};
        ${SCRIPT}
      })()`);
      expect(seen).toEqual(expected);
    } finally {
      await browser.close();
    }
  });

  it("refuses every answer of another form", async () => {
    const answers = {
      list: await honest.provedTokens(),
      state: await honest.provedToken(first),
      requests: await honest.provedRequests(first),
      facts: await honest.provedFacts(first),
    };
    const trusted = await anchor(answers.list);
    const question = { tokenId: first, trusted };
    const verifiers = {
      list: (answer: unknown) => verifyTokenList(answer, question),
      state: (answer: unknown) => verifyTokenState(answer, question),
      requests: (answer: unknown) => verifyRequestSet(answer, question),
      facts: (answer: unknown) => verifyTokenFacts(answer, question),
    };
    let spoiled = 0;
    for (const [name, verify] of Object.entries(verifiers)) {
      const answer = answers[name as keyof typeof answers];
      expect(verify(answer).ok).toBe(true);
      for (const odd of [undefined, null, 1, "x", [], {}, { snapshot: answer.snapshot }]) {
        expect(verify(odd)).toMatchObject({ ok: false, error: { code: "malformed" } });
      }
      for (const other of spoil(answer)) {
        expect([name, JSON.stringify(other).slice(0, 300), verify(other).ok]).toEqual([name, expect.anything(), false]);
        spoiled++;
      }
    }
    expect(spoiled).toBeGreaterThan(60);
    for (const utxoRoot of [null, "", "ab", "x".repeat(64)]) {
      expect(verifyTokenList(answers.list, { trusted: { ...trusted, utxoRoot } }).ok).toBe(false);
    }
  });

  it("answers with proofs of one block while blocks are made", async () => {
    const making = (async () => {
      for (let i = 0; i < 6; i++) await people.insert(second, `k${i}`);
    })();
    for (let i = 0; i < 10; i++) {
      const facts = await honest.provedFacts(second);
      valueOf(verifyTokenFacts(facts, { tokenId: second, trusted: await anchor(facts) }));
      const list = await honest.provedTokens();
      expect(valueOf(verifyTokenList(list, { trusted: await anchor(list) })).tokens.length).toBe(2);
    }
    await making;
    await until("all facts are proven", async () => {
      const facts = await honest.provedFacts(second);
      return valueOf(verifyTokenFacts(facts, { tokenId: second, trusted: await anchor(facts) })).facts.size === 6;
    });
  });

  it("has no root for an answer of a block that was rolled back, and proves the state before it", async () => {
    const before = valueOf(verifyTokenState(...await asked()));
    await people.insert(second, "last");
    const [rolledBack, question] = await asked();
    expect(valueOf(verifyTokenState(rolledBack, question)).token.root).not.toBe(before.token.root);
    const rollback = await http(arbor.devnet, "POST", "/rollback", { blocks: 2, drop: true });
    expect(rollback.status).toBe(200);
    await until("the state before it is proven", async () => {
      const [answer, question] = await asked();
      return valueOf(verifyTokenState(answer, question)).token.outputRefId === before.token.outputRefId;
    });
    expect(await fetchTrustedRoot(rolledBack, { instances: [arbor.devnet], waitMs: 0 })).toMatchObject({
      ok: false,
      error: {
        code: "no_quorum",
        message: expect.stringContaining(`It does not know the block in slot ${question.trusted.point.slot}`),
      },
    });

    async function asked() {
      const answer = await honest.provedToken(second);
      return [answer, { tokenId: second, trusted: await anchor(answer) }] as const;
    }
  });
});

/** An answer with one text or number in it changed, or one element of a list left out or doubled, in every way. */
// deno-lint-ignore no-explicit-any
function* spoil(value: any): Generator<any> {
  if (typeof value === "string") {
    const at = Math.floor(value.length / 2);
    yield value.slice(0, at) + (value[at] === "0" ? "1" : "0") + value.slice(at + 1);
    yield value.slice(1);
  } else if (typeof value === "number") {
    yield value + 1;
  } else if (Array.isArray(value)) {
    if (value.length > 0) {
      yield value.slice(1);
      yield [...value, value[0]];
    }
    for (let i = 0; i < value.length; i++) {
      for (const other of spoil(value[i])) yield value.map((one, j) => i === j ? other : one);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      for (const other of spoil(one)) yield { ...value, [name]: other };
    }
  }
}
