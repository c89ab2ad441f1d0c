/** The server of the program `cardano-wallet`: on a node's socket, in memory, until its standard input ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Arbor } from "../../support/service/arbor.ts";
import { temporaryFiles } from "../../support/infra/tlsCertificates.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let devnet: Arbor;
let files: { "genesis.json": string; remove(): Promise<void> };
const socket = socketPath();

beforeAll(async () => {
  infra = await sharedInfra();
  devnet = await Arbor.start({ infra, roles: "devnet", env: { ARBOR_SOCKET: socket } });
  const { genesisTime } = (await http(devnet.devnet, "GET", "/tip")).body as { genesisTime: number };
  files = await temporaryFiles({
    "genesis.json": JSON.stringify({ startTime: genesisTime / 1_000, protocolConsts: { k: 2160, protocolMagic: 42 } }),
  });
});
afterAll(async () => {
  await devnet?.end();
  await Promise.all([infra?.stop(), files?.remove(), rm(socket, { force: true })]);
});

/** Starts the program as its users do, without anything from this process's environment that selects a database. */
function serve(...args: string[]): { child: ChildProcess; output: () => string } {
  const { DATABASE_URL: _url, ARBOR_FOLDER: _folder, ...env } = process.env;
  const command = ["run", "-A", "--quiet", "src/cli/cardanoWallet/main.ts", "serve", ...args];
  const child = spawn(process.execPath, command, { env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => void (text += chunk));
  return { child, output: () => text };
}

describe("cardano-wallet serve", () => {
  it("serves wallets of the node's network, and ends when its input ends", async () => {
    const { child, output } = serve(
      ...["--node-socket", socket, "--testnet", files["genesis.json"], "--random-port", "--shutdown-handler"],
      ...["--log-level", "warning", "--ui-random-port", "+RTS", "-N1", "-RTS"],
    );
    const at = await until("the wallet service listens", async () => {
      if (child.exitCode !== null) throw new Error(output());
      return /^wallet service +(\S+)$/m.exec(output())?.[1];
    });
    await until("it is synchronised", async () => {
      const { body } = await http(at, "GET", "/network/information");
      return (body as { sync_progress: { status: string } }).sync_progress.status === "ready";
    });
    expect((await http(at, "GET", "/wallets")).body).toEqual([]);
    expect(/^wallet page +(\S+)$/m.exec(output())?.[1]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const exit = once(child, "exit");
    child.stdin!.end();
    expect([(await exit)[0], await fetch(at).then(() => "answers", () => "gone")]).toEqual([0, "gone"]);
  });

  it("ends with 0 at a SIGTERM to its group, which its parent forwards too, and at further ones", async () => {
    const { child, output } = serve("--node-socket", socket, "--testnet", files["genesis.json"], "--random-port");
    await until("it is ready", async () => {
      if (child.exitCode !== null) throw new Error(output());
      return /^Ready after/m.test(output());
    });
    const exit = once(child, "exit");
    process.kill(-child.pid!, "SIGTERM");
    await until("it stops", () => Promise.resolve(/^Stopping$/m.test(output())));
    for (let i = 0; i < 3 && child.exitCode === null; i++) process.kill(-child.pid!, "SIGTERM");
    expect([await exit, output().match(/^Stopping$/gm)]).toEqual([[0, null], ["Stopping"]]);
  });

  it("exits with 1 and a sentence where its options are wrong", async () => {
    const { child, output } = serve("--node-socket", socket, "--mainnet", "--port", "80");
    const [code] = await once(child, "exit");
    expect([code, output()]).toEqual([1, "--port: expected a TCP port number between 1024 and 65535.\n"]);
  });
});
