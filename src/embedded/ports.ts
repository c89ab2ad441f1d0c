/** Ports: finding a free one, and a sentence where one is taken. */
import { createServer } from "node:net";
import { EmbeddedError } from "#src/embedded/errors.ts";

/** Who wants which port, and how a person says otherwise. */
export interface PortUse {
  /** What would listen there, as a person calls it: "the NATS endpoint". */
  readonly service: string;
  readonly port: number;
  /** The option or variable that moves it: "--nats-port". */
  readonly option: string;
}

/** The error for a port that is taken: names the port, the service and the option. */
export function portTaken(use: PortUse): EmbeddedError {
  return new EmbeddedError(
    "port_taken",
    `Port ${use.port}, wanted by ${use.service}, is taken by another program; end that program or choose another port with ${use.option}.`,
    { port: use.port, service: use.service, option: use.option },
  );
}

/** Turns what `listen` failed with into a sentence where it is a taken port; any other error comes back as it is. */
export function explainListenError(error: unknown, use: PortUse): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  return code === "EADDRINUSE" || (error instanceof Error && error.name === "AddrInUse") ? portTaken(use) : error;
}

/** Listens for a moment, to learn whether a port is free; 0 asks for any. Gives the port, rejects with `listen`'s error. */
function tryPort(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : port));
    });
  });
}

/** A port that was free a moment ago; whoever uses it must be ready to find it taken. */
export function freePort(host = "127.0.0.1"): Promise<number> {
  return tryPort(0, host);
}

/** Rejects with the sentence of `portTaken` where the port cannot be listened on. */
export async function checkPort(use: PortUse, host = "127.0.0.1"): Promise<void> {
  try {
    await tryPort(use.port, host);
  } catch (error) {
    throw explainListenError(error, use);
  }
}
