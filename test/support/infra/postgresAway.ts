/**
 * Clients of every service while PostgreSQL is away: the answer to each request, how long each client had no good
 * answer, and whether a payment under an idempotency key was made once.
 */
import { expect } from "vitest";
import { randomBytes } from "node:crypto";
import { sleep } from "#src/base/clock.ts";
import { createLog } from "#src/base/log.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../service/arbor.ts";
import type { PostgresServer } from "./postgresServer.ts";
import { until } from "../base/until.ts";
import { fund, http, land, User } from "../service/user.ts";

export interface AwayOptions {
  /** Roles of each process. */
  readonly processes: readonly string[];
  /** Wallets that send, one payment after the other. */
  readonly senders: number;
  /** For how long PostgreSQL is away, in milliseconds. */
  readonly awayMs: number;
  /** For how long clients send requests before and afterwards, in milliseconds. */
  readonly aroundMs: number;
}

/** Observations of the clients. */
export interface Away {
  /** Requests by status; 0 is a broken connection. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers that violate the README: with 500, or with 503 without `Retry-After`. */
  readonly broken: readonly string[];
  /** From the end of PostgreSQL until it accepted connections again, including its recovery, in milliseconds. */
  readonly absence: number;
  /** Milliseconds. */
  readonly longestAnswer: number;
  /** The longest time that a client had no good answer, in milliseconds. */
  readonly longestGap: number;
  /** From the first request of a payment to its acceptance, in milliseconds. */
  readonly longestSend: number;
  /**
   * Milliseconds after the return of PostgreSQL at which the last `request_in_progress` was answered; 0 if there was
   * none.
   */
  readonly keyHeld: number;
  /** Number of accepted payments. */
  readonly sends: number;
}

const ADA = 1_000_000;
const PASSPHRASE = "Secure Passphrase";

/** Runs the services on a server, takes it away once under load, and returns what clients observed. */
export async function postgresAway(server: PostgresServer, options: AwayOptions): Promise<Away> {
  const token = randomBytes(16).toString("hex");
  const nats = await startNatsEndpoint({ port: 0, token, log: createLog("warn") });
  const infra = { databaseUrl: server.url, natsUrl: nats.url, natsToken: token, stop: async () => {} };
  const processes: Arbor[] = [];
  try {
    for (const roles of options.processes) {
      processes.push(await Arbor.start({ infra, ownProcess: true, roles, env: { ARBOR_OPERATOR_TOKEN: "" } }));
    }
    return await watch(server, options, processes);
  } finally {
    await Promise.all(processes.map((one) => one.end()));
    await nats.stop();
  }
}

