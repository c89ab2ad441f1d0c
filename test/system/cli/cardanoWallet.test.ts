/**
 * `cardano-wallet` against a service: every command of the manual on a pseudo-terminal, compared with the transcript beside this
 * file; what differs between runs is masked. `vitest -u` writes the transcript.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, parseJson } from "#src/base/json.ts";
import { run } from "#src/cli/cardanoWallet/program.ts";
import { bundleForNode, hasNode, hasPty, onTerminal, plainText, runProgram } from "../../support/cli/programs.ts";
import { ADA, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const PASSPHRASE = "Secure Passphrase";
const NEXT_PASSPHRASE = "Ünother Passphrase";
const PHRASE =
  "vague wrist poet crazy danger dinner grace home naive unfold april exile relief rifle ranch tone betray wrong";
const SECOND_FACTOR = "test child burst immense armed parrot company walk dog";
const OTHER_PHRASE = "over decorate flock badge beauty stamp chest owner excess omit bid raccoon spin reduce rival";
const OLD_PHRASE = "price whip bottom execute resist library entire purse assist clock still noble";

const CHECKPOINT = ["wallet", "create", "from-recovery-phrase", "from-checkpoint"];

if (!hasPty) {
  console.warn("SKIPPED: cardano-wallet was not run on a terminal, since there is no Python with pseudo-terminals.");
}

describe.skipIf(!hasPty)("cardano-wallet", () => {
  let scenario: Scenario;
  let folder: string;
  let program: readonly string[];
  let port: string;
  const transcript: string[] = [];

  beforeAll(async () => {
    mkdirSync(path.join(root, ".arbor"), { recursive: true });
    // below the root, so that addons outside of the bundle are found
    folder = mkdtempSync(path.join(root, ".arbor", "cli-"));
    await bundleForNode({ "cardano-wallet": "src/cli/cardanoWallet/main.ts" }, folder);
    program = hasNode
      ? ["node", path.join(folder, "cardano-wallet.js")]
      : [process.execPath, "run", "-A", path.join(root, "src/cli/cardanoWallet/main.ts")];
    scenario = await Scenario.start({ blockMs: 0 });
    await scenario.blocks();
    port = new URL(scenario.arbor.wallets).port;
  });
  afterAll(async () => {
    await scenario?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The answers to prompts, or parts of them. */
  const secrets = [PHRASE, SECOND_FACTOR, OTHER_PHRASE].flatMap((phrase) => phrase.split(" ").slice(2, 5).join(" "))
    .concat(PASSPHRASE, NEXT_PASSPHRASE);

  type Answers = readonly (readonly [prompt: string, answer: string])[];

  /** Runs a request on the terminal and adds it to the transcript; gives its standard output. */
  async function tour(args: readonly string[], answers: Answers = [], code = 0): Promise<string> {
    const ran = await onTerminal([...program, ...args, "--port", port], answers);
    const messages = plainText(ran.terminal);
    expect(ran.code, messages.slice(-1_000)).toBe(code);
    expect(secrets.filter((secret) => (ran.terminal + ran.out).includes(secret))).toEqual([]);
    const prompts = answers.map(([prompt]) => prompt).filter((prompt) => messages.includes(prompt));
    const said = code === 0 ? messages.match(/^Ok\.$/m)?.[0] ?? messages : messages.trim().split("\n").at(-1)!;
    transcript.push(
      [
        `$ cardano-wallet ${args.map(quoted).join(" ")}`,
        ...prompts.map((prompt) => `> ${prompt}`),
        `# ${said}`,
        ran.out.trimEnd(),
      ]
        .filter((line) => line !== "").join("\n"),
    );
    return ran.out;
  }

  const quoted = (text: string) => /^[\w./:#@+-]+$/.test(text) ? text : `'${text}'`;
  const idOf = (out: string): string => {
    const json = parseJson(out);
    if (!isObject(json) || typeof json.id !== "string") throw new Error(`no id: ${out}`);
    return json.id;
  };
  const ready = (id: string) =>
    until(`${id} is ready`, async () => (await scenario.client.wallet(id)).state.status === "ready", 60_000);
  const phrase = (words: string, second = ""): Answers => [
    ["Please enter the 15–24 word recovery phrase:", words],
    ["Please enter a 9–12 word second factor:", second],
  ];
  const twice = (prompt: string, passphrase: string): Answers => [
    [prompt, passphrase],
    ["Enter the passphrase a second time:", passphrase],
  ];
  const create = (mode: readonly string[], name: string, words: string, second = "") =>
    tour(["wallet", "create", "from-recovery-phrase", ...mode, name], [
      ...phrase(words, second),
      ...twice("Please enter a passphrase:", PASSPHRASE),
    ]);

  it("does what the manual says, command by command", async () => {
    // network
    await tour(["network", "information"]);
    await tour(["network", "parameters"]);
    await tour(["network", "parameters", "latest"]);
    await tour(["network", "parameters", "99999"], [], 1);
    await tour(["network", "clock"]);
    await tour(["network", "clock", "--force-ntp-check"]);
    await tour(["stake-pool", "list", "--stake", "1000000000"]);
    await tour(["stake-pool", "list"], [], 1);

    // wallets
    await tour(["wallet", "list"]);
    const id = idOf(await create(["from-genesis", "--address-pool-gap", "10"], "Savings", PHRASE));
    await ready(id);
    await tour([...CHECKPOINT.slice(0, 3), "from-genesis", "Again"], [
      ...phrase(PHRASE),
      ...twice("Please enter a passphrase:", PASSPHRASE),
    ], 1);
    await tour([...CHECKPOINT.slice(0, 3), "from-genesis", "Typing errors"], [
      ["Please enter the 15–24 word recovery phrase:", PHRASE.replace("vague", "vogue")],
      ["not in the English word list", PHRASE.split(" ").slice(1).join(" ")],
      ["15, 18, 21 or 24 words are expected", OTHER_PHRASE],
      ["Please enter a 9–12 word second factor:", "test"],
      ["9 or 12 words are expected", ""],
      ["Please enter a passphrase:", "short"],
      ["expected at least 10 characters", PASSPHRASE],
      ["Enter the passphrase a second time:", NEXT_PASSPHRASE],
    ], 1);
    await tour(["wallet", "get", id]);
    const addresses = parseJson(await tour(["address", "list", "--state", "unused", id])) as { id: string }[];
    await tour(["address", "list", "--state", "used", id]);
    await tour(["wallet", "utxo", id]);

    // transactions
    for (let i = 0; i < 3; i++) await scenario.faucet(addresses[0]!.id, 100n * ADA);
    await scenario.blocks();
    await scenario.untilAvailable(id, 300n * ADA);
    await tour(["wallet", "utxo", id]);
    await tour(["wallet", "utxo-snapshot", id]);
    const payments = [`1500000@${addresses[1]!.id}`, `2000000@${addresses[2]!.id}`].flatMap((
      one,
    ) => ["--payment", one]);
    const metadata = ["--metadata", '{"0":{"string":"cardano"},"1":{"int":18446744073709551615}}'];
    await tour(["transaction", "fees", id, ...payments, ...metadata, "--ttl", "7200s"]);
    await tour(["transaction", "create", id, ...payments], [["Please enter your passphrase:", NEXT_PASSPHRASE]], 1);
    await tour(["transaction", "create", "0".repeat(40), ...payments], [], 1);
    await tour(["transaction", "create", id, "--payment", `1200000000@${addresses[1]!.id}`], [
      ["Please enter your passphrase:", PASSPHRASE],
    ], 1);
    const send = () =>
      tour(["transaction", "create", id, ...payments, ...metadata, "--ttl", "7200s"], [
        ["Please enter your passphrase:", PASSPHRASE],
      ]);
    const forgotten = idOf(await send());
    await tour(["transaction", "forget", id, forgotten]);
    const built = await scenario.client.construct(id, {
      payments: [{ address: addresses[3]!.id, amount: { quantity: 3_000_000, unit: "lovelace" } }],
    });
    const { transaction } = await scenario.client.sign(id, built.transaction, PASSPHRASE);
    await tour(["transaction", "submit", Buffer.from(transaction, "base64").toString("hex")]);
    await scenario.blocks();
    const sent = idOf(await tour(["transaction", "list", id, "--max_count", "1"]).then((out) => out.slice(1, -2)));
    await tour(["transaction", "list", id, "--order", "ascending", "--simple-metadata", "--start", "20200101T000000Z"]);
    await tour(["transaction", "list", id, "--end", "2020-01-01T00:00:00Z"]);
    await tour(["transaction", "get", id, sent, "--simple-metadata"]);
    await tour(["transaction", "forget", id, sent], [], 1);
    await tour(["transaction", "get", id, "0".repeat(64)], [], 1);

    // changes of the wallet
    await tour(["wallet", "update", "name", id, "Ξ savings"]);
    await tour(["wallet", "update", "passphrase", id], [
      ["Please enter your current passphrase:", NEXT_PASSPHRASE],
      ...twice("Please enter a new passphrase:", NEXT_PASSPHRASE),
    ], 1);
    await tour(["wallet", "update", "passphrase", id], [
      ["Please enter your current passphrase:", PASSPHRASE],
      ...twice("Please enter a new passphrase:", NEXT_PASSPHRASE),
    ]);
    await tour(["wallet", "update", "passphrase", id, "--mnemonic"], [
      ...phrase(PHRASE),
      ...twice("Please enter a new passphrase:", PASSPHRASE),
    ]);
    await tour(["wallet", "update", "passphrase", "0".repeat(40)], [], 1);
    await tour(["wallet", "delete", id]);
    await tour(["wallet", "get", id], [], 1);

    // other ways to create one
    const tip = await scenario.tip();
    const checkpoint = ["from-checkpoint", "--block-header-hash", tip.hash, "--slot-no", String(tip.slot)];
    const second = idOf(await create(checkpoint, "From a block", PHRASE, SECOND_FACTOR));
    expect(second).not.toBe(id);
    const late = idOf(await create(["from-tip"], "From the tip", OTHER_PHRASE));
    // the id that the offline commands give
    const offline = (commands: string) =>
      spawnSync("sh", ["-c", `p() { "$@"; }; p $P key from-recovery-phrase Shelley | ${commands}`], {
        env: { ...process.env, P: program.join(" ") },
        input: OTHER_PHRASE,
        encoding: "utf8",
      }).stdout;
    expect(offline("p $P key walletid")).toBe(late);
    const account = offline("p $P key child 1852H/1815H/1H | p $P key public --base16");
    await tour(["wallet", "create", "from-public-key", "Watched", account]);
  });

  it("creates and imports addresses of a random wallet", async () => {
    const { id } = await scenario.client.createByron({
      style: "random",
      name: "Old",
      mnemonic_sentence: OLD_PHRASE.split(" "),
      passphrase: PASSPHRASE,
    });
    const secret: Answers = [["Please enter your passphrase:", PASSPHRASE]];
    await tour(["address", "create", "--address-index", "2147483662", id], secret);
    await tour(["address", "create", "--address-index", "2147483662", id], secret, 1);
    await tour(["address", "create", id], secret);
    // an address that the offline commands derive
    const script = `p() { "$@"; }
root=$(p $P key from-recovery-phrase Byron)
xpub=$(printf %s $root | p $P key public)
printf %s $root | p $P key child 0H/7H | p $P key public | p $P address bootstrap --root $xpub --network-tag $MAGIC 0H/7H`;
    const { network_info: { protocol_magic } } = await scenario.client.get<
      { network_info: { protocol_magic: number } }
    >(
      "/network/information",
    );
    const { stdout: address } = spawnSync("sh", ["-c", script], {
      env: { ...process.env, P: program.join(" "), MAGIC: String(protocol_magic) },
      input: OLD_PHRASE,
      encoding: "utf8",
    });
    await tour(["address", "import", id, address]);
    await tour(
      [
        "address",
        "import",
        id,
        "37btjrVyb4KEB2STADSsj3MYSAdj52X5FrFWpw2r7Wmj2GDzXjFRsHWuZqrw7zSkwopv8Ci3VWeg6bisU9dgJxW5hb2MZYeduNKbQJrqz3zVBsu9nT",
      ],
      [],
      1,
    );
    const known = await scenario.client.addresses(id, {}, "byron-wallets");
    expect(known.map((one) => one.id)).toContain(address);
    expect(known).toHaveLength(3);

    // the other commands on wallets find it too
    const out = async (...args: string[]) => parseJson(await tour(args));
    expect(await out("address", "list", id)).toEqual(known);
    expect(await out("address", "list", "--state", "used", id)).toEqual([]);
    const old = await scenario.client.get<readonly { id: string }[]>("/byron-wallets");
    const all = [...await scenario.client.wallets(), ...old];
    expect((await out("wallet", "list") as { id: string }[]).map((one) => one.id)).toEqual(all.map((one) => one.id));
    expect(await out("wallet", "get", id)).toMatchObject({ id, name: "Old", discovery: "random" });
    expect(await out("wallet", "update", "name", id, "Older")).toMatchObject({ id, name: "Older" });
    await tour(["wallet", "update", "passphrase", id], [
      ["Please enter your current passphrase:", PASSPHRASE],
      ...twice("Please enter a new passphrase:", NEXT_PASSPHRASE),
    ]);
    for (const command of ["utxo", "utxo-snapshot"]) await tour(["wallet", command, id]);
    expect(await out("transaction", "list", id)).toEqual([]);
    const payment = ["--payment", `1000000@${address}`];
    await tour(["transaction", "fees", id, ...payment], [], 1);
    await tour(["transaction", "create", id, ...payment], [["Please enter your passphrase:", NEXT_PASSPHRASE]], 1);
    for (const command of ["get", "forget"]) await tour(["transaction", command, id, "00".repeat(32)], [], 1);
    await tour(["wallet", "delete", id]);
    await tour(["wallet", "get", id], [], 1);
  });

  it("is what the transcript shows", async () => {
    const text = `${masked(transcript.join("\n\n"))}\n`;
    await expect(text).toMatchFileSnapshot(fileURLToPath(new URL("cardanoWallet.transcript.txt", import.meta.url)));
  });

  it("shows messages in red and ends lines in a terminal, and hides secrets on Deno as on Node", async () => {
    const deno = [process.execPath, "run", "-A", path.join(root, "src/cli/cardanoWallet/main.ts")];
    for (const argv of [program, deno]) {
      const refused = await onTerminal([...argv, "wallet", "get", "0".repeat(40), "--port", port], [], "terminal");
      expect(refused.code).toBe(1);
      expect(refused.terminal).toContain("\x1b[91mI couldn't find a wallet with the given id: ");
      const prompt = "Please enter a [9, 12, 15, 18, 21, 24] word mnemonic:";
      const key = await onTerminal([...argv, "key", "from-recovery-phrase", "Shelley"], [[prompt, PHRASE]], "terminal");
      expect(key.code).toBe(0);
      expect(key.terminal).not.toContain("vague");
      expect(plainText(key.terminal)).toMatch(/\nroot_xsk1[02-9ac-hj-np-z]+\n$/);
      const silent = await onTerminal([
        ...argv,
        "key",
        "from-recovery-phrase",
        "Shelley",
        "--passphrase",
        "from-mnemonic",
        "--silent",
      ], [
        [prompt, PHRASE],
        ["Please enter a 9–12 word second factor:", SECOND_FACTOR],
      ]);
      expect(silent.out).toMatch(/^root_xsk1[02-9ac-hj-np-z]+$/);
      expect(silent.terminal).not.toContain("*");
      expect(silent.terminal).not.toContain("burst");
      const interrupted = await onTerminal([...argv, "key", "from-recovery-phrase", "Shelley"], [[prompt, "\x03"]]);
      expect(interrupted.code).toBe(1);
      expect(interrupted.terminal).toContain("Interrupted.");
    }
  });

  it("reads phrases and passphrases from a pipe, line by line", async () => {
    const lines = `${PHRASE}\n${SECOND_FACTOR}\n${PASSPHRASE}\n${PASSPHRASE}\n`;
    const args = ["wallet", "create", "from-recovery-phrase", "from-tip", "Piped", "--port", port];
    const created = await runProgram(run, args, lines);
    // this wallet was made with the same words on the terminal
    expect(created).toMatchObject({ code: 1, out: "" });
    expect(created.err).toContain("I already know of a wallet with this id");
    const other = await runProgram(run, args, lines.replace(SECOND_FACTOR, ""));
    expect(other.code, other.err).toBe(0);
    expect(other.err.split("\n").at(-2)).toBe("Ok.");
    const id = idOf(other.out);
    const changed = await runProgram(
      run,
      ["wallet", "update", "passphrase", id, "--port", port],
      `${PASSPHRASE}\nshort\n${NEXT_PASSPHRASE}\n${NEXT_PASSPHRASE}`,
    );
    expect(changed).toMatchObject({ code: 0, out: "\n" });
    expect(changed.err).toContain("passphrase is too short: expected at least 10 characters");
  });

  it("says that no server is there", async () => {
    const ran = await onTerminal([...program, "wallet", "list", "--port", "1024"]);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(plainText(ran.terminal)).toContain("No complete response from http://localhost:1024/v2");
  });
});

/** A transcript without what differs between runs: times, places on the chain, hashes, pools, and addresses that are random. */
function masked(text: string): string {
  return text
    .replace(/\b[0-9a-f]{64}\b/g, "<hash>")
    .replace(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"<time>"')
    .replace(/\b(?=[a-z0-9]*[A-Z])[1-9A-HJ-NP-Za-km-z]{80,}\b/g, "<byron address>")
    .replace(/\baddr_test1v[02-9ac-hj-np-z]+\b/g, "<faucet>")
    .replace(/\bpool1[02-9ac-hj-np-z]+\b/g, "<pool>")
    .replace(/"state": \{(?:[^{}]|\{[^{}]*\})*\}/g, '"state": <state>')
    .replace(/--slot-no \d+/g, "--slot-no <slot>")
    .replace(/\b84a[0-9a-f]{200,}\b/g, "<transaction>")
    .replace(/("(?:absolute_slot_number|slot_number|epoch_number|protocol_magic)": )\d+/g, "$1<number>")
    .replace(/("quantity": )[\d.]+(,\s+"unit": "(?:block|percent|slot)")/g, "$1<number>$2")
    .replace(/"22\d{8}H"|"2\d{9}H"|"\d{6,10}H"/g, '"<index>"');
}
