/** The wallet service as its users protect and watch it: TLS with clients' certificates, and cardano-wallet's monitoring. */
import { spawnSync } from "node:child_process";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authority } from "#src/cli/certificates.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { temporaryFiles } from "../../support/infra/tlsCertificates.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let arbor: Arbor;
let files: Awaited<ReturnType<typeof certificateFiles>>;

async function certificateFiles() {
  const authority = await Authority.create();
  const [own, server, client] = [
    await authority.pem(),
    await authority.server(["localhost", "127.0.0.1"]),
    await authority.client("operator"),
  ];
  const stranger = await (await Authority.create()).client("stranger");
  const late = await authority.client("late", -1);
  return await temporaryFiles({
    "ca.crt": own.certificate,
    "server.crt": server.certificate,
    "server.key": server.key,
    "client.crt": client.certificate,
    "client.key": client.key,
    "stranger.crt": stranger.certificate,
    "stranger.key": stranger.key,
    "late.crt": late.certificate,
    "late.key": late.key,
  });
}

beforeAll(async () => {
  [infra, files] = await Promise.all([sharedInfra(), certificateFiles()]);
  arbor = await Arbor.start({
    ownProcess: true,
    infra,
    env: {
      ARBOR_TLS_CA_CERT: files["ca.crt"],
      ARBOR_TLS_SV_CERT: files["server.crt"],
      ARBOR_TLS_SV_KEY: files["server.key"],
      ARBOR_HEALTH_PORT: "0",
      ARBOR_HOSTS: "arbor-1,arbor.internal",
      CARDANO_WALLET_PROMETHEUS_PORT: "0",
      CARDANO_WALLET_EKG_PORT: "0",
      CARDANO_WALLET_EKG_HOST: "localhost",
    },
  });
});
afterAll(async () => {
  await arbor?.end();
  await Promise.all([infra?.stop(), files?.remove()]);
});

/** curl's exit code and what it printed. */
function curl(...args: string[]): { code: number | null; output: string } {
  const { status, stdout } = spawnSync("curl", ["--silent", "--max-time", "10", ...args], { encoding: "utf8" });
  return { code: status, output: stdout };
}
const ca = () => ["--cacert", files["ca.crt"]];
const as = (name: "client" | "stranger" | "late") => ["--cert", files[`${name}.crt`], "--key", files[`${name}.key`]];

describe("the wallet service with TLS", () => {
  it("says https where it listens, and answers curl with a client's certificate", () => {
    expect(arbor.wallets).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/v2$/);
    const { code, output } = curl(...ca(), ...as("client"), `${arbor.wallets}/network/information`);
    expect([code, JSON.parse(output)]).toEqual([0, expect.objectContaining({ node_era: "conway" })]);
  });

  it("gives no byte to other clients, and goes on", () => {
    const url = `${arbor.wallets}/network/information`;
    const plain = url.replace("https:", "http:");
    const refused = [
      curl(...ca(), url),
      curl(...ca(), ...as("stranger"), url),
      curl(...ca(), ...as("late"), url),
      curl(plain),
    ];
    expect(refused.map(({ output }) => output)).toEqual(["", "", "", ""]);
    expect(refused.every(({ code }) => code !== 0)).toBe(true);
    expect(curl(...ca(), ...as("client"), url).code).toBe(0);
  });

  it("keeps the other services as they were", async () => {
    expect((await fetch(`${arbor.tokens}/health`)).status).toBe(200);
  });
});

const at = (name: string) => arbor.printed.match(new RegExp(`^${name} +(\\S+)$`, "m"))![1]!;

describe("ports of metrics", () => {
  const metrics = () => [`${arbor.health}/metrics`, at("Prometheus"), `${at("EKG")}/process/resident_memory_bytes`];
  /** The status of an answer to a request that names a host. */
  const status = (url: string, host: string) =>
    new Promise<number | undefined>((resolve, reject) =>
      request(url, { headers: { host } }, (answer) => resolve(answer.resume().statusCode)).on("error", reject).end()
    );

  it.each(["127.0.0.1:8095", "localhost:8095", "[::1]", "10.1.2.3:8095", "arbor-1:8095", "arbor.internal"])(
    "answer a scraper that calls them %s",
    async (host) => {
      for (const url of metrics()) expect([url, await status(url, host)]).toEqual([url, 200]);
    },
  );

  it.each(["attacker.example:8095", "arbor-1.attacker.example", "127.0.0.1.attacker.example"])(
    "answer no page whose name %s leads here, except for health checks",
    async (host) => {
      for (const url of metrics()) expect([url, await status(url, host)]).toEqual([url, 403]);
      for (const path of ["/health", "/ready"]) expect(await status(arbor.health + path, host)).toBe(200);
    },
  );
});

describe("cardano-wallet's monitoring", () => {
  it("serves Prometheus's text", async () => {
    const answer = await fetch(at("Prometheus"));
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/plain")]);
    expect(await answer.text()).toMatch(/^process_start_time_seconds \d/m);
  });

  it("serves EKG's JSON, whole and by name", async () => {
    const whole = await (await fetch(at("EKG"), { headers: { accept: "application/json" } })).json();
    expect(whole).toMatchObject({
      ekg: { server_timestamp_ms: { type: "c", val: expect.any(Number) } },
      process: { resident_memory_bytes: { type: "g", val: expect.any(Number) } },
      arbor: {
        statement_seconds: { type: "d", count: expect.any(Number) },
        partition_moves_total: { taken: { type: "c" } },
      },
    });
    const one = await fetch(`${at("EKG")}/process/resident_memory_bytes`);
    expect(await one.json()).toEqual({ type: "g", val: expect.any(Number) });
    for (const path of ["/nothing", "/process/resident_memory_bytes/val", "/__proto__", "/%ff"]) {
      expect([path, (await fetch(at("EKG") + path)).status]).toEqual([path, 404]);
    }
  });
});
