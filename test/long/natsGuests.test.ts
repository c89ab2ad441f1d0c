/**
 * Guests of the NATS endpoint that subscribe hundreds of times and never read, on the whole service in one process: the
 * effect on the other clients. Prints a row for the README's table of faults.
 */
import { readFileSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { DEFAULT_LIMITS } from "#src/embedded/nats/limits.ts";
import { Arbor } from "../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { http } from "../support/service/user.ts";

const TOKEN = "a-token-of-the-test";
const GUESTS = 200;
const SUBSCRIPTIONS = Array.from({ length: 250 }, (_, i) => `SUB arbor.event.> ${i}\r\n`).join("");
const RATE = 50;
const MEGABYTE = 1024 * 1024;

let infra: Infra;
let arbor: Arbor;
let nats: string;

beforeAll(async () => {
  infra = await sharedInfra();
  arbor = await Arbor.start({
    ownProcess: true,
    infra: { ...infra, natsUrl: "", natsToken: TOKEN },
    env: { ARBOR_NATS_PORT: "0", ARBOR_HEALTH_PORT: "0" },
  });
  nats = arbor.places.get("NATS endpoint")!;
});
afterAll(async () => {
  await arbor?.end("SIGKILL");
  await infra?.stop();
});

/** Memory of the service's process in bytes. */
function memory(): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${arbor.child.pid}/status`, "utf8"))![1]) * 1024;
}

/**
 * Publishes events at a rate for some time; returns how many per second were received, the largest delay, and the
 * largest memory.
 */
async function measure(publisher: NatsConnection, reader: NatsConnection, ms: number) {
  let heard = 0;
  let latest = 0;
  let largest = 0;
  const subscription = reader.subscribe("arbor.event.load.>", {
    callback: (_, message) => {
      heard++;
      latest = Math.max(latest, performance.now() - Number(message.subject.split(".").at(-1)));
    },
  });
  await reader.flush();
  const body = new Uint8Array(600);
  const begun = performance.now();
  for (let sent = 0; performance.now() - begun < ms; sent++) {
    publisher.publish(`arbor.event.load.${Math.round(performance.now())}`, body);
    if (sent % RATE === 0) largest = Math.max(largest, memory());
    await sleep(Math.max(0, begun + (sent + 1) * 1_000 / RATE - performance.now()));
  }
  const rate = heard / (performance.now() - begun) * 1_000;
  subscription.unsubscribe();
  return { rate, latest, largest };
}

test("200 guests that subscribe 250 times each and never read do not delay events for others", async () => {
  const [publisher, reader] = await Promise.all([1, 2].map(() => connect({ servers: nats, token: TOKEN })));
  // As long as the attack: the service itself grows at the beginning.
  const alone = await measure(publisher!, reader!, 40_000);

  const { port } = new URL(nats.replace("nats:", "http:"));
  let cut = 0;
  let over = false;
  const sockets = new Set<Socket>();
  const attack = () => {
    const socket = connectSocket(Number(port), "127.0.0.1", () => {
      socket.pause();
      socket.write(SUBSCRIPTIONS);
    });
    sockets.add(socket);
    // An empty line, by which a socket that reads nothing detects that it was cut.
    const beat = setInterval(() => socket.write("\r\n"), 1_000);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(beat);
      sockets.delete(socket);
      cut++;
      // It reconnects at once, as long as the attack lasts.
      if (!over) attack();
    });
  };
  for (let i = 0; i < GUESTS; i++) attack();
  const attacked = await measure(publisher!, reader!, 40_000);
  const begun = performance.now();
  const late = await connect({ servers: nats, token: TOKEN });
  const joined = performance.now() - begun;
  const ready = await http(arbor.health, "GET", "/ready");
  over = true;
  for (const socket of sockets) socket.destroy();

  const grown = Math.max(0, attacked.largest - alone.largest);
  console.log(
    `| ${GUESTS} guests × 250 subscriptions that never read | ${attacked.rate.toFixed(1)} of ${
      alone.rate.toFixed(1)
    } events/s | latest ` +
      `${Math.round(attacked.latest)} ms (${Math.round(alone.latest)} ms without) | memory +${
        Math.round(grown / MEGABYTE)
      } MB | ` +
      `${cut} cut | a client with the token connects in ${Math.round(joined)} ms |`,
  );
  expect(attacked.rate).toBeGreaterThan(0.8 * alone.rate);
  expect(grown).toBeLessThan(DEFAULT_LIMITS.guestBacklog + DEFAULT_LIMITS.maxGuests * 2 * DEFAULT_LIMITS.guestWindow);
  expect([ready.status, ready.body.reasons ?? []]).toEqual([200, []]);
  expect(arbor.printed).not.toMatch(/lease/i);
  await Promise.all([publisher, reader, late].map((one) => one!.close()));
});
