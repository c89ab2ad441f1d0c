/**
 * A transaction whose mailbox is full, over HTTP: refusals have Retry-After, accepted commands are applied, deadlines
 * are propagated.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#src/app/application.ts";
import { readOptions } from "#src/app/options.ts";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { fund, http, land, User } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

const CAPACITY = 4;

describe("a transaction that many submit at once", () => {
  let infra: Infra;
  let folder: string;
  let app: App;
  let tokens: string;
  let operator: string;
  const user = new User();
  /** Blocks the turns of transactions while it exists. */
  let gate: Promise<void> | undefined;
  let open = () => {};
  let held = 0;

  beforeAll(async () => {
    infra = await sharedInfra();
    folder = await mkdtemp(path.join(tmpdir(), "arbor-"));
    const ports = ["token", "wallet", "devnet", "node", "operator"].flatMap((name) => [`--${name}-port`, "0"]);
    const options = readOptions(
      [
        ...[
          "--folder",
          folder,
          "--mailbox",
          String(CAPACITY),
          "--block-ms",
          "150",
          "--slot-ms",
          "50",
          "--builders",
          "1",
        ],
        ...ports,
      ],
      { DATABASE_URL: infra.databaseUrl, NATS_URL: infra.natsUrl, NATS_TOKEN: infra.natsToken },
    );
    if (!options.ok || options.value === "help") throw new Error("bad options");
    app = await startApp(options.value, silentLog, () => {}, {
      worker: ({ at, entity }) => {
        if (gate === undefined || at !== "before-commit" || entity.kind !== "transaction") return;
        held++;
        return gate;
      },
    });
    const at = (name: string) => app.listening.find((one) => one.name === name)!.at;
    tokens = at("token service");
    operator = at("operator service");
    await fund(at("devnet and faucet"), tokens, user);
  });
  afterAll(async () => {
    open();
    await app?.stop();
    await infra?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const close = () => {
    held = 0;
    gate = new Promise((resolve) =>
      open = () => {
        gate = undefined;
        resolve();
      }
    );
  };
  const signed = async () => {
    const built = await http(tokens, "GET", `/transaction/${user.address}/boot-token`);
    expect(built.status).toBe(200);
    const transaction = user.sign(built.body.unsignedTransaction);
    return { transaction, hash: CSL.FixedTransaction.from_hex(transaction).transaction_hash().to_hex() };
  };
  const post = async (transaction: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${tokens}/transaction`, {
      method: "POST",
      headers,
      body: JSON.stringify({ signedTransaction: transaction }),
    });
    return { status: response.status, after: response.headers.get("retry-after"), body: await response.json() };
  };
  const submits = async (hash: string) => {
    const { body } = await http(operator, "GET", `/actors/transaction/${hash}/history?limit=500`);
    return (body.transitions ?? []).filter(({ event }: { event: string }) => event === "SUBMIT");
  };
  const depth = async () => (await http(operator, "GET", "/workers")).body.workers[0].waiting as number;

  it("is refused if the mailbox is full, with 503 and Retry-After; all accepted commands are applied, once", async () => {
    const { transaction, hash } = await signed();
    close();
    const first = post(transaction);
    await until("the first is being written", async () => held === 1);
    const taken = Array.from({ length: CAPACITY }, () => post(transaction));
    await until("the mailbox is full", async () => await depth() === CAPACITY);
    for (const refused of await Promise.all([post(transaction), post(transaction)])) {
      expect(refused).toEqual({
        status: 503,
        after: expect.stringMatching(/^[1-9]\d*$/),
        body: { code: "overloaded", error: expect.any(String) },
      });
    }
    open();
    for (const answer of await Promise.all([first, ...taken])) {
      expect(answer).toEqual({ status: 200, after: null, body: { txHash: hash } });
    }
    const applied = await submits(hash);
    expect(applied).toHaveLength(CAPACITY + 1);
    expect(new Set(applied.map(({ cause }: { cause: string }) => cause)).size).toBe(CAPACITY + 1);
    await until(
      "it is in the ledger",
      async () => (await http(tokens, "GET", `/transaction?txHash=${hash}`)).status === 200,
    );
    // The network was queried once.
    const { body } = await http(operator, "GET", `/actors/transaction/${hash}/history?limit=500`);
    expect(body.transitions.filter(({ event }: { event: string }) => event === "ACCEPTED")).toHaveLength(1);
  });

  it("is not applied for a client whose deadline passes before its turn", async () => {
    const { transaction, hash } = await signed();
    close();
    const first = post(transaction);
    await until("the first is being written", async () => held === 1);
    expect(await post(transaction, { "arbor-timeout": "300" })).toMatchObject({
      status: 503,
      after: expect.stringMatching(/^[1-9]\d*$/),
      body: { code: "unavailable" },
    });
    // the worker counts from the command's arrival
    await sleep(1_000);
    open();
    expect((await first).status).toBe(200);
    await until("the mailbox is empty", async () => await depth() === 0);
    expect(await submits(hash)).toHaveLength(1);
    await land(tokens, transaction);
  });

  it("submitted again, at once and when it is in the ledger, has the same answer", async () => {
    const { transaction, hash } = await signed();
    const answers = await Promise.all([post(transaction), post(transaction), post(transaction)]);
    await land(tokens, transaction);
    answers.push(await post(transaction));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { txHash: hash } });
  });

  it("ends a build whose client no longer waits", async () => {
    const response = await fetch(`${tokens}/transaction/${user.address}/boot-token`, {
      headers: { "arbor-timeout": "1" },
    });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^[1-9]/)]);
    expect(["deadline", "unavailable"]).toContain((await response.json()).code);
  });

  it("refuses an invalid time limit, and shortens one that is too long", async () => {
    const { transaction } = await signed();
    for (const limit of ["0", "-1", "1.5", "soon", ""]) {
      expect((await post(transaction, { "arbor-timeout": limit })).body.code, limit).toBe("bad_request");
    }
    expect((await post(transaction, { "arbor-timeout": "999999999" })).status).toBe(200);
  });

  it("documents Retry-After in its OpenAPI document", async () => {
    const { paths } = (await http(tokens, "GET", "/openapi.json")).body;
    const operations = Object.values(paths).flatMap((path) => Object.values(path as object));
    const busy = operations.flatMap(({ responses }) => responses["503"] ?? []);
    expect(busy.length).toBeGreaterThan(6);
    for (const response of busy) expect(response.headers["Retry-After"].schema).toEqual({ type: "integer" });
    expect(paths["/transaction"].post.parameters.map(({ name }: { name: string }) => name)).toContain("arbor-timeout");
  });
});
