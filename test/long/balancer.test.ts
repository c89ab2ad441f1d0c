/** HAProxy with the configuration of compose.yaml before two edges: an edge that ends fails no request, streams pass. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "#src/embedded/postgres/ports.ts";
import { readEvents } from "#src/client/sse.ts";
import { endChild } from "../support/base/processes.ts";
import { until } from "../support/base/until.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { Arbor } from "../support/service/arbor.ts";
import { fund, http, User } from "../support/service/user.ts";

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const installed = spawnSync("haproxy", ["-v"], { env }).error === undefined;
if (!installed) console.warn("SKIPPED: no haproxy is installed. On Debian: apt-get install haproxy.");

describe.skipIf(!installed)("the balancer", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-balancer-"));
  const arbors: Arbor[] = [];
  const ports = new Map<number, number>();
  let infra: Infra;
  let balancer: ChildProcess;
  const at = (port: number) => `http://127.0.0.1:${ports.get(port)}`;

  beforeAll(async () => {
    infra = await sharedInfra();
    arbors.push(await Arbor.start({ infra, ownProcess: true, roles: "devnet,follower,worker" }));
    let text = readFileSync("examples/deploy/haproxy/haproxy.cfg", "utf8").replace("check port 8095", "check");
    for (const edge of ["edge-1", "edge-2"]) {
      const health = await freePort();
      const arbor = await Arbor.start({
        infra,
        ownProcess: true,
        roles: "edge",
        env: { ARBOR_HEALTH_PORT: String(health), ARBOR_PROXIES: "1" },
      });
      arbors.push(arbor);
      for (const [port, place] of [[3000, arbor.tokens], [8090, arbor.wallets], [8091, arbor.operator]] as const) {
        text = text.replace(`${edge}:${port}`, `127.0.0.1:${new URL(place).port} port ${health}`);
      }
    }
    for (const port of [3000, 8090, 8091, 8404]) {
      ports.set(port, await freePort());
      text = text.replace(`bind :${port}`, `bind 127.0.0.1:${ports.get(port)}`);
    }
    writeFileSync(path.join(folder, "haproxy.cfg"), text);
    balancer = spawn("haproxy", ["-f", path.join(folder, "haproxy.cfg")], { env, stdio: "ignore" });
    await until("both edges behind the balancer", async () => {
      const text = await fetch(`${at(8404)}/metrics`).then((response) => response.text(), () => "");
      return text.match(/^haproxy_server_check_status\{.*state="L7OK"\} 1$/gm)?.length === 6;
    });
  });
  afterAll(async () => {
    if (balancer) await endChild(balancer, "SIGTERM");
    for (const arbor of arbors.reverse()) await arbor.end();
    await infra?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("serves tokens, wallets and operators, and passes events on as they come", async () => {
    const stop = new AbortController();
    const response = await fetch(`${at(8091)}/events?kind=transaction&from=now`, { signal: stop.signal });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = readEvents(response.body!);
    const owner = new User();
    await fund(arbors[0]!.devnet, at(3000), owner);
    const built = await http(at(3000), "GET", `/transaction/${owner.address}/boot-token`);
    const signedTransaction = owner.sign(built.body.unsignedTransaction);
    const { body: { txHash } } = await http(at(3000), "POST", "/transaction", { signedTransaction });
    for await (const item of events) if (JSON.stringify(item).includes(txHash)) break;
    stop.abort();
    expect((await http(`${at(8090)}/v2`, "GET", "/wallets")).status).toBe(200);
  });

  it("fails no request while an edge ends", async () => {
    const ended = { yes: false };
    const ending = arbors[1]!.end().then(() => ended.yes = true);
    const codes: number[] = [];
    // a while longer than the end, so that requests meet an edge that refuses connections
    for (let after = 0; after < 50; after += ended.yes ? 1 : 0) {
      codes.push((await http(`${at(8090)}/v2`, "GET", "/wallets")).status);
    }
    await ending;
    expect(new Set(codes)).toEqual(new Set([200]));
  });
});
