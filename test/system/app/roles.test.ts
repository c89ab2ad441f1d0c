/**
 * The service as in production: every role in its own process, two of each role that has a standby. Which processes are
 * ready, why others are not, and what the others observe when one is killed, cut off or stopped.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { type Proxy, startProxy } from "../../support/infra/tcpProxy.ts";
import { fund, http, land, User } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

interface Ready {
  readonly ready: boolean;
  readonly roles: readonly string[];
  readonly reasons: readonly string[];
  readonly checks: Readonly<Record<string, { readonly ready: boolean; readonly says?: unknown }>>;
}

describe("every role a process of its own", () => {
  let infra: Infra;
  let databaseWay: Proxy;
  let natsWay: Proxy;
  const running = new Set<Arbor>();
  const owner = new User();
  let devnet: Arbor;
  let followers: Arbor[];
  let workers: Arbor[];
  let edges: Arbor[];

  const start = async (roles: string, infraOfTest: Infra = infra): Promise<Arbor> => {
    const env = { ARBOR_HEALTH_PORT: "0", ARBOR_LEASE_MS: "1500", ARBOR_BUILDERS: "1" };
    const arbor = await Arbor.start({ infra: infraOfTest, ownProcess: true, roles, env });
    running.add(arbor);
    return arbor;
  };
  const readiness = async (arbor: Arbor): Promise<Ready> => {
    const { status, body } = await http(arbor.health, "GET", "/ready");
    expect(status).toBe(body.ready ? 200 : 503);
    return body;
  };
  const ready = (arbor: Arbor) =>
    until(`${arbor.roles} is ready`, async () => {
      const found = await readiness(arbor);
      return found.ready && found;
    });
  /** Waits until a process gives one of its reasons for not being ready. */
  const unready = (arbor: Arbor, why: RegExp) =>
    until(`${arbor.roles} says ${why}`, async () => (await readiness(arbor)).reasons.find((one) => why.test(one)));
  const leader = async () => {
    const found = await Promise.all(followers.map(readiness));
    return followers[found.findIndex(({ checks }) => /^follows/.test(String(checks.follower?.says)))];
  };
  const boot = async (through: Arbor) => {
    const built = await http(through.tokens, "GET", `/transaction/${owner.address}/boot-token`);
    expect([built.status, built.body]).toEqual([200, expect.anything()]);
    await land(through.tokens, owner.sign(built.body.unsignedTransaction));
    return built.body.value as string;
  };
  const seen = (through: Arbor, token: string) =>
    until(`token ${token}`, async () => (await http(through.tokens, "GET", `/token/${token}`)).status === 200);

  beforeAll(async () => {
    infra = await sharedInfra();
    const way = (url: string, usual: number) => {
      const { hostname, port } = new URL(url.replace(/^\w+:/, "http:"));
      return startProxy({ host: hostname, port: Number(port) || usual });
    };
    [databaseWay, natsWay] = await Promise.all([way(infra.databaseUrl, 5432), way(infra.natsUrl, 4222)]);
  });
  afterAll(async () => {
    for (const arbor of running) await arbor.end("SIGKILL");
    await Promise.all([databaseWay?.cut(), natsWay?.cut()]);
    await infra?.stop();
  });

  it("an edge that starts first is live, and is not ready while no worker serves", async () => {
    edges = [await start("edge")];
    expect((await http(edges[0]!.health, "GET", "/health")).body).toMatchObject({ status: "alive", roles: ["edge"] });
    expect(await unready(edges[0]!, /^partitions/)).toBe("partitions: no worker has started yet");
    const { status, body } = await http(edges[0]!.tokens, "GET", "/ready");
    expect([status, body.reasons]).toEqual([503, expect.arrayContaining(["partitions: no worker has started yet"])]);
  });

  it("the others start at the same time, and every process becomes ready", async () => {
    const database = new URL(infra.databaseUrl);
    database.host = `127.0.0.1:${databaseWay.port}`;
    const far = { ...infra, databaseUrl: database.href, natsUrl: `nats://127.0.0.1:${natsWay.port}` };
    const [edge, ...others] = await Promise.all(
      ["edge", "worker", "worker", "follower", "follower", "devnet"].map((roles) => start(roles, far)),
    );
    edges.push(edge!);
    workers = others.slice(0, 2);
    followers = others.slice(2, 4);
    devnet = others[4]!;
    for (const arbor of running) {
      expect((await http(arbor.health, "GET", "/health")).body).toMatchObject({
        status: "alive",
        roles: [arbor.roles],
      });
      await ready(arbor);
    }
    const says = await Promise.all(followers.map(async (one) => (await readiness(one)).checks.follower?.says));
    expect(says.map((one) => String(one).split(",")[0]).sort()).toEqual(["follows", "standby"]);
    await until("each worker has its share", async () => {
      const served = await Promise.all(workers.map(async (one) => (await readiness(one)).checks.worker?.says));
      return served.every((one) => one === "32 partitions are served");
    });
  });

  it("a token booted through one edge is seen through the other", async () => {
    await fund(devnet.devnet, edges[0]!.tokens, owner);
    const token = await boot(edges[0]!);
    await seen(edges[1]!, token);
    await seen(edges[0]!, await boot(edges[1]!));
  });

  it("kill -9 of the follower: the standby follows", async () => {
    const killed = (await until("a follower", leader))!;
    await killed.end("SIGKILL");
    running.delete(killed);
    followers = followers.filter((one) => one !== killed);
    const began = performance.now();
    expect(await until("the other follows", leader)).toBe(followers[0]);
    const took = Math.round(performance.now() - began);
    await seen(edges[1]!, await boot(edges[0]!));
    console.log(`the standby follows ${took} ms after kill -9`);
  });

  it("kill -9 of a worker: the other serves everything, and edges are ready", async () => {
    const killed = workers.pop()!;
    await killed.end("SIGKILL");
    running.delete(killed);
    const began = performance.now();
    const token = await boot(edges[0]!);
    const answered = Math.round(performance.now() - began);
    await until(
      "the other serves everything",
      async () => (await readiness(workers[0]!)).checks.worker?.says === "64 partitions are served",
    );
    for (const edge of edges) await ready(edge);
    await seen(edges[1]!, token);
    console.log(`a token was booted within ${answered} ms of kill -9`);
  });

  it.each(
    [
      ["PostgreSQL", () => databaseWay, /^database/],
      ["NATS", () => natsWay, /^nats/],
    ] as const,
  )("without %s processes report that, stay live, and are ready when it is back", async (_, way, why) => {
    const [near, ...far] = [...running];
    expect(near).toBe(edges[0]);
    await way().cut();
    for (const arbor of far) {
      await unready(arbor, why);
      expect((await http(arbor.health, "GET", "/health")).status).toBe(200);
    }
    // Longer than any lease; a process with both roles learns that no worker serves.
    if (way() === databaseWay) await unready(near!, /^partitions: 64 of 64/);
    else await sleep(2_000);
    await way().mend();
    const began = performance.now();
    for (const arbor of running) await ready(arbor);
    const took = Math.round(performance.now() - began);
    await seen(edges[1]!, await boot(near!));
    await seen(near!, await boot(edges[1]!));
    console.log(`all are ready ${took} ms after it was back`);
  });

  it("the last worker ends: edges report that no worker serves, and are ready with the next one", async () => {
    const last = workers.pop()!;
    await last.end();
    running.delete(last);
    expect(last.child.exitCode).toBe(0);
    for (const edge of edges) {
      expect(await unready(edge, /^partitions/)).toBe("partitions: 64 of 64 partitions have no worker");
    }
    workers.push(await start("worker"));
    for (const edge of edges) await ready(edge);
  });

  it("SIGTERM ends each of them in order, in any sequence", async () => {
    for (const arbor of [...workers, ...followers, devnet, ...edges]) {
      const began = performance.now();
      await arbor.end();
      running.delete(arbor);
      expect([arbor.roles, arbor.child.exitCode, arbor.printed.match(/cut off|failed/)]).toEqual([
        arbor.roles,
        0,
        null,
      ]);
      console.log(`${arbor.roles} ended ${Math.round(performance.now() - began)} ms after SIGTERM`);
    }
  });
});
