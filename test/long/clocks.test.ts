/**
 * Worker processes of the whole service whose machine's clock is hours off, by libfaketime: payments continue, also
 * after such a worker is killed.
 */
import { existsSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { createLog } from "#src/base/log.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { findPostgres, startInstalledServer } from "../support/infra/postgresServer.ts";
import { until } from "../support/base/until.ts";
import { fund, http, land, User } from "../support/service/user.ts";

const library = ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));
if (library === undefined) console.warn("SKIPPED: there is no libfaketime. On Debian: apt-get install faketime.");
const native = findPostgres();
const ADA = 1_000_000;
const WALLETS = 20;
const PASSPHRASE = "Secure Passphrase";

describe.skipIf(library === undefined || native === undefined)("a worker whose clock is wrong", () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it.each(["+3h", "-3h"])("%s", async (skew) => {
    const server = await startInstalledServer(native!);
    ends.push(() => server.stop());
    const token = randomBytes(16).toString("hex");
    const nats = await startNatsEndpoint({ port: 0, token, log: createLog("warn") });
    ends.push(() => nats.stop());
    const store = openStore(server.url, { max: 2 });
    ends.push(() => store.close());
    const infra = { databaseUrl: server.url, natsUrl: nats.url, natsToken: token, stop: async () => {} };
    const start = async (roles: string, env: Record<string, string> = {}) => {
      const arbor = await Arbor.start({ infra, ownProcess: true, roles, env });
      ends.push(() => arbor.end("SIGKILL"));
      return arbor;
    };
    const skewed = { LD_PRELOAD: library!, FAKETIME: skew, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
    // The devnet begins with a wrong clock and continues with a right one.
    const first = await start("devnet", skewed);
    await first.end();
    const front = await start("edge,devnet,follower");
    const wrong = await start("worker", skewed);
    await start("worker");
    await until("both have their share", async () => {
      const [row] = await store.sql<{ owners: number }[]>`select count(distinct owner)::int as owners from partition`;
      return row!.owners === 2;
    });

    let longest = 0;
    /** The duration of a step, in milliseconds. */
    const timed = async <T>(work: () => Promise<T>): Promise<T> => {
      const begun = performance.now();
      const done = await work();
      longest = Math.max(longest, performance.now() - begun);
      return done;
    };
    const create = () =>
      timed(async () => {
        const body = { name: "W", mnemonic_sentence: newMnemonic(), passphrase: PASSPHRASE };
        const made = await http(front.wallets, "POST", "/wallets", body);
        expect(made.status, JSON.stringify(made.body)).toBe(201);
        const id = made.body.id as string;
        await until("the wallet is ready", async () => {
          const { body } = await http(front.wallets, "GET", `/wallets/${id}`);
          return body.state?.status === "ready";
        }, 60_000);
        const { body: [address] } = await http(front.wallets, "GET", `/wallets/${id}/addresses`);
        expect((await http(front.devnet, "POST", "/faucet", { address: address.id, lovelace: 20 * ADA })).status).toBe(
          200,
        );
        await until("its coin", async () => {
          const { body } = await http(front.wallets, "GET", `/wallets/${id}`);
          return body.balance.available.quantity === 20 * ADA;
        }, 60_000);
        return { id, address: address.id as string };
      });
    const send = ({ id, address }: { id: string; address: string }) =>
      timed(async () => {
        const payments = [{ address, amount: { quantity: ADA, unit: "lovelace" } }];
        // Requests to a killed worker are repeated.
        const sent = await until("it is accepted", async () => {
          const sent = await http(front.wallets, "POST", `/wallets/${id}/transactions`, {
            passphrase: PASSPHRASE,
            payments,
          });
          if (sent.status !== 503) expect(sent.status, JSON.stringify(sent.body)).toBe(202);
          return sent.status === 202 && sent;
        }, 60_000);
        await until("it is in the ledger", async () => {
          const { body } = await http(front.wallets, "GET", `/wallets/${id}/transactions/${sent.body.id}`);
          return body.status === "in_ledger";
        }, 60_000);
      });

    const wallets = [];
    for (let n = 0; n < WALLETS; n += 5) wallets.push(...await Promise.all(Array.from({ length: 5 }, create)));
    await Promise.all(wallets.map(send));
    const user = new User();
    await fund(front.devnet, front.tokens, user);
    const built = await http(front.tokens, "GET", `/transaction/${user.address}/boot-token`);
    expect(built.status, JSON.stringify(built.body)).toBe(200);
    await land(front.tokens, user.sign(built.body.unsignedTransaction));

    const sending = Promise.all(wallets.map(send));
    wrong.signal("SIGKILL");
    await sending;
    // Nothing waits for a time of the wrong clock.
    const [rows] = await store.sql<{ effects: number; reminders: number; apart: number }[]>`
      select (select count(*)::int from effect where not done and next_attempt > now() + interval '1 minute') as effects,
        (select count(*)::int from reminder where at > now() + interval '2 hours' and at < now() + interval '4 hours'
          and kind = 'transaction') as reminders,
        (select max(abs(extract(epoch from at - created)))::float8 from outbox) as apart`;
    console.log(
      `| a worker's clock ${skew}, then kill -9 of it | ${2 * WALLETS} payments of ${WALLETS} wallets | ` +
        `longest step ${(longest / 1_000).toFixed(1)} s | times of events at most ${rows!.apart.toFixed(1)} s off`,
    );
    expect(rows!.effects).toBe(0);
    expect(rows!.reminders).toBe(0);
    expect(rows!.apart).toBeLessThan(60);
    const lags = await http(front.operator, "GET", "/lags");
    expect(lags.body.effects.oldestMs ?? 0).toBeLessThan(60_000);
  });
});
