/**
 * Signing services as processes of their own: several with one wallet, a wallet that follows its seed file, secrets that
 * stay in it, and what is away. `test/system/signer/kills.test.ts` kills one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { sharedInfra } from "../support/infra/infra.ts";
import { startProxy } from "../support/infra/tcpProxy.ts";
import { SignerClient, signerEnv, SignerProcesses } from "../support/service/signerClient.ts";
import { until } from "../support/base/until.ts";
import { http } from "../support/service/user.ts";

const SECRET = "a-token-of-this-test";

describe("signing services as processes", () => {
  let services: SignerProcesses;
  let store: Store;
  const signer = (name: string, env?: Readonly<Record<string, string>>) => services.signer(name, env);
  const seedOf = (name: string) => services.seedOf(name);

  beforeAll(async () => {
    services = await SignerProcesses.start();
    store = openStore(services.infra.databaseUrl, { max: 2, application: "test" });
  });
  afterAll(async () => {
    await store?.close();
    await services?.end();
  });

  it("lets an owner and two requesters work at the same time, each through a process", async () => {
    const [charlie, bob, alice] = await Promise.all(["charlie", "bob", "alice"].map((name) => signer(name)));
    const users = [charlie!.client, bob!.client, alice!.client];
    await Promise.all(users.map((user) => user.good("PUT", "/wallet/topup", { amount: 5_000 })));
    const tokens = await Promise.all(users.map((user) => user.boot()));
    // everyone requests of every token at once, then each owner applies what is open
    const requests = await Promise.all(
      tokens.map((token) =>
        Promise.all(
          users.flatMap((user, i) =>
            [1, 2].map((n) => user.request(token, { type: "insert", key: `${i}-${n}`, value: "x" }))
          ),
        )
      ),
    );
    const roots = await Promise.all(tokens.map((token, i) => users[i]!.apply(token, requests[i]!)));
    expect(new Set(roots.map(({ value }) => value)).size).toBe(1);
    for (const token of tokens) {
      expect(Object.keys(await alice!.client.facts(token)).sort()).toEqual(["0-1", "0-2", "1-1", "1-2", "2-1", "2-2"]);
    }
    await Promise.all(tokens.map((token, i) => users[i]!.good("DELETE", `/token/${token}`)));
  });

  it("sends for a wallet in one process at a time, and in the next one when that is killed", async () => {
    const first = await signer("shared");
    await first.client.good("PUT", "/wallet/topup", { amount: 1_000 });
    const token = await first.client.boot();
    const second = await signer("shared");
    const change = { type: "insert", key: "a", value: "b" };
    const request = (headers: Record<string, string>) =>
      second.client.call("POST", `/token/${token}/request`, change, headers);
    const refused = await request({ "arbor-timeout": "1000" });
    expect([refused.status, refused.body.code, refused.retryAfter])
      .toEqual([503, "wallet_elsewhere", expect.stringMatching(/^\d+$/)]);
    expect((await second.client.good("GET", "/wallet")).owner).toBe((await first.client.good("GET", "/wallet")).owner);
    await first.arbor.end("SIGKILL");
    expect(await request({ "idempotency-key": "taken-over" })).toMatchObject({ status: 200 });
  });

  it("does not sign while another process has its wallet, also just after it was suspended", async () => {
    const first = await signer("suspended");
    await first.client.good("PUT", "/wallet/topup", { amount: 1_000 });
    const token = await first.client.boot();
    await first.client.sync();
    const second = await signer("suspended");
    const request = ({ client }: typeof first, key: string) =>
      client.call("POST", `/token/${token}/request`, { type: "insert", key, value: "x" }, { "arbor-timeout": "1000" });
    first.arbor.signal("SIGSTOP");
    const { body: taken } = await until("the second process sends", async () => {
      const answer = await request(second, "taken over");
      return answer.status === 200 && answer;
    });
    // they wait in its socket, and are the first that it sees
    const late = ["a", "b", "c"].map((key) => request(first, key));
    first.arbor.signal("SIGCONT");
    for (const answer of await Promise.all(late)) {
      expect([answer.status, answer.body.code]).toEqual([503, "wallet_elsewhere"]);
    }
    const { requests } = await second.client.token(token) as { requests: { outputRefId: string }[] };
    expect(requests.map(({ outputRefId }) => outputRefId)).toEqual([taken]);
  });

  it("continues with the wallet of its seed file, and has another one after -g", async () => {
    const first = await signer("kept");
    const { owner } = await first.client.good("GET", "/wallet");
    const words = readFileSync(seedOf("kept"), "utf8");
    await first.arbor.end();
    const second = await signer("kept", { ARBOR_SIGNER_GENERATE: "never" });
    expect((await second.client.good("GET", "/wallet")).owner).toBe(owner);
    expect(readFileSync(seedOf("kept"), "utf8")).toBe(words);
    await second.arbor.end();
    const third = await signer("kept", { ARBOR_SIGNER_GENERATE: "always" });
    expect((await third.client.good("GET", "/wallet")).owner).not.toBe(owner);
    expect(readFileSync(seedOf("kept"), "utf8")).not.toBe(words);
    // the words of another program's wallet
    writeFileSync(seedOf("twelve"), newMnemonic(12).join(" "));
    const twelve = await signer("twelve", { ARBOR_SIGNER_GENERATE: "never" });
    await twelve.client.good("PUT", "/wallet/topup", { amount: 100 });
    await twelve.client.good("DELETE", `/token/${await twelve.client.boot()}`);
  });

  it("ends with a sentence where its seed file is missing or wrong", async () => {
    const missing = signer("nowhere", { ARBOR_SIGNER_GENERATE: "never" });
    await expect(missing).rejects.toThrow(/The seed file .*nowhere cannot be read: .*ENOENT/);
    writeFileSync(seedOf("wrong"), "zoo ".repeat(24));
    await expect(signer("wrong", { ARBOR_SIGNER_GENERATE: "never" })).rejects.toThrow(
      /The seed file .* holds no mnemonic/,
    );
  });

  it("is for those with its token, and for no page of another site", async () => {
    const { client, arbor } = await signer("guarded", { ARBOR_SIGNER_TOKEN: SECRET, ARBOR_SIGNER_HOST: "0.0.0.0" });
    const { port } = new URL(client.base);
    const bare = new SignerClient(`http://127.0.0.1:${port}`);
    for (const [method, place] of [["GET", "/wallet"], ["POST", "/token"], ["GET", "/tokens"]] as const) {
      expect(await bare.refused(method, place)).toEqual([401, "unauthorized"]);
      expect(await bare.refused(method, place, undefined, { authorization: `Bearer ${SECRET}x` }))
        .toEqual([401, "unauthorized"]);
    }
    expect(await bare.good("GET", "/health")).toMatchObject({ development: expect.stringContaining("development") });
    const { owner } = await client.good("GET", "/wallet");
    expect(owner).toMatch(/^[0-9a-f]{56}$/);
    expect(await client.refused("POST", "/token", undefined, { origin: "http://attacker.example" }))
      .toEqual([403, "bad_origin"]);
    expect(arbor.printed).toContain("for development and tests only");
    const { info } = await bare.good("GET", "/openapi.json");
    expect(info.title).toContain("development only");
  });

  it("gives its mnemonic and its passphrase to nothing that is stored, sent or printed", async () => {
    const { client, arbor } = await signer("secret");
    await client.good("PUT", "/wallet/topup", { amount: 1_000 });
    const token = await client.boot();
    await client.request(token, { type: "insert", key: "a", value: "b" }, "secret-1");
    await client.sync();
    const words = readFileSync(seedOf("secret"), "utf8").trim().split(" ");
    const three = words.slice(2).map((_, i) => words.slice(i, i + 3));
    const passphrase = toHex(sha256(utf8("arbor signing service, passphrase of " + words.join(" "))));
    const secrets = [passphrase, ...three.flatMap((some) => [" ", '","', ","].map((between) => some.join(between)))]
      .flatMap((secret) => [secret, toHex(utf8(secret))]);
    const leaks = (text: string) => secrets.some((secret) => text.includes(secret));
    expect(leaks(`x${words.slice(4, 7).join(" ")}x`)).toBe(true);
    const tables = await store.sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`;
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      const rows = await store.sql<{ row: string }[]>`select t::text as row from ${store.sql(name)} t`;
      expect([name, rows.filter(({ row }) => leaks(row)).length]).toEqual([name, 0]);
    }
    const answers = JSON.stringify([
      await client.good("GET", "/wallet"),
      await client.good("GET", "/health"),
      await client.good("GET", `/token/${token}`),
    ]);
    for (const text of [arbor.printed, services.main.printed, answers]) expect(leaks(text)).toBe(false);
  });

  it("says that its workers are away, with the time to try again, and works once they are back", async () => {
    const { client } = await signer("lonely");
    await client.good("PUT", "/wallet/topup", { amount: 1_000 });
    await client.sync();
    await services.restartMain(async () => {
      const away = await client.call("POST", "/token", undefined, {
        "arbor-timeout": "1500",
        "idempotency-key": "away",
      });
      expect([away.status, away.retryAfter]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      const faucet = await client.call("PUT", "/wallet/topup", { amount: 1 });
      expect([faucet.status, faucet.body.code, faucet.retryAfter])
        .toEqual([503, "faucet_unavailable", expect.stringMatching(/^\d+$/)]);
    });
    const { tokenId } = await until("the token", async () => {
      const again = await client.call("POST", "/token", undefined, { "idempotency-key": "away" });
      return again.status === 200 && again.body;
    });
    expect((await client.token(tokenId)).tokenId).toBe(tokenId);
  });

  it("says that its network is away, and loses no acknowledged request meanwhile, also one that the network lost", async () => {
    const far = await sharedInfra();
    const devnet = await Arbor.start({ infra: far, roles: "devnet", blockMs: 500 });
    const { host, port, pathname } = partsOf(devnet.places.get("Blockfrost API of the devnet")!);
    const proxy = await startProxy({ host, port });
    const near = await sharedInfra();
    const arbor = await Arbor.start({
      infra: near,
      env: {
        ...signerEnv("away"),
        ARBOR_PROVIDER: "blockfrost",
        ARBOR_BLOCKFROST_URL: `http://127.0.0.1:${proxy.port}${pathname}`,
        ARBOR_TOPUP_URL: devnet.devnet,
      },
    });
    try {
      const client = new SignerClient(arbor.signer);
      await client.good("PUT", "/wallet/topup", { amount: 1_000 });
      const token = await client.boot();
      await client.sync();
      const change = (key: string) => ({ type: "insert", key, value: "x" });
      const { slot } = (await http(devnet.devnet, "GET", "/tip")).body as { slot: number };
      const acknowledged = await client.request(token, change("acknowledged"), "acknowledged");
      await client.sync();

      await proxy.cut();
      for (const [name, key] of [["keyed", "keyed"], ["other", undefined]] as const) {
        const answer = await client.call("POST", `/token/${token}/request`, change(name), {
          "arbor-timeout": "2000",
          ...(key === undefined ? {} : { "idempotency-key": key }),
        });
        expect([name, answer.status, answer.retryAfter]).toEqual([name, 503, expect.stringMatching(/^\d+$/)]);
      }
      expect((await http(devnet.devnet, "POST", "/rollback", { slot, drop: true })).status).toBe(200);
      await proxy.mend();

      const keyed = await until("the request with a key", async () => {
        const again = await client.call("POST", `/token/${token}/request`, change("keyed"), {
          "idempotency-key": "keyed",
        });
        return again.status === 200 && again.body as string;
      }, 120_000);
      expect(await client.request(token, change("acknowledged"), "acknowledged")).toBe(acknowledged);
      const open = async () =>
        ((await client.good("GET", `/token/${token}`)).requests as { outputRefId: string }[])
          .map(({ outputRefId }) => outputRefId).sort();
      await until("both requests", async () => (await open()).length >= 2, 120_000);
      await client.sync();
      expect(await open()).toEqual([acknowledged, keyed].sort());
    } finally {
      await arbor.end();
      await proxy.cut();
      await devnet.end();
      await near.stop();
      await far.stop();
    }
  });
});

/** The parts of a URL for a proxy. */
function partsOf(url: string) {
  const { hostname, port, pathname } = new URL(url);
  return { host: hostname, port: Number(port), pathname };
}
