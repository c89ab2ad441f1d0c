/**
 * yaci-cli (Java, as a native program) as a client of a node's socket: it assumes that it starts a node of its own,
 * which is a script that puts the socket at the expected path.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { inject } from "vitest";
import { as, asInt, decode } from "#src/cardano/cbor.ts";
import type {} from "./build.ts";
import { endChild } from "../support/base/processes.ts";
import { socketPath } from "../support/chain/nodeChain.ts";
import { until } from "../support/base/until.ts";

/** Whether yaci-cli is available. */
export const hasYaci = inject("yaci") !== "";

/** A running yaci-cli. */
export interface Yaci {
  /**
   * Types a command, and returns its output, without the terminal's control sequences, once it has the expected form.
   */
  command(text: string, until: RegExp): Promise<string>;
  /**
   * Its HTTP service of administration: the response's status and body. Bytes are sent as CBOR, anything else as JSON.
   */
  http(method: string, at: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  /** Negotiated versions of the protocol, by connection. */
  readonly versions: readonly number[];
  stop(): Promise<void>;
}

const NODE = (socket: string) =>
  `#!/bin/sh
while [ $# -gt 1 ]; do
  if [ "$1" = --socket-path ]; then ln -sf '${socket}' "$2"; fi
  shift
done
exec sleep 3600
`;

/** A proxy of another socket that records the node's answers to the handshake. */
async function tap(socket: string): Promise<{ path: string; versions: number[]; close: () => void }> {
  const path = socketPath();
  const versions: number[] = [];
  const open = new Set<net.Socket>();
  const server = net.createServer((near) => {
    const far = net.connect({ path: socket });
    far.once("data", (bytes: Uint8Array) => {
      const [tag, version] = as(decode(bytes.subarray(8)), "array").value;
      if (asInt(tag) === 1n) versions.push(Number(asInt(version)) & 0x7fff);
    });
    for (const [from, to] of [[near, far], [far, near]] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen({ path }, resolve));
  const close = () => {
    for (const one of open) one.destroy();
    server.close();
  };
  return { path, versions, close };
}

/** A port without a listener. */
async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts it, with a network of its own that is the node's at a socket, which has to make blocks in the meantime. */
export async function startYaci(socket: string): Promise<Yaci> {
  const [port, peers, submission] = [await freePort(), await freePort(), await freePort()];
  const tapped = await tap(socket);
  const folder = await mkdtemp(path.join(os.tmpdir(), "arbor-yaci-"));
  const programs = path.join(folder, "home", "cardano-node", "bin");
  await mkdir(programs, { recursive: true });
  await writeFile(path.join(programs, "cardano-node"), NODE(tapped.path), { mode: 0o755 });
  await writeFile(path.join(programs, "cardano-submit-api"), "#!/bin/sh\nexec sleep 3600\n", { mode: 0o755 });
  await symlink(path.join(inject("yaci"), "config"), path.join(folder, "config"));
  const line = `'${path.join(inject("yaci"), "yaci-cli")}' '-Dyaci.cli.home=${
    path.join(folder, "home")
  }' -Dserver.port=${port}`;
  let said = "";
  const child: ChildProcess = spawn("script", ["-qfec", line, "/dev/null"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, TERM: "dumb" },
  });
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    if (process.env.ARBOR_TEST_OUTPUT) process.stdout.write(text);
    // deno-lint-ignore no-control-regex
    said += text.replace(/\x1b\[[0-9;?]*[a-zA-Z]|\r/g, "");
  });
  const wait = async (what: RegExp, from: number) => {
    await until(`${what} from yaci-cli`, () => Promise.resolve(what.test(said.slice(from))), 60_000, 100);
    return said.slice(from);
  };
  const command = async (text: string, what: RegExp) => {
    const from = said.length;
    child.stdin!.write(text + "\r");
    return await wait(what, from);
  };
  const stop = async () => {
    child.stdin!.write("stop\r");
    child.stdin!.write("exit\r");
    child.stdin!.write("exit\r");
    const gone = () => child.exitCode !== null || child.signalCode !== null;
    await until("yaci-cli to end", () => Promise.resolve(gone()), 10_000).catch(() => endChild(child, "SIGTERM"));
    tapped.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await wait(/yaci-cli:>/, 0);
    await command(`create-node -o --port ${peers} --submit-api-port ${submission}`, /Epoch Length[^]*devnet:default>/);
    await command("start", /Mnemonic[^]*devnet:default>/);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    versions: tapped.versions,
    command,
    http: async (method, at, body) => {
      const answer = await fetch(`http://127.0.0.1:${port}/local-cluster/api${at}`, {
        method,
        ...(body instanceof Uint8Array
          ? { body: new Uint8Array(body), headers: { "content-type": "application/cbor" } }
          : body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
      const text = await answer.text();
      let result: unknown = text;
      try {
        result = JSON.parse(text);
      } catch {
        // no JSON
      }
      return { status: answer.status, body: result };
    },
    stop,
  };
}
