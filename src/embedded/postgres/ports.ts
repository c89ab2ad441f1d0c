/** TCP ports: finding a free one, and messages for one that is taken. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { errorCode } from "#src/base/errorCode.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";

/** A port, its service, and the option to change it. */
export interface PortUse {
  /** The service, for people: "the NATS endpoint". */
  readonly service: string;
  readonly port: number;
  /** The option or variable that sets the port: "--nats-port". */
  readonly option: string;
  /** The option that sets the address, by default `--host`. */
  readonly hostOption?: string;
}

/** The error for a port that is taken: names the port, the service and the option. */
export function portTaken(use: PortUse): EmbeddedError {
  return new EmbeddedError(
    "port_taken",
    `Port ${use.port} for ${use.service} is used by another program; stop that program or choose another port with ${use.option}.`,
    { port: use.port, service: use.service, option: use.option },
  );
}

/** Why a server cannot listen at an address, by the operating system's code. */
const ADDRESS_FAULTS: Readonly<Record<string, string>> = {
  EACCES: "this user has no right to the port; ports below 1024 need one",
  EADDRNOTAVAIL: "this machine has no such address",
  // the same in Deno
  EINVAL: "this machine has no such address",
  EAI_AGAIN: "the name cannot be looked up",
  ENOTFOUND: "the name is not known",
};

/** Turns an error of `listen` into a sentence with the option that changes the port or the host; other errors are returned unchanged. */
export function explainListenError(error: unknown, use: PortUse, host?: string): unknown {
  const code = errorCode(error);
  if (code === "EADDRINUSE" || (error instanceof Error && error.name === "AddrInUse")) return portTaken(use);
  const fault = Object.hasOwn(ADDRESS_FAULTS, code) ? ADDRESS_FAULTS[code] : undefined;
  if (host === undefined || fault === undefined) return error;
  const option = code === "EACCES" ? use.option : use.hostOption ?? "--host";
  const message = `${use.service} cannot listen at ${host}:${use.port}: ${fault} (${code}). Change it with ${option}.`;
  return new EmbeddedError("bad_address", message.replace(/^t/, "T"), { host, port: use.port, option });
}

/** The port that a server listens on. */
export function listeningPort(server: Server): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen on a port");
  return address.port;
}

/** Listens briefly to find out whether a port is free; 0 takes any. Gives the port; rejects with `listen`'s error. */
async function tryPort(port: number, host: string): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  const found = listeningPort(server);
  server.close();
  await once(server, "close");
  return found;
}

/** A port that was free a moment ago; its user must handle that it is taken. */
export function freePort(host = "127.0.0.1"): Promise<number> {
  return tryPort(0, host);
}

/** Rejects with the error of `portTaken` if the port is taken. */
export async function checkPort(use: PortUse, host = "127.0.0.1"): Promise<void> {
  try {
    await tryPort(use.port, host);
  } catch (error) {
    throw explainListenError(error, use, host);
  }
}
