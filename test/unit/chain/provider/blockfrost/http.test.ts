/** Requests to a service that is busy, slow, interrupted, hostile or of another network. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createLog } from "#src/base/log.ts";
import { BlockfrostError } from "#src/chain/provider/blockfrost/errors.ts";
import { BlockfrostHttp, type BlockfrostHttpSettings } from "#src/chain/provider/blockfrost/http.ts";
import { RateLimiter } from "#src/chain/provider/blockfrost/rateLimiter.ts";
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { type Fault, serveBlockfrost, type Served } from "../../../../support/blockfrost/blockfrostServer.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";

const SECRET = "previewQ7dmRbq0Zt4mXkqE1sGxTz8YwVhLu3Na";
const FAST = { rate: { perSecond: 5_000, burst: 5_000 }, firstWaitMs: 1 } satisfies Partial<BlockfrostHttpSettings>;

let ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function serve(settings: { projectId?: string } = {}): Promise<Served> {
  const chain = new MemoryChain();
  chain.add();
  const served = await serveBlockfrost(memoryPort(chain, { random: () => 0.5 }), settings);
  ends.push(() => served.close());
  return served;
}

function client(served: { url: string }, settings: Partial<BlockfrostHttpSettings> = {}): BlockfrostHttp {
  const http = new BlockfrostHttp({ url: served.url, ...FAST, ...settings });
  ends.push(() => http.close());
  return http;
}

function port(
  served: { url: string },
  settings: Partial<BlockfrostHttpSettings> = {},
): { port: BlockfrostPort; lines: string[] } {
  const lines: string[] = [];
  const made = blockfrostPort({
    ...{ url: served.url, magic: 42, log: createLog("debug", {}, (line) => void lines.push(line)) },
    ...FAST,
    ...settings,
  });
  ends.push(() => made.close());
  return { port: made, lines };
}

const failureOf = (work: Promise<unknown>) =>
  work.then(() => expect.fail("it was answered"), (error) => {
    if (error instanceof BlockfrostError) return error.failure;
    throw error;
  });

/** A fault for the first `n` requests. */
const first = (count: number, fault: Fault) => (_path: string, times: number) => times <= count ? fault : undefined;

describe("a service that cannot answer now", () => {
  it.each([408, 425, 429, 500, 502, 503, 504])("is requested again after status %i", async (status) => {
    const served = await serve();
    served.fault = first(3, { status, body: `{"status_code":${status},"error":"x","message":"y"}` });
    expect(await client(served).get("/genesis")).toMatchObject({ network_magic: 42 });
    expect(served.requests).toHaveLength(4);
  });

  it("is requested a limited number of times, and its message is reported", async () => {
    const served = await serve();
    served.fault = () => ({ status: 503, body: "the lights are out" });
    const failure = await failureOf(client(served).get("/genesis"));
    expect(failure).toMatchObject({ code: "unreachable" });
    expect(failure!.message).toMatch(/status 503: the lights are out$/);
    expect(served.requests).toHaveLength(5);
  });

  it("is not requested for as long as it says", async () => {
    const served = await serve();
    const came: number[] = [];
    served.fault = (_path, times) => {
      came.push(performance.now());
      return times === 1 ? { status: 429, headers: { "retry-after": "1" }, body: "{}" } : undefined;
    };
    await client(served).get("/genesis");
    expect(came[1]! - came[0]!).toBeGreaterThan(950);
  });

  it.each([402, 418])("is not requested for a while after status %i", async (status) => {
    const served = await serve();
    served.fault = () => ({ status, body: `{"status_code":${status},"error":"x","message":"Usage is over limit."}` });
    const now = vi.spyOn(performance, "now").mockReturnValue(1_000);
    ends.push(() => now.mockRestore());
    const http = client(served, { exhaustedMs: 200 });
    expect(await failureOf(http.get("/genesis"))).toMatchObject({ code: "exhausted" });
    const again = await failureOf(http.get("/blocks/latest"));
    expect(again!.message).toContain("Usage is over limit");
    expect(served.requests).toHaveLength(1);
    served.fault = () => undefined;
    now.mockReturnValue(1_200);
    expect(await http.get("/genesis")).toMatchObject({ network_magic: 42 });
  });

  it("is given up if it does not answer", async () => {
    const served = await serve();
    served.fault = () => ({ silent: true });
    const failure = await failureOf(client(served, { answerMs: 500, attempts: 2 }).get("/genesis"));
    expect(failure).toMatchObject({ code: "unreachable" });
    expect(failure!.message).toContain("did not respond within 0.5 s");
    expect(served.requests).toHaveLength(2);
  });

  it("cannot be reached", async () => {
    const failure = await failureOf(client({ url: "http://127.0.0.1:1/api/v0" }, { attempts: 2 }).get("/genesis"));
    expect(failure).toMatchObject({ code: "unreachable" });
    expect(failure!.message).toMatch(/127\.0\.0\.1:1 cannot be reached/);
  });

  it("is not waited for after an abort", async () => {
    const served = await serve();
    served.fault = () => ({ silent: true });
    const controller = new AbortController();
    const failure = failureOf(client(served).get("/genesis", controller.signal));
    setTimeout(() => controller.abort(), 30);
    expect(await failure).toMatchObject({ code: "aborted" });
  });
});

