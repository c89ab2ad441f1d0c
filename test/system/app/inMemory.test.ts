/** `serve` without a database: everything is in a temporary folder, which goes with the process. */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { endChild } from "../../support/base/processes.ts";
import { PASSPHRASE } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";

describe("serve without a database", () => {
  let root: string;
  let environment: Record<string, string>;
  const running = new Set<Arbor>();
  beforeAll(() => {
    root = mkdtempSync(path.join(os.tmpdir(), "arbor-tmp-"));
    chmodSync(root, 0o755);
    const ports = ["TOKEN", "WALLET", "DEVNET", "NODE", "OPERATOR", "NATS"].map((name) => [`ARBOR_${name}_PORT`, "0"]);
    const none = ["ARBOR_FOLDER", "DATABASE_URL", "NATS_URL", "NATS_TOKEN"].map((name) => [name, ""]);
    environment = { ...Object.fromEntries([...ports, ...none]), TMPDIR: root, ARBOR_BUILDERS: "1" };
  });
  afterEach(async () => {
    for (const arbor of running) await arbor.end();
    running.clear();
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const serve = async () => {
    const arbor = await Arbor.start({
      ownProcess: true,
      infra: { databaseUrl: "", natsUrl: "", natsToken: undefined, stop: async () => {} },
      entry: "src/app/serve.ts",
      env: environment,
    });
    running.add(arbor);
    return arbor;
  };
  const end = async (arbor: Arbor, signal: "SIGTERM" | "SIGKILL") => {
    running.delete(arbor);
    await arbor.end(signal);
  };
  const folders = () => readdirSync(root).filter((name) => name.startsWith("arbor-memory-"));
  const create = (arbor: Arbor) =>
    new WalletClient(arbor.wallets).create({
      name: "Short-lived",
      mnemonic_sentence: newMnemonic(15),
      passphrase: PASSPHRASE,
    });

  it("says so, and leaves nothing after SIGTERM", async () => {
    const arbor = await serve();
    expect(arbor.printed.match(/^In memory: all data, wallets included, are removed when this process ends/gm))
      .toHaveLength(1);
    expect(folders()).toHaveLength(1);
    expect(arbor.printed).toContain(path.join(root, folders()[0]!));
    const client = new WalletClient(arbor.wallets);
    const { id } = await create(arbor);
    expect((await client.wallets()).map((wallet) => wallet.id)).toEqual([id]);
    // twice, as where a group is signalled and a parent forwards the signal
    arbor.signal("SIGTERM");
    await end(arbor, "SIGTERM");
    expect([arbor.child.exitCode, arbor.child.signalCode]).toEqual([0, null]);
    expect(folders()).toEqual([]);
  });

  it("leaves nothing after SIGINT during its start", async () => {
    const child = spawn(process.execPath, ["run", "-A", "src/app/serve.ts"], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...environment },
    });
    await new Promise<void>((resolve) =>
      child.stdout.on("data", (chunk) => String(chunk).includes("Creating a PostgreSQL database") && resolve())
    );
    expect(folders()).toHaveLength(1);
    await endChild(child, "SIGINT");
    expect([child.exitCode, folders()]).toEqual([0, []]);
  });

  it("removes what a killed process has left, never what a living one uses", async () => {
    const living = await serve();
    const [kept] = folders();
    const { id } = await create(living);
    const killed = await serve();
    await create(killed);
    await end(killed, "SIGKILL");
    expect(folders()).toHaveLength(2);

    const next = await serve();
    expect(folders()).toHaveLength(2);
    expect(folders()).toContain(kept);
    expect(await new WalletClient(next.wallets).wallets()).toEqual([]);
    await until("the living one answers", async () => {
      const [wallet] = await new WalletClient(living.wallets).wallets();
      return wallet?.id === id && wallet.state.status === "ready";
    });
  });
});
