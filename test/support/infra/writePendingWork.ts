/**
 * Writes a database in which work of every kind is pending, with the service of another checkout, and dumps it:
 *
 * deno run -A test/support/infra/writePendingWork.ts CHECKOUT NAME
 *
 * writes `test/frozen/NAME.sql.gz` and, with everything that a test needs to know of it, `test/frozen/NAME.json`.
 * CHECKOUT is a folder with an older version and its node_modules; its service runs as one process per role, so that
 * each can be stopped at the right moment. It needs an installed PostgreSQL (`pg_dump` is not part of the embedded
 * one).
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import { createLog } from "#src/base/log.ts";
import { addressText } from "#src/cardano/address.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { newSeed } from "#src/cardano/keys/signingKey.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { addressOf } from "#src/cli/keyFile.ts";
import { type CheckedTransaction, signTransaction, TokenClient } from "#src/client/tokens.ts";
import { type Prefix, WalletClient } from "#src/client/wallets.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { type Fragment, openStore } from "#src/store/store.ts";
import { Arbor } from "../service/arbor.ts";
import { frozenPath } from "../base/frozenFiles.ts";
import type { PendingWork } from "./pendingWork.ts";
import { findPostgres, startInstalledServer } from "./postgresServer.ts";
import { until } from "../base/until.ts";
import { http } from "../service/user.ts";

const [checkout, name] = process.argv.slice(2);
if (!checkout || !name) throw new Error("CHECKOUT and NAME");
const ADA = 1_000_000n;
const PASSPHRASE = "Secure Passphrase";
const native = findPostgres();
if (native === undefined) throw new Error("no PostgreSQL is installed");
const commit = execFileSync("git", ["rev-parse", "--short=7", "HEAD"], { cwd: checkout, encoding: "utf8" }).trim();

const server = await startInstalledServer(native);
const natsToken = randomBytes(8).toString("hex");
const nats = await startNatsEndpoint({ port: 0, token: natsToken, log: createLog("error") });
const admin = openStore(server.url, { max: 1 });
await admin.sql.unsafe("create database arbor");
await admin.close();
const databaseUrl = server.url.replace(/\/postgres$/, "/arbor");
const infra = { databaseUrl, natsUrl: nats.url, natsToken, stop: async () => {} };
const running: Arbor[] = [];
const start = async (roles: string): Promise<Arbor> => {
  const arbor = await Arbor.start({
    ownProcess: true,
    infra,
    roles,
    checkout,
    blockMs: 0,
    env: { ARBOR_EPOCH_SLOTS: "200", ARBOR_POOLS: "2", ARBOR_WEBHOOKS_PRIVATE: "true", ARBOR_BUILDERS: "1" },
  });
  running.push(arbor);
  return arbor;
};

try {
  await write();
} finally {
  for (const arbor of running) await arbor.end("SIGKILL");
  await nats.stop();
  await server.stop();
}

async function write(): Promise<void> {
  const devnet = await start("devnet");
  const [follower, worker, edge] = await Promise.all([start("follower"), start("worker"), start("edge")]);
  const store = openStore(databaseUrl, { max: 2 });
  const { sql } = store;
  const wallets = new WalletClient(edge!.wallets);
  const tokens = new TokenClient(edge!.tokens);
  const say = (line: string) => console.log(`${new Date().toISOString()} ${line}`);

  const order = async (path: string, body: unknown) => {
    const done = await http(devnet.devnet, "POST", path, body);
    if (done.status !== 200) throw new Error(`${path}: ${JSON.stringify(done.body)}`);
    return done.body;
  };
  const block = async (): Promise<void> => {
    const { tip } = await order("/blocks", { count: 1 });
    await until("the index is at the tip", async () => {
      const [row] = await sql<
        { there: boolean }[]
      >`select exists(select 1 from chain_cursor where slot >= ${tip.slot}) as there`;
      return row!.there;
    });
  };
  const faucet = (address: string, amount: bigint) => order("/faucet", { address, lovelace: Number(amount) });
  const count = async (query: Fragment) => Number((await query as unknown as { n: string }[])[0]!.n);

  // wallets
  const ready = (id: string, prefix: Prefix = "wallets") =>
    until(
      `${id} is ready`,
      async () => (await wallets.get<{ state: { status: string } }>(`/${prefix}/${id}`)).state.status === "ready",
    );
  const has = (id: string, amount: bigint, prefix: Prefix = "wallets") =>
    until(`${id} has ${amount}`, async () => {
      const { balance } = await wallets.get<{ balance: { available: { quantity: number } } }>(`/${prefix}/${id}`);
      return BigInt(balance.available.quantity) === amount;
    });
  const work: PendingWork = {
    commit,
    note: "Example mnemonics and keys. Never use them with real funds.",
    dumpedAt: 0,
    passphrase: PASSPHRASE,
    wallets: {},
    owner: toHex(newSeed()),
    tokens: {},
    requests: {},
    transactions: {},
    pools: [],
    migrated: [],
    keyed: { key: "pay-2", body: {} },
    webhook: "",
    deadLetters: 0,
  };
  await block();
  const wallet = async (label: string, ...coins: bigint[]): Promise<string> => {
    const words = newMnemonic(15);
    const { id } = await wallets.create({ name: label, mnemonic_sentence: words, passphrase: PASSPHRASE });
    work.wallets[label] = { id, prefix: "wallets", words };
    await ready(id);
    const addresses = await wallets.addresses(id);
    for (const [i, coin] of coins.entries()) await faucet(addresses[i]!.id, coin);
    return id;
  };
  say("wallets");
  const payer = await wallet("payer", 100n * ADA, 100n * ADA, 100n * ADA, 100n * ADA);
  const staker = await wallet("staker", 500n * ADA, 500n * ADA);
  const voter = await wallet("voter", 100n * ADA);
  const joiner = await wallet("joiner", 100n * ADA);
  const mover = await wallet("mover", 10n * ADA, 20n * ADA, 30n * ADA, 40n * ADA);
  const single = await wallet("single", 100n * ADA);
  const late = await wallet("late", 100n * ADA);
  const forgetful = await wallet("forgetful", 100n * ADA);
  // one that is deleted, and whose keys are read as a wallet without a root key
  const deleted = await wallet("deleted");
  const account = fromBech32(await wallets.accountKey(deleted, "extended"))!;
  await wallets.delete(deleted);
  const { id: watched } = await wallets.create({ name: "watched", account_public_key: toHex(account.bytes) });
  work.wallets.watched = { id: watched, prefix: "wallets" };

  const byronWords = newMnemonic(12);
  const byron = (await wallets.createByron({
    style: "random",
    name: "random",
    mnemonic_sentence: byronWords,
    passphrase: PASSPHRASE,
  })).id;
  work.wallets.random = { id: byron, prefix: "byron-wallets", words: byronWords };
  await ready(byron, "byron-wallets");
  for (let i = 0; i < 2; i++) {
    const made = await wallets.send<{ id: string }>("POST", `/byron-wallets/${byron}/addresses`, {
      passphrase: PASSPHRASE,
    });
    await faucet(made.id, 50n * ADA);
  }

  const shared = async (label: string) => {
    const words = newMnemonic(15);
    const { id } = await wallets.send<{ id: string }>("POST", "/shared-wallets", {
      name: label,
      mnemonic_sentence: words,
      passphrase: PASSPHRASE,
      account_index: "30H",
      payment_script_template: {
        cosigners: { "cosigner#0": "self" },
        template: { any: ["cosigner#0", "cosigner#1"] },
      },
    });
    work.wallets[label] = { id, prefix: "shared-wallets", words };
    return id;
  };
  const incomplete = await shared("incomplete");
  const complete = await shared("complete");
  const cosigner = await wallets.accountKey(incomplete, "extended", "shared-wallets");
  await wallets.send("PATCH", `/shared-wallets/${complete}/payment-script-template`, { "cosigner#1": cosigner });
  await ready(complete, "shared-wallets");
  await faucet((await wallets.addresses(complete, {}, "shared-wallets"))[0]!.id, 100n * ADA);
  await block();
  await has(payer, 400n * ADA);
  await has(complete, 100n * ADA, "shared-wallets");
  await has(byron, 100n * ADA, "byron-wallets");

  const to = (await wallets.addresses(payer))[5]!.id;
  const payment = (ada: bigint) => ({
    payments: [{ address: to, amount: { quantity: Number(ada * ADA), unit: "lovelace" as const } }],
  });
  const signed = async (id: string, body: object, prefix: Prefix = "wallets") => {
    const built = await wallets.construct(id, body as never, prefix);
    return (await wallets.sign(id, built.transaction, PASSPHRASE, prefix)).transaction;
  };
  const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));

  say("delegations, an expired, a forgotten and a refused transaction");
  work.pools = (await wallets.stakePools(1_000n * ADA)).map(({ id }) => id);
  await wallets.joinPool(staker, work.pools[0]!, PASSPHRASE);
  await wallets.joinDrep(voter, "abstain", PASSPHRASE);
  // both spend its only coin
  const [first, second] = [await signed(single, payment(5n)), await signed(single, payment(6n))];
  const landed = (await wallets.submit(single, first)).id;
  await block();
  await until("it landed", async () => (await wallets.transaction(single, landed)).status === "in_ledger");
  work.transactions.landed = { id: landed, wallet: "single" };
  const refused = await wallets.proxy(bytes(second)).then(() => "accepted", (error) => error.code as string);
  if (refused === "accepted") throw new Error("a transaction that spends nothing was accepted");
  const { currentSlot } = (await http(devnet.devnet, "GET", "/tip")).body;
  const soon = { validity_interval: { invalid_hereafter: { quantity: currentSlot + 100, unit: "slot" } } };
  const expired = (await wallets.submit(late, await signed(late, { ...payment(5n), ...soon }))).id;
  const forgotten = (await wallets.submit(forgetful, await signed(forgetful, { ...payment(5n), ...soon }))).id;
  await wallets.forget(forgetful, forgotten);
  await sleep(6_000);
  await block();
  await until("it expired", async () => (await wallets.transaction(late, expired)).status === "expired");
  work.transactions.expired = { id: expired, wallet: "late" };
  work.transactions.forgotten = { id: forgotten, wallet: "forgetful" };

  say("tokens");
  const key = fromHex(work.owner);
  const owner = addressText(addressOf(key));
  for (let i = 0; i < 10; i++) await faucet(owner, 300n * ADA);
  await block();
  const made = await fetch(`${edge!.operator}/webhooks`, {
    method: "POST",
    headers: { "content-type": "application/json", "arbor-operator": "1" },
    body: JSON.stringify({ url: "http://127.0.0.1:9/hook", kind: "token" }),
  });
  if (!made.ok) throw new Error(`webhook: ${made.status} ${await made.text()}`);
  work.webhook = (await made.json()).id;
  const submit = (unsigned: CheckedTransaction) => tokens.submit(signTransaction(unsigned, key));
  const land = async (unsigned: CheckedTransaction): Promise<string> => {
    const hash = await submit(unsigned);
    await block();
    await until(`${hash} is there`, async () => await tokens.transaction(hash));
    return hash;
  };
  const boot = async (label: string): Promise<string> => {
    const { checked, value } = await tokens.boot(owner);
    await land(checked);
    work.tokens[label] = { id: value, facts: {} };
    await until(`${label} is there`, () => tokens.token(value).catch(() => undefined));
    return value;
  };
  const insert = async (token: string, key: string, value: string) =>
    `${await land((await tokens.insert(owner, token, key, value)).checked)}-0`;
  const fact = async (label: string, ...pairs: [string, string][]) => {
    const { id, facts } = work.tokens[label]!;
    const requests: string[] = [];
    for (const [name, value] of pairs) {
      requests.push(await insert(id, name, value));
      facts[name] = value;
    }
    await land((await tokens.apply(owner, id, requests)).checked);
  };
  const live = await boot("live");
  await fact("live", ["colour", "green"], ["shape", "round"]);
  const updating = await boot("updating");
  await fact("updating", ["one", "1"]);
  const ending = await boot("ending");
  await fact("ending", ["last", "words"]);
  const ended = await boot("ended");
  await land((await tokens.end(owner, ended)).checked);
  work.requests.open = await insert(live, "open", "request");
  work.requests.retracted = await insert(live, "retracted", "request");
  work.requests.applied = await insert(updating, "two", "2");
  work.tokens.updating!.facts.two = "2";

  say("an event that fails");
  await sql`insert into input_log (kind, id, partition, event)
    select kind, id, partition, '{"type":"NONSENSE"}'::jsonb from actor where kind = 'token' and id = ${live}`;
  await until("a dead letter", async () => await count(sql`select count(*) n from dead_letter`) > 0);
  work.deadLetters = await count(sql`select count(*) n from dead_letter`);

  say("transactions that wait in the mempool");
  const pend = async (label: string, hash: Promise<string>, of?: string) => {
    work.transactions[label] = { id: await hash, ...(of ? { wallet: of } : {}) };
  };
  const booting = await tokens.boot(owner);
  await pend("boot", submit(booting.checked));
  work.tokens.booting = { id: booting.value, facts: {} };
  await pend("request", submit((await tokens.insert(owner, live, "pending", "request")).checked));
  work.requests.pending = `${work.transactions.request!.id}-0`;
  await pend("retract", submit((await tokens.retract(owner, work.requests.retracted)).checked));
  await pend("update", submit((await tokens.apply(owner, updating, [work.requests.applied])).checked));
  await pend("end", submit((await tokens.end(owner, ending)).checked));
  const pay = (id: string, prefix: Prefix = "wallets", key?: string) =>
    wallets.pay(id, { ...payment(3n), passphrase: PASSPHRASE } as never, { prefix, ...(key ? { key } : {}) });
  await pend("pay", pay(payer, "wallets", "pay-1").then(({ id }) => id), "payer");
  await pend("payRandom", pay(byron, "byron-wallets").then(({ id }) => id), "random");
  await pend(
    "payShared",
    signed(complete, payment(3n), "shared-wallets")
      .then((transaction) => wallets.submit(complete, transaction, { prefix: "shared-wallets" })).then(({ id }) => id),
    "complete",
  );
  await pend("join", wallets.joinPool(joiner, work.pools[1]!, PASSPHRASE).then(({ id }) => id), "joiner");
  const moved = await wallets.migrate(mover, { addresses: [to], passphrase: PASSPHRASE }, { key: "move-1" });
  work.migrated = moved.map(({ id }) => id);
  const held = await signed(payer, payment(2n));

  say("a wallet that is being read, while no follower runs");
  follower!.signal("SIGSTOP");
  const restoringWords = newMnemonic(15);
  work.wallets.restoring = {
    id: (await wallets.create({ name: "restoring", mnemonic_sentence: restoringWords, passphrase: PASSPHRASE })).id,
    prefix: "wallets",
    words: restoringWords,
  };

  say("submissions that the network does not answer");
  devnet.signal("SIGSTOP");
  // no receiver listens here
  const unanswered: Promise<unknown>[] = [wallets.submit(payer, held)];
  work.keyed = { key: "pay-2", body: { ...payment(4n), passphrase: PASSPHRASE } as never };
  unanswered.push(wallets.pay(payer, work.keyed.body as never, { key: work.keyed.key }));
  await until(
    "a payment is made",
    async () =>
      await count(sql`select count(*) n from wallet_request where key = 'pay-2' and transaction is not null`) > 0,
  );
  await until(
    "both are being submitted",
    async () =>
      await count(sql`select count(*) n from actor where kind = 'transaction' and state = 'submitting'`) === 2,
  );

  say("a wallet that is being created");
  const greatWords = newMnemonic(15);
  unanswered.push(wallets.create({
    name: "great",
    mnemonic_sentence: greatWords,
    passphrase: PASSPHRASE,
    address_pool_gap: 2_000,
  }));
  for (const one of unanswered) one.catch(() => {});
  const [great] = await until(
    "it has begun",
    async () => {
      const rows = await sql<{ id: string }[]>`select id from actor where kind = 'wallet' and state = 'beginning'`;
      return rows.length > 0 && rows;
    },
    60_000,
    2,
  );
  worker!.signal("SIGKILL");
  edge!.signal("SIGKILL");
  work.wallets.great = { id: great!.id, prefix: "wallets", words: greatWords };
  if (await count(sql`select count(*) n from actor where kind = 'wallet' and state = 'beginning'`) !== 1) {
    throw new Error("the large wallet was ready too early");
  }

  say("unread events of the chain: a block, and its rollback");
  devnet.signal("SIGCONT");
  follower!.signal("SIGCONT");
  await until("the devnet runs", async () => {
    const made = await http(devnet.devnet, "POST", "/blocks", { count: 1 }).catch(() => undefined);
    return made?.status === 200;
  });
  const eventOf = (type: string) =>
    until(
      `${type} is in the log`,
      async () =>
        await count(
          sql`select count(*) n from input_log where not read and kind = 'token' and event->>'type' = ${type}`,
        ) > 0,
    );
  await eventOf("BOOTED");
  await order("/rollback", { blocks: 1 });
  await eventOf("ROLLED_BACK");
  for (const one of [devnet, follower!]) one.signal("SIGKILL");
  await sleep(500);

  say("transitions that were written and not published");
  await sql`update outbox o set published = false from (
    select kind, id, max(version) as version from outbox group by 1, 2) last
    where (o.kind, o.id, o.version) = (last.kind, last.id, last.version)`;

  say("a reminder that is due");
  await sql`insert into reminder (kind, id, name, n, partition, at, event)
    select kind, id, 'rename', 1, partition, now(), '{"type":"RENAME","name":"reminded"}'::jsonb
    from actor where kind = 'wallet' and id = ${single}`;

  const counts = await sql`select kind, state, count(*)::int as n from actor group by 1, 2 order by 1, 2`;
  for (const row of counts) say(`${row.kind} ${row.state} ${row.n}`);
  for (
    const [what, query] of Object.entries({
      effects: sql`select count(*) n from effect where not done`,
      inputs: sql`select count(*) n from input_log where not read`,
      mempool: sql`select count(*) n from devnet_mempool`,
      deliveries: sql`select count(*) n from webhook_delivery where status = 'pending'`,
      outbox: sql`select count(*) n from outbox where not published`,
    })
  ) say(`${what}: ${await count(query)}`);
  const [{ now }] = await sql<{ now: Date }[]>`select now()` as unknown as [{ now: Date }];
  (work as { dumpedAt: number }).dumpedAt = now.getTime();
  await store.close();

  const dumped = execFileSync(
    path.join(native!, "bin", "pg_dump"),
    ["--inserts", "--rows-per-insert=200", "--no-owner", "--no-privileges", databaseUrl],
    { encoding: "utf8", maxBuffer: 1 << 28 },
  ).split("\n").filter((line) => !/^(--|\\)/.test(line) && line.trim() !== "").join("\n");
  const header =
    `-- A database that Arbor's commit ${commit} wrote, with work pending everywhere, dumped after kill -9 of its processes.\n` +
    `-- Made by test/support/infra/writePendingWork.ts; never to be changed. Example mnemonics and keys: never use them with real funds.\n`;
  writeFileSync(frozenPath(`${name}.sql.gz`), gzipSync(header + dumped, { level: 9 }));
  writeFileSync(frozenPath(`${name}.json`), JSON.stringify(work, null, 2) + "\n");
  say(`${name}.sql.gz: ${gzipSync(header + dumped, { level: 9 }).length} bytes`);
}
