/** The machine's clock against NTP servers on loopback that tell the truth, lie, are late, are silent or speak nonsense. */
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { NtpClock, type NtpOptions } from "#src/base/ntpClock.ts";
import { agreedOffset, ntpRequest, readNtpAnswer } from "#src/base/ntpPacket.ts";
import {
  ahead,
  type NtpBehaviour,
  ntpServer,
  type NtpTestServer,
  reply,
  timestamp,
} from "../../support/infra/ntpServer.ts";
import { edgeAlone } from "../../support/service/walletEdge.ts";

const HOUR = 3_600_000_000;
const nonce = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]);

describe("an NTP packet", () => {
  const request = ntpRequest(nonce);
  const read = (packet: Uint8Array, sent = 1e15, received = 1e15 + 3_000) =>
    readNtpAnswer(packet, nonce, sent, received);

  it("of a request is a client's of version 4, and discloses no clock", () => {
    expect([request.length, request[0]]).toEqual([48, 0b00_100_011]);
    expect([...request.subarray(1, 40)].every((byte) => byte === 0)).toBe(true);
    expect(request.subarray(40)).toEqual(nonce);
  });

  it("of a server gives the offset and the time of the way, of any distance of the two clocks", () => {
    fc.assert(fc.property(
      fc.integer({ min: -1e14, max: 1e14 }),
      fc.integer({ min: 0, max: 400_000 }),
      fc.integer({ min: 0, max: 400_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      // from 1970 to 2100: the seconds begin again in 2036
      fc.integer({ min: 2e14, max: 4e15 }),
      (offset, out, back, work, sent) => {
        const received = sent + out + offset;
        const packet = reply(request, { received, sent: received + work });
        const answer = read(packet, sent, sent + out + work + back);
        if (answer.kind !== "sample") throw new Error(answer.kind);
        // a timestamp's fraction and a double of microseconds are exact to about one microsecond
        expect(Math.abs(answer.sample.delay - out - back)).toBeLessThan(3);
        expect(Math.abs(answer.sample.offset - offset - (out - back) / 2)).toBeLessThan(3);
      },
    ));
  });

  it("is no answer with another originate timestamp, mode, length, order of times or unsynchronised clock", () => {
    const good = { received: 1e15, sent: 1e15 };
    expect(read(reply(request, good)).kind).toBe("sample");
    const other = reply(ntpRequest(Uint8Array.from([8, 7, 6, 5, 4, 3, 2, 1])), good);
    const zero = reply(request, good);
    zero.set(new Uint8Array(8), 40);
    for (
      const packet of [
        other,
        zero,
        reply(request, { ...good, mode: 3 }),
        reply(request, { ...good, leap: 3 }),
        reply(request, { ...good, stratum: 16 }),
        reply(request, { received: 1e15 + 1_000, sent: 1e15 }),
        reply(request, { received: 1e15, sent: 1e15 + 50_000 }),
        reply(request, good).subarray(0, 47),
        new Uint8Array(0),
        request,
      ]
    ) expect(read(packet).kind).toBe("none");
    expect(read(reply(request, { ...good, stratum: 0, reference: "RATE" }))).toEqual({ kind: "refused", code: "RATE" });
  });

  it("of any bytes is read without an error", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      expect(["none", "refused", "sample"]).toContain(read(bytes).kind);
    }));
  });

  it("has the timestamps of RFC 5905", () => {
    // figure 4: the first day of 2000 has the timestamp 3155673600; and half a second
    expect([...timestamp(946_684_800_500_000)]).toEqual([0xbc, 0x17, 0xc2, 0, 0x80, 0, 0, 0]);
  });
});

describe("servers", () => {
  const sample = (offset: number, delay = 10_000) => ({ offset, delay });

  it("agree where a majority does, whatever the others say", () => {
    expect(agreedOffset([sample(100), sample(2_000, 20_000), sample(-HOUR)], 2)).toBe(100);
    expect(agreedOffset([sample(-HOUR), sample(2_000), sample(100, 20_000)], 2)).toBe(2_000);
    expect(agreedOffset([sample(100), sample(HOUR), sample(-HOUR)], 2)).toBeUndefined();
    expect(agreedOffset([sample(100)], 2)).toBeUndefined();
    expect(agreedOffset([sample(100)], 1)).toBe(100);
    expect(agreedOffset([], 1)).toBeUndefined();
    expect(agreedOffset([], 0)).toBeUndefined();
  });

  it("agree on the truth if more than half tell it, and their order does not matter", () => {
    fc.assert(fc.property(
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.array(
        fc.record({ error: fc.integer({ min: -25_000, max: 25_000 }), delay: fc.integer({ min: 0, max: 9e5 }) }),
        {
          minLength: 2,
          maxLength: 6,
        },
      ),
      fc.array(fc.record({ offset: fc.integer({ min: 2e9, max: 9e9 }), delay: fc.integer({ min: 0, max: 9e5 }) }), {
        maxLength: 5,
      }),
      fc.integer(),
      (truth, honest, liars, seed) => {
        const lies = liars.slice(0, honest.length - 1);
        const samples = [...honest.map(({ error, delay }) => ({ offset: truth + error, delay })), ...lies]
          .map((one, i) => [Math.sin(seed + i), one] as const).sort(([a], [b]) => a - b).map(([, one]) => one);
        const agreed = agreedOffset(samples, Math.floor(samples.length / 2) + 1);
        expect(Math.abs(agreed! - truth)).toBeLessThanOrEqual(25_000);
      },
    ));
  });
});

