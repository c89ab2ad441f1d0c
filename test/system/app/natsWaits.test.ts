/** A start whose NATS server is not there: it names the address and the option, waits, and goes on when the server is there. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp } from "#src/app/application.ts";
import { readOptions } from "#src/app/options.ts";
import { silentLog } from "#src/base/log.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { until } from "../../support/base/until.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

let infra: Infra;
beforeAll(async () => void (infra = await sharedInfra()));
afterAll(() => infra?.stop());

it("names the address and the option within seconds, without the credentials, and starts once it answers", async () => {
  const port = await freePort();
  const read = readOptions([], {
    DATABASE_URL: infra.databaseUrl,
    NATS_URL: `nats://someone:hidden@127.0.0.1:${port}`,
    NATS_TOKEN: "private",
    ARBOR_ROLES: "worker",
    ARBOR_HEALTH_PORT: "0",
  });
  if (!read.ok || read.value === "help") throw new Error("the options are not valid");
  const lines: string[] = [];
  const starting = startApp(read.value, silentLog, (line) => {
    // the test's database is not durable
    if (!line.startsWith("Warning: PostgreSQL")) lines.push(line);
  });
  // it has not given up where there is nothing to say yet
  const ended = starting.then((app) => app, (error: Error) => error);
  let app: App | Error | undefined;
  let endpoint: NatsEndpoint | undefined;
  try {
    await until("it says what it waits for", () => Promise.resolve(lines.length > 0));
    expect(lines).toEqual([
      `The NATS server at 127.0.0.1:${port} (--nats-url) does not answer: no program listens there (ECONNREFUSED). The start waits for it`,
    ]);
    endpoint = await startNatsEndpoint({ port, token: "private", log: silentLog });
    app = await ended;
    expect(app).not.toBeInstanceOf(Error);
  } finally {
    if (app !== undefined && !(app instanceof Error)) await app.stop();
    await endpoint?.stop();
  }
});
