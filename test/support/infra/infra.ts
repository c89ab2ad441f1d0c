/** Infrastructure of a system test: a database of its own and a NATS endpoint. */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { inject } from "vitest";
import { createLog } from "#src/base/log.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { openStore } from "#src/store/store.ts";
import type {} from "./providedContext.ts";

export interface Infra {
  /** A database made for this call. */
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** The token that grants all permissions; undefined if the server of NATS_URL requires none. */
  readonly natsToken: string | undefined;
  /** Drops the database, and closes the endpoint. */
  stop(): Promise<void>;
}

interface Nats {
  readonly url: string;
  readonly token: string | undefined;
  stop(): Promise<void>;
}

async function startNats(): Promise<Nats> {
  const given = process.env.NATS_URL;
  if (given) return { url: given, token: process.env.NATS_TOKEN, stop: async () => {} };
  const token = randomBytes(16).toString("hex");
  const endpoint: NatsEndpoint = await startNatsEndpoint({ port: 0, token, log: createLog("warn") });
  return { url: endpoint.url, token, stop: endpoint.stop };
}

let given: Infra | undefined;

/** Makes `sharedInfra` give this one, which nothing but its owner stops; undefined: one of its own to each caller again. */
export function shareInfra(infra: Infra | undefined): void {
  given = infra && { ...infra, stop: async () => {} };
}

/**
 * A new database on the run's server, with a NATS endpoint (or the servers of DATABASE_URL and NATS_URL). The database
 * has the program's tables, without rows; with `empty` it has none. Two devnets may not share an endpoint: each would
 * answer the other's submissions.
 */
export async function sharedInfra({ empty = false }: { readonly empty?: boolean } = {}): Promise<Infra> {
  if (given) return given;
  const server = inject("databaseUrl");
  const name = `arbor_test_${randomBytes(8).toString("hex")}`;
  const admin = openStore(server, { max: 1 });
  await admin.sql.unsafe(`create database ${name} template ${empty ? "template0" : inject("databaseTemplate")}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const nats = await startNats();
  const stop = async () => {
    await nats.stop();
    await admin.sql.unsafe(`drop database if exists ${name} with (force)`);
    await admin.close();
  };
  let stopping: Promise<void> | undefined;
  return { databaseUrl: url.href, natsUrl: nats.url, natsToken: nats.token, stop: () => stopping ??= stop() };
}
