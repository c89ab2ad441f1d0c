/**
 * The service on real servers, each role in separate processes, under a mixed load with rollbacks, kill -9 of every role,
 * and faults of a cluster of three nats-servers. Each acknowledged payment and fact is in the ledger exactly once at the
 * end, the stream of transitions equals the outbox, and no role's memory grows.
 * ARBOR_SOAK_MINUTES sets the duration; default 30.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { connect } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { hasNatsServer, type NatsServer, startNatsCluster } from "../support/infra/natsServer.ts";
import { findPostgres, type PostgresServer, startInstalledServer } from "../support/infra/postgresServer.ts";
import { until } from "../support/base/until.ts";
import { storedMessages } from "../support/runtime/storedStream.ts";
import { type Answer, fund, http, User } from "../support/service/user.ts";

const MINUTES = Number(process.env.ARBOR_SOAK_MINUTES ?? 30);
const ROLES = ["edge", "edge", "worker", "worker", "follower", "follower", "devnet"] as const;
const WALLETS = 6;
const OWNERS = 4;
const PASSPHRASE = "Secure Passphrase";
/** Between two faults, in milliseconds. */
const FAULT_EVERY = 12_000;
/** How long servers of the cluster are away, in milliseconds: longer than a request to the stream. */
const AWAY = 6_000;

const native = findPostgres();
const possible = hasNatsServer() && native !== undefined;

interface Payment {
  readonly to: string;
  readonly amount: number;
  readonly hash: string;
}

/** What happens to the cluster; each resolves when all of its servers run again. */
const CLUSTER_FAULTS: Readonly<Record<string, (servers: readonly NatsServer[]) => Promise<void>>> = {
  "nats killed": async ([server]) => {
    await server!.kill();
    await sleep(AWAY);
    await server!.start();
  },
  "nats without a quorum": async ([, ...two]) => {
    await Promise.all(two.map((server) => server.kill()));
    await sleep(AWAY);
    await Promise.all(two.map((server) => server.start()));
  },
  "nats frozen": async ([, server]) => {
    server!.signal("SIGSTOP");
    await sleep(AWAY);
    server!.signal("SIGCONT");
  },
  "nats wiped": async ([, , server]) => {
    await server!.stop();
    await server!.start();
  },
};

/** The ids of the transitions in the stream, in its order. */
async function storedIds(servers: readonly NatsServer[]): Promise<string[]> {
  const connection = await connect({ servers: servers.map(({ url }) => url) });
  const messages = await storedMessages(await connection.jetstreamManager());
  await connection.close();
  return messages.map(({ event }) => event.id);
}

/** Resident memory of a process, in MB. */
const memoryOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;