describe("the clock", () => {
  const servers: NtpTestServer[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.stop();
  });
  const start = async (...behaviours: NtpBehaviour[]) => {
    for (const behaviour of behaviours) servers.push(await ntpServer(behaviour));
    return servers;
  };
  const clockOf = (options: Partial<NtpOptions> = {}) =>
    new NtpClock({ servers, log: silentLog, leastMs: 0, timeoutMs: 60_000, ...options });
  /** The offset of a check in whole hours, as what else is in it is the time that packets take. */
  const hours = async (clock: NtpClock) => {
    const status = await clock.status({ force: true });
    return status.status === "available" ? Math.round(status.offset / HOUR) : status.status;
  };
  const silent: NtpBehaviour = () => [];
  const garbage: NtpBehaviour = () => [Uint8Array.from({ length: 48 }, (_, i) => i * 7), new Uint8Array(3)];

  it("is pending until the servers have answered, and available after it", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    await start(async (request) => {
      await held;
      return await ahead(2 * HOUR)(request);
    });
    const clock = clockOf();
    expect(await clock.status()).toEqual({ status: "pending" });
    const forced = clock.status({ force: true });
    expect(await clock.status()).toEqual({ status: "pending" });
    release();
    const result = await forced;
    expect(result).toEqual({ status: "available", offset: expect.any(Number) });
    expect(await clock.status()).toEqual(result);
    expect(servers[0]!.requests()).toBe(1);
  });

  it("believes two of three servers, not the one that lies", async () => {
    await start(ahead(HOUR), ahead(-40 * HOUR), ahead(HOUR));
    expect(await hours(clockOf())).toBe(1);
  });

  it.each<[string, NtpBehaviour]>([
    ["is silent", silent],
    ["sends garbage", garbage],
    ["answers another request", (request) => ahead(9 * HOUR)(request.map((byte) => byte ^ 255))],
    ["refuses", (request) => [reply(request, { received: 0, sent: 0, stratum: 0, reference: "DENY" })]],
    ["is not synchronised", (request) => [reply(request, { received: 1, sent: 1, leap: 3 })]],
  ])("does without one server of three that %s, not without two", async (_, behaviour) => {
    await start(ahead(HOUR), behaviour, ahead(HOUR));
    expect(await hours(clockOf())).toBe(1);
    servers[2]!.behave(behaviour);
    expect(await hours(clockOf({ timeoutMs: 200 }))).toBe("unavailable");
  });

  it("ignores an answer that comes too late, and takes the next one in time", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    await start(async (request) => {
      await held;
      return await ahead(7 * HOUR)(request);
    });
    const clock = clockOf({ timeoutMs: 50 });
    expect(await hours(clock)).toBe("unavailable");
    servers[0]!.behave(ahead(HOUR));
    release();
    expect(await hours(clockOf())).toBe(1);
    expect(await clock.status()).toEqual({ status: "unavailable" });
  });

  it("takes the answer to its request, whatever arrives before it", async () => {
    await start(async (request) => [
      ...await garbage(request),
      ...await ahead(9 * HOUR)(request.map((byte) => byte ^ 255)),
      ...await ahead(HOUR)(request),
    ]);
    expect(await hours(clockOf())).toBe(1);
  });

  it("does not ask a server again that has refused", async () => {
    await start((request) => [reply(request, { received: 0, sent: 0, stratum: 0, reference: "RATE" })]);
    const clock = clockOf();
    for (let i = 0; i < 3; i++) expect(await hours(clock)).toBe("unavailable");
    expect(servers[0]!.requests()).toBe(1);
  });

  it("asks only when a result is old, forced checks included", async () => {
    await start(ahead(HOUR));
    const clock = clockOf({ leastMs: 60_000 });
    for (let i = 0; i < 5; i++) expect(await hours(clock)).toBe(1);
    expect(servers[0]!.requests()).toBe(1);
    const eager = clockOf({ refreshMs: 0 });
    await hours(eager);
    expect(await eager.status()).toMatchObject({ status: "available" });
    await hours(eager);
    expect(servers[0]!.requests()).toBeGreaterThanOrEqual(3);
  });

  it("is unavailable without servers, and with names that do not resolve", async () => {
    expect(await clockOf().status()).toEqual({ status: "unavailable" });
    expect(await clockOf().status({ force: true })).toEqual({ status: "unavailable" });
    const nowhere = new NtpClock({ servers: [{ host: "a..b", port: 123 }], log: silentLog });
    expect(await nowhere.status({ force: true })).toEqual({ status: "unavailable" });
  });

  it("is shown by GET /network/clock", async () => {
    await start(ahead(HOUR));
    const app = edgeAlone(undefined, clockOf());
    const get = async (query = "") => await (await app.request(`/v2/network/clock${query}`)).json();
    expect(await get()).toEqual({ status: "pending" });
    for (const flag of ["?forceNtpCheck", "?forceNtpCheck=true"]) {
      const { status, offset: { quantity, unit } } = await get(flag);
      expect([status, Math.round(quantity / HOUR), unit, Number.isInteger(quantity)])
        .toEqual(["available", 1, "microsecond", true]);
    }
    expect(await get("?forceNtpCheck=false")).toMatchObject({ status: "available" });
  });
});