describe("an unusable answer", () => {
  it("is requested again if the connection broke", async () => {
    const served = await serve();
    served.fault = first(2, { cutAfter: 20 });
    expect(await client(served).get("/genesis")).toMatchObject({ network_magic: 42 });
  });

  it("is requested again if the text is truncated", async () => {
    const served = await serve();
    served.fault = first(2, { body: `{"network_magic": 4` });
    expect(await client(served).get("/genesis")).toMatchObject({ network_magic: 42 });
    served.fault = () => ({ body: `{"network_magic": 4` });
    expect(await failureOf(client(served).get("/genesis"))).toMatchObject({ code: "unusable" });
  });

  it("is not read beyond its limit, nor requested again", async () => {
    let sent = 0;
    let requestCount = 0;
    const endless = createServer((_request, response) => {
      requestCount++;
      const chunk = `"${"x".repeat(65_000)}",`;
      response.write("[");
      const more = () => {
        while (!response.destroyed && sent < 50_000_000) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", more);
        }
      };
      more();
    });
    await new Promise<void>((resolve) => endless.listen(0, "127.0.0.1", resolve));
    ends.push(() => new Promise((resolve) => (endless.closeAllConnections(), endless.close(resolve))));
    const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
    const failure = await failureOf(client({ url }, { maxBytes: 1_000_000 }).get("/genesis"));
    expect(failure).toEqual({ code: "unusable", message: expect.stringContaining("more than 1000000 bytes") });
    expect(requestCount).toBe(1);
    expect(sent).toBeLessThan(20_000_000);
  });

  it.each([
    ["nested too deeply", "[".repeat(200_000)],
    ["of another kind", `{"network_magic":"forty-two"}`],
    ["a number out of range", `{"network_magic":1e400,"security_param":1,"slot_length":1,"system_start":1}`],
    ["nothing", ""],
  ])("is unusable if it is %s", async (_what, body) => {
    const served = await serve();
    served.fault = () => ({ body });
    const checked = await port(served, { attempts: 1 }).port.check();
    expect(checked).toMatchObject({ ok: false, error: { code: "unusable" } });
  });

  it("distinguishes a missing object from an unsupported request", async () => {
    const served = await serve();
    expect(await failureOf(client(served).get(`/blocks/${"00".repeat(32)}`))).toMatchObject({ code: "absent" });
    expect(await client(served).find(`/blocks/${"00".repeat(32)}`)).toBeUndefined();
    served.lacks = ["/genesis"];
    expect(await failureOf(client(served).get("/genesis"))).toMatchObject({ code: "lacking" });
  });
});