async function watch(server: PostgresServer, options: AwayOptions, processes: readonly Arbor[]): Promise<Away> {
  const front = processes.find(({ places }) => places.has("token service"))!;
  const { devnet } = processes.find(({ places }) => places.has("devnet and faucet"))!;
  const wallets = await Promise.all(
    Array.from({ length: options.senders }, (_, n) => fundedWallet(front, devnet, `sender ${n}`)),
  );
  const user = new User();
  await fund(devnet, front.tokens, user);
  const built = await http(front.tokens, "GET", `/transaction/${user.address}/boot-token`);
  expect(built.status, JSON.stringify(built.body)).toBe(200);
  await land(front.tokens, user.sign(built.body.unsignedTransaction));
  const booted = built.body.value as string;
  await until("the token", async () => (await http(front.tokens, "GET", `/token/${booted}`)).status === 200);

  const statuses = new Map<number, number>();
  const broken = new Set<string>();
  const accepted = new Set<string>();
  let [longestAnswer, longestGap, longestSend, lastHeld, returned, absence, over] = [0, 0, 0, 0, Infinity, 0, false];

  /** One request; returns how long to wait before the next one, in milliseconds, unless the answer is good. */
  const ask = async (base: string, method: string, path: string, body?: unknown, key?: string) => {
    const begun = performance.now();
    let status = 0;
    let text = "";
    let retry: string | null = null;
    try {
      const response = await fetch(base + path, {
        method,
        headers: { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await response.text();
      status = response.status;
      retry = response.headers.get("retry-after");
    } catch {
      // counted as 0
    }
    longestAnswer = Math.max(longestAnswer, performance.now() - begun);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 500 || status === 502 || status === 504 || (status === 503 && retry === null)) {
      broken.add(`${status} ${method} ${path.replace(/[0-9a-z_]{40,}/g, "…")}: ${text.slice(0, 300)}`);
    }
    if (status === 409 && text.includes("request_in_progress")) lastHeld = performance.now();
    return { status, text, wait: retry === null ? 250 : Number(retry) * 1_000 };
  };
  /** A client that repeats an action until the end, and then until one more succeeds. */
  const client = async (one: () => Promise<void>) => {
    let last = performance.now();
    while (!over) {
      await one();
      const now = performance.now();
      longestGap = Math.max(longestGap, now - last);
      last = now;
      await sleep(100 * (0.5 + Math.random()));
    }
  };
  /** Repeats the same request until it succeeds. */
  const insist = async (base: string, method: string, path: string, body?: unknown, key?: string) => {
    for (;;) {
      const answer = await ask(base, method, path, body, key);
      if (answer.status >= 200 && answer.status < 300) return answer;
      if (![0, 409, 500, 503].includes(answer.status)) throw new Error(`${method} ${path}: ${answer.text}`);
      await sleep(answer.wait);
    }
  };
  const [home] = (await http(front.wallets, "GET", `/wallets/${wallets[0]}/addresses`)).body;
  const sender = (id: string) => async () => {
    const key = randomBytes(8).toString("hex");
    const begun = performance.now();
    const body = {
      passphrase: PASSPHRASE,
      payments: [{ address: home.id, amount: { quantity: ADA, unit: "lovelace" } }],
    };
    const { text } = await insist(front.wallets, "POST", `/wallets/${id}/transactions`, body, key);
    longestSend = Math.max(longestSend, performance.now() - begun);
    accepted.add(JSON.parse(text).id);
  };
  const reads: readonly (readonly [base: string, path: string])[] = [
    [front.tokens, `/token/${booted}`],
    [front.tokens, `/token/${booted}/facts`],
    [front.wallets, "/wallets"],
    [front.wallets, `/wallets/${wallets[0]}`],
    [front.wallets, `/wallets/${wallets[0]}/transactions`],
    [front.wallets, "/network/information"],
    [front.operator, "/actors"],
    [front.operator, "/lags"],
    [front.operator, "/workers"],
    [devnet, "/tip"],
  ];
  const request = `/transaction/${user.address}/request-insert/${booted}`;
  const running = [
    client(async () => void await insist(front.tokens, "POST", request, { key: "k", newValue: "v" })),
    client(async () => void await insist(devnet, "POST", "/faucet", { address: user.address, lovelace: 2 * ADA })),
    ...wallets.map((id) => client(sender(id))),
    ...reads.map(([base, path]) => client(async () => void await insist(base, "GET", path))),
  ];
  const store = openStore(server.url, { max: 1 });
  try {
    const all = Promise.all(running);
    await Promise.race([
      all,
      (async () => {
        await sleep(options.aroundMs);
        const struck = performance.now();
        await server.restart("SIGQUIT", options.awayMs);
        returned = performance.now();
        absence = returned - struck;
        await sleep(options.aroundMs);
      })(),
    ]);
    over = true;
    await all;
    // Every accepted payment reaches the ledger, and no other was ever made under those keys.
    const ids = [...accepted];
    await until("the payments land", async () => {
      const [row] = await store.sql<{ n: number }[]>`
        select count(*)::int as n from actor where kind = 'transaction' and id = any(${ids}::text[]) and state = 'in_ledger'`;
      return row!.n === ids.length;
    }, 60_000);
    const [requests] = await store.sql<{ keys: number; made: number }[]>`
      select count(*)::int as keys, count(distinct transaction)::int as made from wallet_request
      where key not like 'transaction %'`;
    expect(requests).toEqual({ keys: ids.length, made: ids.length });
  } finally {
    over = true;
    await store.close();
  }
  return {
    statuses,
    broken: [...broken],
    absence: Math.round(absence),
    longestAnswer: Math.round(longestAnswer),
    longestGap: Math.round(longestGap),
    longestSend: Math.round(longestSend),
    keyHeld: Math.max(0, Math.round(lastHeld - returned)),
    sends: accepted.size,
  };
}

/** Creates a wallet with coins for some payments; returns its id. */
async function fundedWallet(front: Arbor, devnet: string, name: string): Promise<string> {
  const made = await http(front.wallets, "POST", "/wallets", {
    name,
    mnemonic_sentence: newMnemonic(),
    passphrase: PASSPHRASE,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const id = made.body.id as string;
  const { body: [address] } = await http(front.wallets, "GET", `/wallets/${id}/addresses`);
  for (let i = 0; i < 3; i++) {
    const paid = await http(devnet, "POST", "/faucet", { address: address.id, lovelace: 2_000 * ADA });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  }
  await until("the coins", async () => {
    const { body } = await http(front.wallets, "GET", `/wallets/${id}`);
    return body.balance.available.quantity === 6_000 * ADA;
  });
  return id;
}
