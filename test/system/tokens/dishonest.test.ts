/** A token service that answers builds with other transactions: neither the client nor any command of `arbor` signs one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiError } from "#src/client/http.ts";
import { checkTransaction } from "#src/client/checkedTransaction.ts";
import { exactSummary } from "#src/client/summary.ts";
import { type CheckedTransaction, signTransaction, TokenClient } from "#src/client/tokens.ts";
import { addressText } from "#src/cardano/address.ts";
import { addressOf, createKey, loadKey } from "#src/cli/keyFile.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { cases } from "../../support/base/longTests.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { until } from "../../support/base/until.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { type FalsifyingProxy, startFalsifyingProxy } from "../../support/infra/falsifyingProxy.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { fund, http, User } from "../../support/service/user.ts";
import { EDITED, edited, LIES, lying } from "../../support/tokens/falsifiedBuilds.ts";

const SEED = Number(process.env.DISHONEST_SEED ?? Date.now() % 1_000_000);

describe("a dishonest token service", () => {
  let infra: Infra;
  let arbor: Arbor;
  let proxy: FalsifyingProxy;
  let folder: string;
  let honest: TokenClient;
  let lied: TokenClient;
  let token: string;
  let open: string;
  let lost: string;
  let wallet: string;
  const mallory = new User();
  /** Transactions that came to be submitted. */
  const submitted: unknown[] = [];
  const file = (name: string) => path.join(folder, name);
  const addresses: Record<string, string> = {};

  const arborOf = (url: string, ...args: string[]) =>
    runCli(args, {
      input: "correct horse\n",
      env: { ARBOR_TOKENS_URL: url, ARBOR_DEVNET_URL: arbor.devnet, ARBOR_WALLETS_URL: `${arbor.wallets}` },
    });
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await arborOf(arbor.tokens, ...args);
    if (code !== 0) throw new Error(`arbor ${args.join(" ")}: ${stderr}`);
    return stdout.trimEnd();
  };

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "arbor-dishonest-"));
    infra = await sharedInfra();
    arbor = await startService({ infra });
    proxy = await startFalsifyingProxy(arbor.tokens);
    [honest, lied] = [new TokenClient(arbor.tokens), new TokenClient(proxy.url)];
    const words = newMnemonic(15);
    const wallets = new WalletClient(arbor.wallets);
    ({ id: wallet } = await wallets.create({ name: "w", mnemonic_sentence: words, passphrase: "correct horse" }));
    addresses.wallet = (await wallets.addresses(wallet))[0]!.id;
    const keys = { alice: await createKey(file("alice")), bob: await createKey(file("bob")) };
    for (const [name, key] of Object.entries(keys)) addresses[name] = addressText(addressOf(key));
    await Promise.all(Object.values(addresses).map((address) => fund(arbor.devnet, arbor.tokens, { address })));
    const [alice, bob] = [addresses.alice!, addresses.bob!];
    const send = (by: keyof typeof keys, { checked }: { readonly checked: CheckedTransaction }) =>
      honest.submit(signTransaction(checked, keys[by]));
    const booted = await honest.boot(alice);
    token = booted.value;
    await send("alice", booted);
    await send("bob", await honest.insert(bob, token, "planet", "Earth"));
    const applied = await send("alice", await honest.apply(alice, token));
    open = `${await send("bob", await honest.insert(bob, token, "moon", "Phobos"))}-0`;
    await until("a block has the token", async () => await honest.transaction(applied, { waitMs: 1_000 }));
    await until("a block has the request", async () => (await honest.token(token)).requests.length > 0);
    // refused for want of a signature: it can be built again
    const unsigned = await honest.insert(addresses.bob!, token, "star", "Sun");
    await honest.submit(unsigned.unsignedTransaction).catch((error: ApiError) => error);
    lost = unsigned.checked.hash;
    await until("the refused transaction can be built again", async () => {
      return await honest.rebuild(lost, addresses.bob!).then(() => true, () => false);
    });
  });
  afterAll(async () => {
    await proxy?.stop();
    await arbor?.end();
    await infra?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Builds of the client, by the command that signs what they give. */
  const builds: Readonly<Record<string, (client: TokenClient) => Promise<{ unsignedTransaction: string }>>> = {
    boot: (client) => client.boot(addresses.alice!),
    insert: (client) => client.insert(addresses.bob!, token, "k", "v"),
    update: (client) => client.update(addresses.bob!, token, "planet", "Earth", "Mars"),
    delete: (client) => client.delete(addresses.bob!, token, "planet", "Earth"),
    apply: (client) => client.apply(addresses.alice!, token),
    "apply one": (client) => client.apply(addresses.alice!, token, [open]),
    refuse: (client) => client.apply(addresses.alice!, token, [], { refuse: [open], onlyNamed: true }),
    retract: (client) => client.retract(addresses.bob!, open),
    rebuild: (client) => client.rebuild(lost, addresses.bob!),
    transfer: (client) => client.transfer(addresses.alice!, token, addresses.bob!),
    end: (client) => client.end(addresses.alice!, token),
  };
  const commands: Readonly<Record<string, () => string[]>> = {
    boot: () => ["token", "boot", file("alice")],
    insert: () => ["token", "insert", file("bob"), token, "k", "v"],
    update: () => ["token", "update", file("bob"), token, "planet", "Earth", "Mars"],
    delete: () => ["token", "delete", file("bob"), token, "planet", "Earth"],
    apply: () => ["token", "apply", file("alice"), token],
    retract: () => ["token", "retract", file("bob"), open],
    rebuild: () => ["token", "rebuild", file("bob"), lost],
    transfer: () => ["token", "transfer", file("alice"), token, addresses.bob!],
    end: () => ["token", "end", file("alice"), token],
    "boot of a wallet": () => ["token", "boot", addresses.wallet!, "--wallet", wallet],
    "insert of a wallet": () => ["token", "insert", addresses.wallet!, token, "k", "v", "--wallet", wallet],
  };

  /**
   * Every answer with a transaction is of another one, by the first of some names whose edit it has room for; notes what
   * is submitted.
   */
  const falsify = (
    names: readonly string[],
    lie: typeof LIES[number],
    denied: boolean,
    seen: { changed: boolean },
  ) => {
    proxy.falsify = async ({ method, path: where, body }, answer, ask) => {
      if (method === "POST" && where === "/transaction") submitted.push(body);
      if (denied && where.endsWith("/cbor")) return { ...answer, cbor: "84a3008001800200a0f5f6" };
      if (typeof answer.unsignedTransaction !== "string") return undefined;
      const unsigned = answer.unsignedTransaction;
      const transaction = names.map((name) => edited(unsigned, name, mallory.address)).find((one) => one !== undefined);
      if (transaction === undefined) return undefined;
      seen.changed = true;
      const { address } = answer.summary;
      const explained = await ask("POST", "/transaction/explain", { transaction, address }) as { code?: string };
      if (explained.code !== undefined) return { ...answer, unsignedTransaction: transaction };
      return { ...answer, unsignedTransaction: transaction, summary: lying(lie, explained, answer.summary) };
    };
  };

  it("gets no transaction of its own past the client, whatever it says of it", async () => {
    const random = seeded(SEED);
    const ways = EDITED.flatMap((name) =>
      LIES.flatMap((lie) => [true, false].map((denied) => ({ name, lie, denied })))
    );
    expect(ways.length).toBeGreaterThan(100);
    const shuffled = ways.map((way) => ({ way, at: random() })).sort((a, b) => a.at - b.at).map(({ way }) => way);
    let [refused, harmless] = [0, 0];
    for (const [command, build] of Object.entries(builds)) {
      await build(honest);
      for (const { name, lie, denied } of shuffled.slice(0, cases(5, 60))) {
        const seen = { changed: false };
        falsify([name], lie, denied, seen);
        const outcome = await build(lied).catch((error) => error);
        proxy.falsify = undefined;
        if (!seen.changed) continue;
        const way = `${command}: ${name}, ${lie}, ${denied}, seed ${SEED}`;
        if (outcome instanceof ApiError) {
          expect([way, outcome.status, outcome.code]).toEqual([
            way,
            0,
            expect.stringMatching(/^(not_as_intended|summary_differs|malformed_answer|undecodable|wrong_hash)$/),
          ]);
          refused++;
          continue;
        }
        // only where the bytes of what it spends are withheld: then the ledger does not balance
        if (outcome instanceof Error) throw outcome;
        const truth = await honest.explain(outcome.unsignedTransaction, addresses.alice!);
        expect([way, denied, truth.balanced]).toEqual([way, true, false]);
        harmless++;
      }
    }
    console.log(`${refused} refused, ${harmless} that no ledger takes`);
    expect(refused).toBeGreaterThan(20);
  });

  it("gets nothing signed by any command", async () => {
    const random = seeded(SEED);
    const all = Object.entries(commands).map((one) => ({ one, at: random() })).sort((a, b) => a.at - b.at);
    for (const { one: [command, words] } of all.slice(0, cases(6, all.length))) {
      for (let i = 0; i < cases(1, 10); i++) {
        const [name, lie] = [EDITED[Math.floor(random() * EDITED.length)]!, LIES[Math.floor(random() * LIES.length)]!];
        const seen = { changed: false };
        falsify([name, "pays everything to another"], lie, false, seen);
        const run = await arborOf(proxy.url, ...words());
        proxy.falsify = undefined;
        const way = `${command}: ${name}, ${lie}, seed ${SEED}`;
        expect([way, seen.changed, run.code, run.stdout]).toEqual([way, true, 1, ""]);
        expect(run.stderr).toMatch(/\((not_as_intended|summary_differs|malformed_answer|undecodable)\)\n$/);
      }
    }
    expect(submitted).toEqual([]);
  });

  it("gets no answer of another build past the client", async () => {
    const others = await Promise.all(
      Object.entries(builds).map(async ([name, build]) => [name, await build(honest)] as const),
    );
    for (const [command, build] of Object.entries(builds)) {
      for (const [name, other] of others.slice(0, cases(4, others.length))) {
        const kind = (one: string) => one.startsWith("apply") ? "apply" : one;
        if (kind(name) === kind(command)) continue;
        proxy.falsify = (_, answer) =>
          Promise.resolve(answer.unsignedTransaction === undefined ? undefined : { ...answer, ...plain(other) });
        const outcome = await build(lied).catch((error) => error);
        proxy.falsify = undefined;
        expect([command, name, outcome.code]).toEqual([command, name, expect.stringMatching(/^not_/)]);
      }
    }
    function plain(built: object) {
      const { checked: _, ...answer } = built as { checked: unknown };
      return JSON.parse(JSON.stringify(answer, (_, value) => typeof value === "bigint" ? Number(value) : value));
    }
  });

  it("cannot say that another transaction was submitted", async () => {
    const { checked } = await honest.insert(addresses.bob!, token, "comet", "Halley");
    const signed = signTransaction(checked, await loadKey(file("bob")));
    proxy.falsify = ({ path: where }) =>
      Promise.resolve(where === "/transaction" ? { txHash: "ab".repeat(32) } : undefined);
    await expect(lied.submitAndWait(signed)).rejects.toMatchObject({ code: "wrong_hash" });
    proxy.falsify = undefined;
  });

  it("gets no signature of a next owner for what it says is another's money", async () => {
    const unsigned = await cli("token", "transfer", file("alice"), token, file("bob"));
    // a transfer that Alice prepared: Bob's key signs it without a question
    expect((await arborOf(arbor.tokens, "sign", file("bob"), unsigned)).code).toBe(0);
    // a payment of Bob's, which the service calls a transfer
    const { unsignedTransaction: theft } = await honest.retract(addresses.bob!, open);
    const explained = (await http(arbor.tokens, "POST", "/transaction/explain", { transaction: unsigned })).body;
    proxy.falsify = ({ path: where }) => Promise.resolve(where.endsWith("/explain") ? explained : undefined);
    for (const transaction of [theft, edited(unsigned, "spends another output", mallory.address)!]) {
      const run = await arborOf(proxy.url, "sign", file("bob"), transaction);
      expect([run.code, run.stdout, run.stderr]).toEqual([1, "", expect.stringContaining("(not_checked)")]);
    }
    proxy.falsify = undefined;
    expect((await arborOf("http://127.0.0.1:1", "sign", "--yes", file("bob"), theft)).code).toBe(0);
  });

  it("bytes that were not checked are refused, at compile time and at run time", async () => {
    const built = await honest.boot(addresses.alice!);
    const key = await loadKey(file("alice"));
    // @ts-expect-error bytes from the network
    expect(() => signTransaction(built.unsignedTransaction, key)).toThrow(TypeError);
    // @ts-expect-error of the same form
    expect(() => signTransaction({ cbor: built.unsignedTransaction, hash: built.checked.hash }, key)).toThrow(
      TypeError,
    );
    // @ts-expect-error signed by other means
    await expect(honest.submitAndWait(built.unsignedTransaction)).rejects.toThrow(TypeError);
    const answer = { ...built, summary: exactSummary(null) };
    const intent = { type: "boot", address: addresses.alice! } as const;
    expect(await checkTransaction(answer, intent)).toMatchObject({ ok: false, error: { code: "not_as_intended" } });
  });
});
