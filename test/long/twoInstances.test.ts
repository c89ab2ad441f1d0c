/**
 * Two instances on one devnet, each with a database, an index and a root of its own, and a third that lies: a proxy before the
 * first that alters its answers. A reader with the command line, the packed one, finds every lie, from outside and by a
 * sentence.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { leafText, type StateLeaf } from "#src/contract/logLeaf.ts";
import { cageScript } from "#src/contract/script.ts";
import { refKey } from "#src/cardano/output.ts";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import {
  cosignText,
  LOG_KEY,
  type NoteKey,
  type NoteSigner,
  noteSigner,
  parseNote,
  parseVkey,
  signatureLine,
  vkeyOf,
  WITNESS_KEY,
} from "#src/tlog/note.ts";
import { acceptCheckpoint, parsePolicy } from "#src/tlog/policy.ts";
import { parseLogProof } from "#src/tlog/proofFile.ts";
import { until } from "../support/base/until.ts";
import { socketPath } from "../support/chain/nodeChain.ts";
import { type CliRun, runCli } from "../support/cli/arborCli.ts";
import { type Falsify, type FalsifyingProxy, startFalsifyingProxy } from "../support/infra/falsifyingProxy.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { Pages } from "../support/pages/pages.ts";
import { sharedBrowser } from "../support/pages/sharedBrowser.ts";
import { Arbor } from "../support/service/arbor.ts";
import { http } from "../support/service/user.ts";
import { OwnedLog } from "../support/tlog/ownedLog.ts";
import { LoggedTokens, TokenLogReader } from "../support/tlog/tokenLog.ts";
import { TokenWithFacts } from "../support/tokens/factAnswers.ts";
import { withoutOutput } from "../support/tokens/omitted.ts";

const DEPTH = 2;
const NOWHERE = "http://127.0.0.1:1";
/** Blocks after which an answer is too old: one more than a reader accepts. */
const OLD = 21;

const browser = await sharedBrowser();