describe.skipIf(!possible)(`a soak of ${MINUTES} minutes`, () => {
  let cluster: readonly NatsServer[];
  let postgres: PostgresServer;
  const running: { role: string; arbor: Arbor }[] = [];
  const memory: { readonly role: string; readonly at: number; readonly mb: number }[] = [];

  const start = async (role: string) => {
    const infra = {
      databaseUrl: postgres.url,
      natsUrl: cluster.map(({ url }) => url).join(","),
      natsToken: undefined,
      stop: async () => {},
    };
    const env = { ARBOR_HEALTH_PORT: "0", ARBOR_LEASE_MS: "2000", ARBOR_BUILDERS: "1", ARBOR_CLIENT_BUILDS: "0" };
    running.push({ role, arbor: await Arbor.start({ infra, ownProcess: true, roles: role, blockMs: 500, env }) });
  };
  /** One of the edges that run now; clients use another one after an edge was killed. */
  const edge = () => {
    const edges = running.filter(({ role }) => role === "edge");
    return edges[Math.floor(Math.random() * edges.length)]?.arbor;
  };
  const devnet = () => running.find(({ role }) => role === "devnet")?.arbor.devnet;

  beforeAll(async () => {
    [cluster, postgres] = await Promise.all([
      startNatsCluster(3),
      startInstalledServer(native!, ["max_connections=400"]),
    ]);
    for (const role of ROLES) await start(role);
  });
  afterAll(async () => {
    for (const { arbor } of running) await arbor.end("SIGKILL");
    await Promise.all((cluster ?? []).map((server) => server.stop()));
    await postgres?.stop();
  });

  it(
    "loses nothing, duplicates nothing, and its memory stays constant",
    { timeout: (MINUTES + 15) * 60_000 },
    async () => {
      const store = openStore(postgres.url, { max: 2 });
      let over = false;
      const unexpected: string[] = [];
      const counts = { again: 0, refused: 0, faults: {} as Record<string, number> };
      let longestMs = 0;

      /** Repeats a request until a service answers with something else than "come back later"; returns the answer. */
      const insist = async <T>(what: string, ask: () => Promise<T>): Promise<T | undefined> => {
        const began = performance.now();
        for (;;) {
          try {
            const given = await ask();
            longestMs = Math.max(longestMs, performance.now() - began);
            return given;
          } catch (error) {
            const { status, code, message } = error instanceof ApiError
              ? error
              : { status: 0, code: "", message: String(error) };
            const later = status === 0 || status === 503 || status === 429 || code === "request_in_progress";
            if (status >= 500 && status !== 503) unexpected.push(`${what}: ${status} ${code} ${message}`);
            if (!later || performance.now() - began > 120_000) {
              counts.refused++;
              return undefined;
            }
            counts.again++;
            await sleep(250);
          }
        }
      };
      const json = async (base: string | undefined, method: string, path: string, body?: unknown): Promise<Answer> => {
        if (base === undefined) throw new ApiError(0, "unreachable", "no such process runs");
        const answer = await http(base, method, path, body);
        if (answer.status >= 500 || answer.status === 429) {
          throw new ApiError(answer.status, answer.body?.code, JSON.stringify(answer.body));
        }
        return answer;
      };

      // wallets with thirty coins each
      const first = new WalletClient(edge()!.wallets);
      const wallets = await Promise.all(Array.from({ length: WALLETS }, async () => {
        const made = await first.create({ name: "W", mnemonic_sentence: newMnemonic(15), passphrase: PASSPHRASE });
        return made.id;
      }));
      for (const id of wallets) {
        await until("a wallet is ready", async () => (await first.wallet(id)).state.status === "ready");
        const addresses = await first.addresses(id);
        for (const { id: address } of addresses) {
          await json(devnet(), "POST", "/faucet", { address, lovelace: 200_000_000 });
        }
      }
      await until("the coins", async () => {
        const all = await Promise.all(wallets.map((id) => first.wallet(id)));
        return all.every(({ balance }) => Number(balance.available.quantity) >= 4_000_000_000);
      });

      const payments: Payment[] = [];
      const pay = async (id: string, number: number) => {
        const to = new User().address;
        const amount = 2_000_000 + number;
        const key = crypto.randomUUID();
        const done = await insist(
          "payment",
          () =>
            new WalletClient(edge()!.wallets)
              .pay(id, { passphrase: PASSPHRASE, payments: [{ address: to, amount: lovelace(amount) }] }, { key }),
        );
        if (done) payments.push({ to, amount, hash: done.id });
      };

      const owners = Array.from({ length: OWNERS }, () => new User());
      const facts: { readonly token: string; readonly key: string; readonly value: string }[] = [];
      const submitted: string[] = [];
      const submit = async (user: User, unsigned: string) => {
        const signedTransaction = user.sign(unsigned);
        const sent = await insist("submit", () => json(edge()?.tokens, "POST", "/transaction", { signedTransaction }));
        const hash: string | undefined = sent?.status === 200 ? sent.body.txHash : undefined;
        if (hash) submitted.push(hash);
        return hash;
      };
      const landed = (hash: string) =>
        until(
          `transaction ${hash}`,
          async () => {
            const seen = await insist("read", () => json(edge()?.tokens, "GET", `/transaction?txHash=${hash}`));
            return seen?.status === 200;
          },
          300_000,
          250,
        );
      const build = async (path: string, body?: unknown) => {
        const method = body === undefined ? "GET" : "POST";
        const built = await insist("build", () => json(edge()?.tokens, method, path, body));
        return built?.status === 200 ? built.body : undefined;
      };
      for (const owner of owners) await fund(devnet()!, edge()!.tokens, owner);

      const payers = wallets.map(async (id, i) => {
        for (let number = 0; !over; number++) {
          await pay(id, i * 100_000 + number);
          await sleep(300 * Math.random());
        }
      });
      const owning = owners.map(async (owner, i) => {
        const booted = await build(`/transaction/${owner.address}/boot-token`);
        const hash = booted && await submit(owner, booted.unsignedTransaction);
        if (!hash) throw new Error("no token was booted");
        await landed(hash);
        for (let number = 0; !over; number++) {
          const [key, value] = [`key ${i} ${number}`, `value ${number}`];
          const requested = await build(`/transaction/${owner.address}/request-insert/${booted.value}`, { key, value });
          const request = requested && await submit(owner, requested.unsignedTransaction);
          if (!request) continue;
          await landed(request);
          const applied = await build(
            `/transaction/${owner.address}/update-token/${booted.value}?request=${request}-0`,
          );
          const update = applied && await submit(owner, applied.unsignedTransaction);
          if (update) facts.push({ token: booted.value, key, value });
          if (update) await landed(update);
        }
      });

      const began = Date.now();
      const minutes = () => (Date.now() - began) / 60_000;
      const watching = (async () => {
        while (!over) {
          for (const { role, arbor } of running) {
            if (arbor.child.exitCode === null && arbor.child.signalCode === null) {
              memory.push({ role, at: minutes(), mb: memoryOf(arbor.child.pid!) });
            }
          }
          await sleep(5_000);
        }
      })();
      const kinds = ["edge", "worker", "follower", "devnet", "rollback"].flatMap((kind, i) => {
        const ofCluster = Object.keys(CLUSTER_FAULTS)[i];
        return ofCluster === undefined ? [kind] : [kind, ofCluster];
      });
      for (let n = 0; minutes() < MINUTES; n++) {
        await sleep(FAULT_EVERY);
        const kind = kinds[n % kinds.length]!;
        counts.faults[kind] = (counts.faults[kind] ?? 0) + 1;
        const ofCluster = CLUSTER_FAULTS[kind];
        if (ofCluster) {
          await ofCluster(cluster);
          continue;
        }
        if (kind === "rollback") {
          await insist(
            "rollback",
            () => json(devnet(), "POST", "/rollback", { blocks: 1 + Math.floor(Math.random() * 6) }),
          );
          continue;
        }
        const victim = running.findIndex(({ role }) => role === kind);
        const [killed] = running.splice(victim, 1);
        await killed!.arbor.end("SIGKILL");
        await start(kind);
      }
      over = true;
      await Promise.all([...payers, ...owning, watching]);

      // everything acknowledged is in the ledger, once
      const sent = [...payments.map(({ hash }) => hash), ...submitted];
      await until(
        "all transactions are in the ledger",
        async () => {
          const [row] = await store.sql<{ n: number }[]>`
        select count(*)::int as n from actor
        where kind = 'transaction' and id = any(${sent}) and snapshot->>'value' = 'in_ledger'`;
          return row!.n === new Set(sent).size;
        },
        300_000,
        500,
      );
      let lost = 0;
      let doubled = 0;
      for (const { to, amount } of payments) {
        const { body } = await json(devnet(), "GET", `/utxos/${to}`);
        const outputs = body.utxos as { readonly lovelace: number }[];
        if (outputs.length === 0) lost++;
        if (outputs.length > 1 || outputs.some((one) => Number(one.lovelace) !== amount)) doubled++;
      }
      for (const token of new Set(facts.map((fact) => fact.token))) {
        const { body } = await json(edge()?.tokens, "GET", `/token/${token}/facts`);
        const expected = facts.filter((fact) => fact.token === token).map(({ key, value }) => [key, value]);
        for (const [key, value] of expected) if (body[key!] !== value) lost++;
        doubled += Math.max(0, Object.keys(body).length - expected.length);
      }
      const [gaps] = await store.sql<{ n: number }[]>`
      select count(*)::int as n from
        (select id from outbox where kind = 'transaction' group by id having max(version) <> count(*)) gap`;
      await until("all transitions are published", async () => {
        const [row] = await store.sql<{ n: number }[]>`select count(*)::int as n from outbox_unpublished`;
        return row!.n === 0;
      }, 120_000);
      const stored = await storedIds(cluster);
      const written = await store.sql<
        { name: string }[]
      >`select kind || '/' || id || ':' || version as name from outbox`;
      const inStream = new Set(stored);
      const missing = written.map(({ name }) => name).filter((name) => !inStream.has(name));
      const stream = { transitions: written.length, missing: missing.length, repeated: stored.length - inStream.size };
      await store.close();

      const third = MINUTES / 3;
      const most = (role: string, from: number, to: number) =>
        Math.max(...memory.filter((one) => one.role === role && one.at >= from && one.at < to).map(({ mb }) => mb));
      const growth = [...new Set(ROLES)].map((role) => ({
        role,
        first: Math.round(most(role, 0, third)),
        last: Math.round(most(role, 2 * third, Infinity)),
      }));
      console.log(
        `soak of ${MINUTES} min: ${payments.length} payments, ${facts.length} facts, ${submitted.length} submissions ` +
          `acknowledged; ${JSON.stringify(counts)}; ${lost} lost, ${doubled} doubled; ` +
          `stream ${JSON.stringify(stream)}; longest answer ` +
          `${Math.round(longestMs)} ms; memory in MB ${JSON.stringify(growth)}`,
      );
      if (unexpected.length > 0) {
        // The log lines about it of the edges that still run.
        for (const { role, arbor } of running) {
          if (role === "edge") console.log(arbor.printed.split("\n").filter((line) => /error/i.test(line)).join("\n"));
        }
      }
      expect({ lost, doubled, gaps: gaps!.n, unexpected }).toEqual({ lost: 0, doubled: 0, gaps: 0, unexpected: [] });
      expect(stream).toEqual({ transitions: inStream.size, missing: 0, repeated: 0 });
      expect(payments.length).toBeGreaterThan(MINUTES * 20);
      for (const { first: early, last } of growth) expect(last).toBeLessThan(early * 1.3 + 50);
    },
  );
});