describe("the project id", () => {
  it("is accepted by its service", async () => {
    const served = await serve({ projectId: SECRET });
    expect(await port(served, { projectId: SECRET }).port.check()).toMatchObject({
      ok: true,
      value: { magic: 42, id: 0 },
    });
    expect(served.problems).toEqual([]);
  });

  it("is refused with a message if wrong or missing, once", async () => {
    const served = await serve({ projectId: SECRET });
    const wrong = await port(served, { projectId: "another" }).port.check();
    expect(wrong).toMatchObject({ ok: false, error: { code: "unauthorized" } });
    const missing = await port(served).port.check();
    if (missing.ok) throw new Error("the request was accepted");
    expect(missing.error.message).toMatch(/does not accept the project id, which is missing: .*Invalid project token/);
    expect(served.requests).toHaveLength(2);
  });

  it("is in no failure and no log line, even where the service repeats it", async () => {
    const served = await serve();
    for (const status of [400, 402, 403, 404, 418, 429, 500, 302]) {
      served.fault = () => ({
        status,
        body: `${"no ".repeat(90)}${SECRET} ${SECRET} is wrong`,
        headers: { location: `/${SECRET}` },
      });
      const { port: made, lines } = port(served, { projectId: SECRET, attempts: 2 });
      const answers = [
        await made.check(),
        await made.tip(),
        await made.parameters(),
        await made.utxosByRef([{ txHash: "00".repeat(32), index: 0 }]),
      ];
      expect(JSON.stringify(answers)).not.toContain(SECRET);
      expect(lines.join()).not.toContain(SECRET);
      expect(JSON.stringify(answers)).not.toContain(SECRET.slice(0, 12));
    }
  });

  it("is not sent along a redirect", async () => {
    const seen: unknown[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.project_id);
      response.end("{}");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    ends.push(() => new Promise((resolve) => other.close(resolve)));
    const served = await serve();
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/genesis`;
    served.fault = () => ({ status: 302, headers: { location } });
    const failure = await failureOf(client(served, { projectId: SECRET, attempts: 1 }).get("/genesis"));
    expect(failure).toMatchObject({ code: "unreachable" });
    expect(seen).toEqual([]);
  });
});

describe("a network", () => {
  it("of another magic is refused", async () => {
    const served = await serve();
    const other = blockfrostPort({ url: served.url, magic: 2, log: createLog("error", {}, () => {}), ...FAST });
    ends.push(() => other.close());
    expect(await other.check()).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("magic 42, not 2") },
    });
    await expect(other.network()).rejects.toThrow("magic 42");
  });

  it("is waited for until its service answers", async () => {
    const served = await serve();
    served.fault = first(7, { status: 503, body: "{}" });
    expect(await port(served, { attempts: 2 }).port.network()).toMatchObject({ magic: 42 });
  });

  it("is computed from the newest block if the service gives no eras, also with double slashes in the URL", async () => {
    const served = await serve();
    const network = await port(served).port.network();
    served.lacks = ["/network/eras"];
    const { slots } = await port({ url: `${served.url}//` }).port.network();
    expect(slots).toEqual({ zeroSlot: 1, zeroTime: 1_000, slotLength: 1_000 });
    expect(slots.zeroTime - slots.zeroSlot * slots.slotLength).toBe(network.slots.zeroTime);
    expect(served.problems).toEqual([]);
  });
});

describe("the rate limit", () => {
  it("lets through a burst", async () => {
    const pace = new RateLimiter({ perSecond: 0.001, burst: 10 });
    const controller = new AbortController();
    await Promise.all(Array.from({ length: 10 }, () => pace.take(controller.signal)));
    let passed = false;
    const next = pace.take(controller.signal).then(() => passed = true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(passed).toBe(false);
    controller.abort();
    await next;
  });

  it("lets through no more than its rate afterwards", async () => {
    const pace = new RateLimiter({ perSecond: 100, burst: 10 });
    const { signal } = new AbortController();
    const begun = performance.now();
    await Promise.all(Array.from({ length: 30 }, () => pace.take(signal)));
    // a timer may fire late, and a millisecond early
    expect(performance.now() - begun).toBeGreaterThan(190);
  });
});
