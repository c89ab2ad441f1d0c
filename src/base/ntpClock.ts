/** The offset of the machine's clock from NTP servers: asked over UDP, kept, and asked again when it is old. */
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { inTime, sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { agreedOffset, type NtpAnswer, ntpRequest, type NtpSample, readNtpAnswer } from "#src/base/ntpPacket.ts";

/** A server. */
export interface NtpServer {
  readonly host: string;
  readonly port: number;
}

/** The state of the clock; `offset` in microseconds is what must be added to it. */
export type NtpStatus =
  | { readonly status: "available"; readonly offset: number }
  /** Servers were asked, and have not answered yet. */
  | { readonly status: "pending" }
  /** There are no servers, or too few of them answered and agreed. */
  | { readonly status: "unavailable" };

export interface NtpOptions {
  readonly servers: readonly NtpServer[];
  readonly log: Log;
  /** How long a server has time to answer, in ms. */
  readonly timeoutMs?: number;
  /** Age in ms at which a good result is asked for again. */
  readonly refreshMs?: number;
  /** Age in ms at which a bad one is. */
  readonly retryMs?: number;
  /** Age in ms before which a forced check gives the last result: public servers must not be flooded. */
  readonly leastMs?: number;
}

/** How long a server that has sent a kiss-o'-death is left alone, in ms. */
const REFUSED_MS = 3_600_000;
/** Offsets from which on the log warns, in microseconds. */
const WARN_FROM = 1_000_000;

/** Microseconds since 1970. Reads the system's clock at a tick, which it shows in milliseconds only. */
function startClock(): () => number {
  const before = Date.now();
  let tick = Date.now();
  while (tick === before) tick = Date.now();
  const started = performance.now();
  return () => (tick + performance.now() - started) * 1_000;
}

export class NtpClock {
  private last: { readonly result: NtpStatus; readonly at: number } | undefined;
  private running: Promise<NtpStatus> | undefined;
  /** Until when a server that refused is left alone, by its host and port. */
  private readonly refused = new Map<string, number>();

  constructor(private readonly options: NtpOptions) {}

  /**
   * The last result, `pending` before the first one. Starts a check if there is none or it is old; nothing is sent
   * before the first call. `force` waits for a check.
   */
  async status({ force = false } = {}): Promise<NtpStatus> {
    const { servers, refreshMs = 1_800_000, retryMs = 30_000, leastMs = 2_000 } = this.options;
    if (servers.length === 0) return { status: "unavailable" };
    const age = this.last === undefined ? Infinity : performance.now() - this.last.at;
    const most = force ? leastMs : this.last?.result.status === "available" ? refreshMs : retryMs;
    if (age >= most) this.running ??= this.check();
    if (force && this.running) return await this.running;
    return this.last?.result ?? { status: "pending" };
  }

  private async check(): Promise<NtpStatus> {
    const { servers, log } = this.options;
    const clock = startClock();
    // a majority of all servers: those that lie or are silent must be the fewer ones
    const required = Math.floor(servers.length / 2) + 1;
    const samples: NtpSample[] = [];
    const enough = new AbortController();
    const agreed = await new Promise<number | undefined>((resolve) => {
      const asked = servers.map(async (server) => {
        const answer = await this.ask(server, clock, enough.signal);
        if (answer.kind !== "sample") return;
        samples.push(answer.sample);
        const offset = agreedOffset(samples, required);
        if (offset !== undefined) resolve(offset);
      });
      void Promise.all(asked).then(() => resolve(undefined));
    });
    enough.abort();
    const offset = agreed === undefined ? undefined : Math.round(agreed);
    const result: NtpStatus = offset === undefined ? { status: "unavailable" } : { status: "available", offset };
    if (offset !== undefined && Math.abs(offset) >= WARN_FROM) {
      log.warn("the clock of this machine is wrong", { microseconds: offset });
    }
    this.last = { result, at: performance.now() };
    this.running = undefined;
    return result;
  }

  /** Asks one server, until `enough` aborts; never rejects. */
  private async ask({ host, port }: NtpServer, clock: () => number, enough: AbortSignal): Promise<NtpAnswer> {
    const { timeoutMs = 1_000, log } = this.options;
    const server = `${host}:${port}`;
    if ((this.refused.get(server) ?? 0) > performance.now()) return { kind: "none", why: "it refused" };
    const answer = await inTime(lookup(host), timeoutMs)
      .then((found): Promise<NtpAnswer> | NtpAnswer =>
        found === undefined
          ? { kind: "none", why: "its name was not resolved in time" }
          : exchange({ ...found, port }, clock, timeoutMs, enough)
      )
      .catch((error): NtpAnswer => ({ kind: "none", why: reason(error) }));
    if (answer.kind === "refused") this.refused.set(server, performance.now() + REFUSED_MS);
    if (answer.kind !== "sample" && !enough.aborted) {
      const why = answer.kind === "refused" ? `it refused: ${answer.code}` : answer.why;
      log.info("an NTP server gives no time", { server, reason: why });
    }
    return answer;
  }
}

/** Sends a request, and waits for the answer to it; anything else that arrives is ignored. Rejects if sending fails. */
async function exchange(
  { address, family, port }: { readonly address: string; readonly family: number; readonly port: number },
  clock: () => number,
  timeoutMs: number,
  enough: AbortSignal,
): Promise<NtpAnswer> {
  const socket = createSocket(family === 6 ? "udp6" : "udp4");
  const nonce = randomBytes(8);
  const ended = new AbortController();
  try {
    return await new Promise<NtpAnswer>((resolve, reject) => {
      let why = "it did not answer in time";
      let sent = 0;
      socket.on("error", reject);
      socket.on("message", (packet) => {
        const answer = readNtpAnswer(packet, nonce, sent, clock());
        if (answer.kind === "none") why = answer.why;
        else resolve(answer);
      });
      sent = clock();
      socket.send(ntpRequest(nonce), port, address, (error) => error && reject(error));
      void sleep(timeoutMs, AbortSignal.any([ended.signal, enough])).then(() => resolve({ kind: "none", why }));
    });
  } finally {
    ended.abort();
    socket.close();
  }
}
