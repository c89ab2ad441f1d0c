/** Ports, processes and the lock of a folder. */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { lockFolder } from "#src/embedded/postgres/lock.ts";
import { checkPort, explainListenError, freePort } from "#src/embedded/postgres/ports.ts";
import { commandOf, signal, startTimeOf, waitForEnd } from "#src/embedded/postgres/processes.ts";

describe("ports", () => {
  const use = { service: "the token service", port: 3000, option: "--port" };

  test("an error of listen about a taken port becomes a sentence; any other stays", () => {
    const explained = explainListenError(Object.assign(new Error("listen"), { code: "EADDRINUSE" }), use);
    expect(explained).toBeInstanceOf(EmbeddedError);
    expect((explained as EmbeddedError).message).toBe(
      "Port 3000 for the token service is used by another program; stop that program or choose another port with --port.",
    );
    const other = Object.assign(new Error("listen"), { code: "EACCES" });
    expect(explainListenError(other, use)).toBe(other);
  });

  test("a port is checked by listening on it", async () => {
    const port = await freePort();
    await checkPort({ ...use, port });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    await expect(checkPort({ ...use, port })).rejects.toMatchObject({ code: "port_taken", details: { port } });
    await new Promise((resolve) => server.close(resolve));
    await checkPort({ ...use, port });
  });
});

describe("processes", () => {
  test("are identified by their start time, and detected when ended", async () => {
    const child = spawn("/bin/sleep", ["30"], { stdio: "ignore" });
    const pid = child.pid!;
    const started = startTimeOf(pid);
    expect(started).toBeDefined();
    expect(startTimeOf(pid)).toBe(started);
    expect(started).not.toBe(startTimeOf(process.pid));
    // until the child has become its program it has no command line
    await expect.poll(() => commandOf(pid)?.at(-1), { timeout: 10_000 }).toBe("30");
    expect(await waitForEnd(pid, 50)).toBe(false);
    expect(signal(pid, "SIGSTOP") && signal(pid, "SIGCONT") && signal(pid, "SIGKILL")).toBe(true);
    expect(await waitForEnd(pid, 5_000)).toBe(true);
    expect(startTimeOf(pid)).toBeUndefined();
    await expect.poll(() => signal(pid, "SIGKILL")).toBe(false);
  });
});

describe("the lock of a folder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "arbor-lock-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("is held by one at a time, and free after release", async () => {
    const first = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toMatchObject({ code: "in_use", details: { pid: process.pid } });
    first.release();
    first.release();
    const second = await lockFolder(folder);
    second.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is not held by ended processes, nor by others with their pid", async () => {
    const child = spawn("/bin/sleep", ["30"], { stdio: "ignore" });
    const started = startTimeOf(child.pid!)!;
    writeFileSync(join(folder, "1-gone.lock"), `${child.pid}\n${started}\n`);
    await expect(lockFolder(folder)).rejects.toMatchObject({ code: "in_use", details: { pid: child.pid } });
    signal(child.pid!, "SIGKILL");
    await waitForEnd(child.pid!, 5_000);
    writeFileSync(join(folder, "2-reused.lock"), `${process.pid}\nanother time\n`);
    writeFileSync(join(folder, "3-empty.lock"), "");
    (await lockFolder(folder)).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is never given to two of many concurrent contenders", async () => {
    let holders = 0;
    for (let round = 0; round < 5; round++) {
      const results = await Promise.allSettled(
        Array.from({ length: 5 }, async () => {
          const lock = await lockFolder(folder);
          expect(++holders).toBe(1);
          return lock;
        }),
      );
      for (const result of results) {
        if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "in_use" });
        else {
          holders--;
          result.value.release();
        }
      }
      expect(results.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(1);
    }
  });
});