describe("two instances and a third that lies", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-trust-"));
  const socket = socketPath();
  const infras: Infra[] = [];
  const running: { end(): Promise<void> }[] = [];
  let first: Arbor;
  let second: Arbor;
  let third: FalsifyingProxy;
  let people: LoggedTokens;
  let reader: TokenLogReader;
  /** The key of the first one's log, and of the second as a witness. */
  let [logKey, witnessKey]: [NoteKey, NoteKey] = [undefined!, undefined!];
  /** The log of the third one's operator. */
  const own = noteSigner("third.example/log", LOG_KEY, new Uint8Array(32).fill(3));
  let [token, other, open]: [string, string, string] = ["", "", ""];
  /** Answers of the first instance when the token had one fact. */
  const past = new Map<string, unknown>();

  const keyIn = (vkey: string): NoteKey => {
    const key = parseVkey(vkey);
    if (!key.ok) throw new Error(key.error.message);
    return key.value;
  };
  const start = async (name: string, env: Record<string, string>, more: { blockMs?: number } = {}): Promise<Arbor> => {
    const infra = await sharedInfra();
    infras.push(infra);
    const arbor = await Arbor.start({ infra, ...more, env: { ARBOR_FOLDER: path.join(folder, name), ...env } });
    running.push({ end: () => arbor.end() });
    return arbor;
  };
  const endAll = async () => {
    for (const one of running.splice(0).reverse()) await one.end();
  };

  const bothAtTip = () =>
    until("the second instance has the newest block", async () => {
      const tips = [first.devnet, second.tokens].map((url) => http(url, "GET", "/utxo-root"));
      const [newest, known] = await Promise.all(tips);
      return known?.body.point?.hash === newest?.body.point.hash;
    });

  beforeAll(async () => {
    const port = await freePort();
    const log = { ARBOR_LOG_DEPTH: String(DEPTH), ARBOR_LOG_ORIGIN: "first.example/log" };
    first = await start("first", {
      ...log,
      ...{ ARBOR_SOCKET: socket, ARBOR_LOG_WITNESS: `http://127.0.0.1:${port}/witness` },
    }, { blockMs: 0 });
    reader = new TokenLogReader(first.tokens);
    logKey = await reader.key();
    second = await start("second", {
      ...{ ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: socket, ARBOR_TOKEN_PORT: String(port) },
      ARBOR_UTXO_ROOT: path.join(folder, "first", "devnet", "config.json"),
      ARBOR_LOG_DEPTH: String(DEPTH),
      ARBOR_WITNESS_FOR: [logKey, own].map(vkeyOf).join(","),
      ARBOR_PAGE_CONNECT: first.tokens,
    });
    witnessKey = keyIn((await http(second.tokens, "GET", "/witness")).body.vkey);
    third = await startFalsifyingProxy(first.tokens);
    running.push({ end: () => third.stop() });
    people = new LoggedTokens(first.tokens, first.devnet);
    await people.fund();
    [token, other] = [await people.boot(), await people.boot()];
    await people.insert(token, "planet", "Earth");
    for (const part of ["", "/facts"]) {
      const asked = `/token/${token}${part}?proof=true`;
      past.set(asked, (await http(first.tokens, "GET", asked)).body);
    }
    await people.insert(token, "moon", "Luna");
    open = `${await people.request(token, "star", "Sun")}-0`;
    await bothAtTip();
  });
  beforeEach(() => {
    third.falsify = undefined;
    third.falsifyText = undefined;
  });
  afterAll(async () => {
    await endAll();
    await browser?.close();
    for (const infra of infras) await infra.stop();
    rmSync(folder, { recursive: true, force: true });
    rmSync(socket, { force: true });
  });

  const cli = (url: string, ...args: readonly string[]) =>
    runCli(["token", ...args], { env: { ARBOR_TOKENS_URL: url } });
  /** What the reader sees of the third instance, with the second as the one that is trusted for the root. */
  const lying = (falsify: Falsify, ...args: readonly string[]): Promise<CliRun> => {
    third.falsify = falsify;
    return cli(third.url, ...args, "--against", second.tokens);
  };
  /** The exit of the command line that refuses with a sentence and a code, and prints nothing else. */
  const refusal = (sentence: RegExp | string, code: string) => ({
    code: 1,
    stdout: "",
    stderr: typeof sentence === "string"
      ? expect.stringContaining(`${sentence} (${code})\n`)
      : expect.stringMatching(new RegExp(`${sentence.source} \\(${code}\\)\n$`)),
  });
  const replaying = (answers: ReadonlyMap<string, unknown>): Falsify => ({ path }) =>
    Promise.resolve(answers.get(path));

  it("agree: each is verified against the other, and both prove the same", async () => {
    for (const [url, ...against] of [[first.tokens, second.tokens, first.devnet], [second.tokens, first.devnet]]) {
      const trusting = [...against.flatMap((one) => ["--against", one]), "--quorum", String(against.length)];
      const list = await cli(url!, "list", ...trusting);
      expect(list).toMatchObject({ code: 0, stderr: expect.stringContaining(`it rests on ${against.join(", ")}.`) });
      const { tokens } = JSON.parse(list.stdout);
      expect(tokens.map(({ tokenId }: { tokenId: string }) => tokenId).sort()).toEqual([token, other].sort());
      expect(JSON.parse((await cli(url!, "show", token, ...trusting)).stdout).token).toMatchObject({ tokenId: token });
      const { requests } = JSON.parse((await cli(url!, "requests", token, ...trusting)).stdout);
      expect(requests).toMatchObject([{ outputRefId: open, change: { type: "insert", key: "star", value: "Sun" } }]);
      const { facts } = JSON.parse((await cli(url!, "facts", token, ...trusting)).stdout);
      expect(facts).toEqual({ planet: "Earth", moon: "Luna" });
    }
    expect(await cli(third.url, "list", "--against", second.tokens)).toMatchObject({ code: 0 });
  });

  it("omits a token", async () => {
    const { outputRefId } = (await http(first.tokens, "GET", `/token/${other}`)).body;
    expect(await lying((_, answer) => Promise.resolve(withoutOutput(answer, "tokens", outputRefId)), "list"))
      .toMatchObject(
        refusal(
          /The 2 outputs that the response shows are not all outputs of the contract [0-9a-f]{56} after the block: outputs are missing, added or changed\. The proof does not lead to the trusted root\./,
          "incomplete",
        ),
      );
  });

  it("omits a request", async () => {
    const omitting: Falsify = (_, answer) => Promise.resolve(withoutOutput(answer, "request_set", open));
    expect(await lying(omitting, "requests", token)).toMatchObject(
      refusal(/The 2 outputs that the response shows are not all outputs of the contract .*/, "incomplete"),
    );
  });

  it("omits a fact, or changes one", async () => {
    const lies: ((facts: { value: string }[]) => unknown[])[] = [
      ([, ...facts]) => facts,
      ([one, ...facts]) => [{ ...one, value: toHex(utf8("Mars")) }, ...facts],
    ];
    for (const lie of lies) {
      const changing: Falsify = (_, answer) => Promise.resolve({ ...answer, facts: lie(answer.facts) });
      expect(await lying(changing, "facts", token)).toMatchObject(refusal(
        /The [12] facts are not all facts of the token: they do not have the root in its state; facts are missing, added or changed\./,
        "facts_differ",
      ));
    }
  });

  it("serves an old state as new, under a new block or as it was", async () => {
    const dressed: Falsify = ({ path }, answer) =>
      Promise.resolve({ ...past.get(path) as object, snapshot: answer.snapshot });
    expect(await lying(dressed, "show", token)).toMatchObject(refusal(
      /The state output [0-9a-f]{64}#0 is not proven to be unspent after the block: it is an old state or was changed\. The proof does not lead to the trusted root\./,
      "not_unspent",
    ));
    await people.block(OLD);
    await bothAtTip();
    for (const args of [["show", token], ["facts", token]]) {
      expect(await lying(replaying(past), ...args)).toMatchObject(
        refusal(/The response is of the block in slot \d+, and \d+ newer blocks are known\./, "too_old"),
      );
    }
  });

  it("replays the proof of another key", async () => {
    const proofs = new Map([[
      `/token/${token}/facts/moon`,
      (await http(first.tokens, "GET", `/token/${token}/facts/planet`)).body,
    ]]);
    const { root } = JSON.parse((await cli(first.tokens, "show", token, "--against", second.tokens)).stdout).token;
    const verify = async (falsify?: Falsify) => {
      third.falsify = falsify;
      const { stdout } = await cli(third.url, "prove", token, "moon");
      return await runCli(["token", "verify", "-", token, "moon", "--root", root], { input: stdout });
    };
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringContaining("Luna") });
    expect(await verify(replaying(proofs))).toMatchObject(
      refusal("The response is for another token or another key.", "other_question"),
    );
    const relabelled: Falsify = ({ path }, answer) =>
      Promise.resolve({ ...answer, proof: (proofs.get(path) as { proof: unknown }).proof });
    expect(await verify(relabelled)).toMatchObject(refusal("The proof does not lead to the root.", "proof_fails"));
  });

  it("replays the state, the facts and the requests of another token", async () => {
    const replayed: Falsify = async ({ path }, _, honest) => await honest("GET", path.replace(token, other));
    for (const what of ["show", "facts"]) {
      expect(await lying(replayed, what, token)).toMatchObject(
        refusal(
          new RegExp(`The output [0-9a-f]{64}#0 is unspent, but is no state of the token ${token}\\.`),
          "other_token",
        ),
      );
    }
    // all requests are at one address: the set of another token is that of this one
    expect(JSON.parse((await lying(replayed, "requests", token)).stdout).requests).toMatchObject([{
      outputRefId: open,
    }]);
  });

  it("answers from another network", async () => {
    const elsewhere = await start("elsewhere", {}, { blockMs: 0 });
    const strangers = new LoggedTokens(elsewhere.tokens, elsewhere.devnet);
    await strangers.fund();
    const foreign = await strangers.boot();
    const answers: Falsify = async ({ path }) => (await http(elsewhere.tokens, "GET", path)).body;
    for (const args of [["list"], ["requests", token]]) {
      expect(await lying(answers, ...args)).toMatchObject(
        refusal(
          /(has another block in slot \d+: [0-9a-f]{64}, not [0-9a-f]{64}\. One of the two is on another chain or has not read a rollback\.|0 of 1 instances know the block in slot \d+, and 1 must\. http\S+: It does not know the block in slot \d+, or no longer its root\.)/,
          "(instances_disagree|no_quorum)",
        ),
      );
    }
    // a test network's answer for mainnet
    expect(await lying(() => Promise.resolve(undefined), "show", token, "--mainnet")).toMatchObject(
      refusal(/The output [0-9a-f]{64}#0 is unspent, but is no state of the token [0-9a-f]{64}\./, "other_token"),
    );
    expect(await cli(first.tokens, "show", foreign, "--against", second.tokens)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("(token_unknown)"),
    });
  });

  it("says another root than the second one, where the reader takes both for the root", async () => {
    const liar = await startFalsifyingProxy(second.tokens);
    liar.falsify = (_, roots) => Promise.resolve(roots.map((one: object) => ({ ...one, merkleRoot: "ab".repeat(32) })));
    const against = ["--against", second.tokens, "--against", liar.url, "--quorum", "1"];
    expect(await cli(first.tokens, "list", ...against)).toMatchObject(
      refusal(
        new RegExp(`${second.tokens} and ${liar.url} have different roots after the block in slot \\d+\\.`),
        "instances_disagree",
      ),
    );
    await liar.stop();
  });

  describe("has a log of its own", () => {
    const careless = noteSigner("careless.example", WITNESS_KEY, new Uint8Array(32).fill(4));
    /** Two histories of the token: that of the ledger, and one with another planet. */
    let [truth, lie]: [OwnedLog, OwnedLog] = [undefined!, undefined!];
    let index = 0;
    let falsified: TokenWithFacts;
    /** What the second instance signed of the true history. */
    let cosigned = "";

    const requestSignature = async (log: OwnedLog, before: number) => {
      const body = log.addCheckpoint(before);
      const response = await fetch(`${second.tokens}/witness/add-checkpoint`, { method: "POST", body });
      return { status: response.status, text: await response.text() };
    };
    const signatureOf = (signer: NoteSigner, { checkpoint }: OwnedLog) => {
      const note = parseNote(checkpoint);
      if (!note.ok) throw new Error(note.error.message);
      return signatureLine(cosignText(signer, note.value.text, 1_795_862_400));
    };
    const policy = (quorum: string) => {
      const file = path.join(folder, `${quorum}.txt`);
      writeFileSync(
        file,
        [
          `log ${vkeyOf(own)}`,
          `witness careless ${vkeyOf(careless)}`,
          `witness second ${vkeyOf(witnessKey)}`,
          "group both 2 careless second",
          `quorum ${quorum}`,
          "",
        ].join("\n"),
      );
      return file;
    };
    /** What a reader of the third instance learns of the planet, under a policy. */
    const read = async (story: "truth" | "lie", signatures: string, quorum: string): Promise<CliRun> => {
      third.falsifyText = (path) =>
        path.includes("/state.tlog-proof") ? (story === "lie" ? lie : truth).proof(index, signatures) : undefined;
      third.falsify = ({ path }) =>
        Promise.resolve(story === "lie" && path.includes("/facts/planet") ? falsified.answer("planet") : undefined);
      const { code, stdout } = await cli(third.url, "prove", token, "planet", "--offline");
      expect(code).toBe(0);
      return await runCli(["verify", "-", "--policy", policy(quorum)], {
        input: stdout,
        env: { ARBOR_TOKENS_URL: NOWHERE },
      });
    };

    beforeAll(async () => {
      await people.block(DEPTH);
      const leaves = await reader.until(4);
      const texts = leaves.map(leafText);
      index = leaves.findLastIndex((leaf) => leaf.kind === "update" && leaf.token === token);
      const leaf = leaves[index] as StateLeaf;
      falsified = new TokenWithFacts(new Map([["planet", "Mars"], ["moon", "Luna"]]), undefined, token);
      const root = toHex(falsified.trie.root);
      const changed: StateLeaf = { ...leaf, policy: cageScript.hash, ref: refKey(falsified.state.ref), root };
      truth = new OwnedLog(own, texts);
      lie = new OwnedLog(own, texts.with(index, leafText(changed)));
      const signed = await until("the second instance has the entries", async () => {
        const answer = await requestSignature(truth, 0);
        return answer.status === 200 && answer;
      });
      cosigned = signed.text;
    });

    it("shows two readers two histories: the second instance signs the one of its own chain alone", async () => {
      expect(await read("truth", cosigned, "second")).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /^Checked:\n- Under the key "planet" the value is "Earth"[^]*- The witness second signed that tree/,
        ),
      });
      expect(await requestSignature(lie, lie.size)).toMatchObject({
        status: 422,
        text: expect.stringContaining("inconsistent"),
      });
      expect(await read("lie", "", "second")).toMatchObject(
        refusal("Too few of the policy's witnesses signed the checkpoint: 0.", "not_logged"),
      );
      // the signature of the other history
      expect(await read("lie", cosigned, "second")).toMatchObject(
        refusal(`The signature of ${witnessKey.name} is wrong.`, "not_logged"),
      );
    });

    it("forges the cosignature of the second instance", async () => {
      const forger = { ...witnessKey, seed: new Uint8Array(32).fill(9) };
      expect(await read("lie", signatureOf(forger, lie), "second")).toMatchObject(
        refusal(`The signature of ${witnessKey.name} is wrong.`, "not_logged"),
      );
    });

    it("has a witness that signs everything: a policy of that one alone finds nothing, one of both does", async () => {
      for (const [story, log, planet] of [["truth", truth, "Earth"], ["lie", lie, "Mars"]] as const) {
        expect(await read(story, signatureOf(careless, log), "careless")).toMatchObject({
          code: 0,
          stdout: expect.stringContaining(`Under the key "planet" the value is "${planet}"`),
        });
      }
      expect(await read("truth", signatureOf(careless, truth) + cosigned, "both")).toMatchObject({ code: 0 });
      expect(await read("lie", signatureOf(careless, lie), "both")).toMatchObject(
        refusal("Too few of the policy's witnesses signed the checkpoint: 1.", "not_logged"),
      );
    });
  });

  it.skipIf(browser === undefined)(
    "show on the page of the second one that its list is proven against the first",
    async () => {
      const pages = new Pages(browser!);
      const page = await pages.open(second.tokens);
      await page.getByRole("button", { name: "Verify against other instances" }).click();
      // the instances that the operator named
      await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
      const proven = page.locator(".proven.good p").first();
      await proven.waitFor();
      expect(await proven.textContent()).toContain(`against ${first.tokens}.`);
      await pages.close();
    },
  );

  it("leave a proof that is verified in an empty folder when no service runs", async () => {
    const trusted = `log ${vkeyOf(logKey)}\nwitness second ${vkeyOf(witnessKey)}\nquorum second\n`;
    const read = parsePolicy(trusted);
    if (!read.ok) throw new Error(read.error.message);
    const written = await until("the second instance's signature", async () => {
      const run = await cli(first.tokens, "prove", token, "planet", "sun", "--offline", "--wait", "60");
      const proof = run.code === 0 ? parseLogProof(JSON.parse(run.stdout).log) : undefined;
      return proof?.ok && acceptCheckpoint(read.value, proof.value.checkpoint).ok && run;
    });
    await endAll();
    await expect(fetch(`${first.tokens}/health`)).rejects.toThrow();
    await expect(fetch(`${second.tokens}/health`)).rejects.toThrow();
    const empty = path.join(folder, "empty");
    mkdirSync(empty);
    writeFileSync(path.join(empty, "planet.json"), written.stdout);
    writeFileSync(path.join(empty, "policy.txt"), trusted);
    const verified = await runCli(["verify", "planet.json", "--policy", "policy.txt"], {
      cwd: empty,
      env: { ARBOR_TOKENS_URL: NOWHERE },
    });
    expect(verified).toMatchObject({ code: 0, stderr: "" });
    expect(verified.stdout).toMatch(
      /^Checked:\n- Under the key "planet" the value is "Earth": its proof leads to the root/,
    );
    expect(verified.stdout).toContain('- Under the key "sun" there is no fact');
    expect(verified.stdout).toContain(`says that this is the root of the token ${token}`);
    expect(verified.stdout).toContain("- The witness second signed that tree");
    expect(readdirSync(empty).sort()).toEqual(["planet.json", "policy.txt"]);
  });
});
