/** An NTP server on loopback that answers as a test says. */
import { createSocket } from "node:dgram";
import { once } from "node:events";

/** What a server does with a request: the packets that it sends. A promise holds them back. */
export type NtpBehaviour = (request: Uint8Array) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>;

export interface NtpTestServer {
  readonly host: string;
  readonly port: number;
  /** Number of requests so far. */
  readonly requests: () => number;
  /** The behaviour from now on. */
  behave(behaviour: NtpBehaviour): void;
  stop(): void;
}

/** Starts a server. */
export async function ntpServer(behaviour: NtpBehaviour): Promise<NtpTestServer> {
  const socket = createSocket("udp4");
  let [now, count, open] = [behaviour, 0, true];
  socket.on("message", async (request, { address, port }) => {
    count++;
    for (const packet of await now(new Uint8Array(request))) if (open) socket.send(packet, port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    host: "127.0.0.1",
    port: socket.address().port,
    requests: () => count,
    behave: (behaviour) => now = behaviour,
    stop() {
      open = false;
      socket.close();
    },
  };
}

/** A timestamp of NTP, 8 bytes, of a time in microseconds since 1970. */
export function timestamp(microseconds: number): Uint8Array {
  const bytes = new Uint8Array(8);
  const seconds = Math.floor(microseconds / 1e6);
  new DataView(bytes.buffer).setUint32(0, (seconds + 2_208_988_800) % 2 ** 32);
  new DataView(bytes.buffer).setUint32(4, Math.floor((microseconds / 1e6 - seconds) * 2 ** 32));
  return bytes;
}

interface Reply {
  /** Microseconds since 1970. */
  readonly received: number;
  readonly sent: number;
  readonly stratum?: number;
  readonly leap?: number;
  readonly mode?: number;
  /** Reference id: of a kiss-o'-death its code. */
  readonly reference?: string;
}

/** An answer to a request. */
export function reply(
  request: Uint8Array,
  { received, sent, stratum = 2, leap = 0, mode = 4, reference = "TEST" }: Reply,
): Uint8Array {
  const packet = new Uint8Array(48);
  packet[0] = (leap << 6) | (4 << 3) | mode;
  packet[1] = stratum;
  packet.set(new TextEncoder().encode(reference), 12);
  packet.set(request.subarray(40, 48), 24);
  packet.set(timestamp(received), 32);
  packet.set(timestamp(sent), 40);
  return packet;
}

/** A server whose clock is ahead of this machine's by so many microseconds. */
export const ahead = (microseconds: number): NtpBehaviour => (request) => {
  const now = Date.now() * 1_000 + microseconds;
  return [reply(request, { received: now, sent: now })];
};
