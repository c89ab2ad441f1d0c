/** What a newcomer meets: the printed addresses, the pages behind them, the demo, and the second start. */
/// <reference lib="dom" />
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import axe from "axe-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DENO_TASK } from "#src/base/deno.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

let infra: Infra;
let arbor: Arbor;
beforeAll(async () => {
  infra = await sharedInfra();
  arbor = await Arbor.start({ infra, ownProcess: true });
  await until("the process is ready", async () => (await fetch(`${arbor.tokens}/ready`)).ok);
});
afterAll(async () => {
  await arbor?.end();
  await infra?.stop();
});

/** The HTTP addresses that the start printed. */
const addresses = () => [...arbor.places.values()].filter((address) => address.startsWith("http://"));
/** Runs a program; not synchronously, because the NATS endpoint of the service is in this process. */
const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      command,
      args,
      { env: { ...process.env, ...env } },
      (_, stdout, stderr) => resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
  });

describe("a start", () => {
  it("of a new database prints no continuation, and ends with what to do next", () => {
    expect(arbor.printed).not.toContain("Continues");
    const lines = arbor.printed.trimEnd().split("\n");
    const next = lines.slice(lines.findIndex((line) => line.startsWith("Next")));
    expect(lines.at(-next.length - 1)).toMatch(/^Ready after /);
    expect(next[1]).toContain(
      `ARBOR_TOKENS_URL=${arbor.tokens} ARBOR_DEVNET_URL=${arbor.devnet} ARBOR_OPERATOR_URL=${arbor.operator} ${DENO_TASK} demo`,
    );
    const { origin } = new URL(arbor.wallets);
    expect(next[2]!.match(/http\S+/g)).toEqual([arbor.operator, arbor.tokens, origin, arbor.devnet]);
    expect(next[3]).toMatch(/^ {2}3\. Read the (guide|tour)/);
    expect(next).toHaveLength(4);
  });

  it("prints five HTTP addresses; each answers with an HTML page whose links all work", async () => {
    expect(addresses()).toHaveLength(5);
    for (const address of addresses()) {
      const page = await fetch(address, { headers: { accept: "text/html,application/xhtml+xml" } });
      expect([address, page.status, page.headers.get("content-type")]).toEqual([
        address,
        200,
        "text/html; charset=utf-8",
      ]);
      const text = await page.text();
      expect(text).not.toContain("{origin}");
      for (const [, link] of text.matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
        const answer = await fetch(new URL(link!, address));
        await answer.body?.cancel();
        expect([link, answer.status]).toEqual([link, 200]);
      }
    }
  });

  it("names the release in /health and in every OpenAPI and AsyncAPI document", async () => {
    const read = async (url: string) =>
      await (await fetch(url)).json() as { version?: string; info: { version: string } };
    for (const address of addresses()) {
      expect((await read(new URL("/health", address).href)).version).toBe(version);
      expect((await read(`${address}/openapi.json`)).info.version).toBe(version);
    }
    expect((await read(`${arbor.operator}/asyncapi.json`)).info.version).toBe(version);
  });

  it("lists the log levels when one is unknown", async () => {
    const { status, stderr } = await run(process.execPath, ["run", "-A", "src/app/start.ts", "--log-level", "verbose"]);
    expect([status, stderr]).toEqual([
      2,
      "--log-level is one of debug, info, notice, warning, warn, error, critical, alert, emergency, not verbose.\n",
    ]);
  });
});

const shell = (await run("bash", ["-c", "command -v curl && command -v grep"])).status === 0;

describe.skipIf(!shell)("the examples of the wallet page", () => {
  it("create a wallet and read it when they are copied into a shell", async () => {
    const page = await (await fetch(arbor.wallets)).text();
    const examples = [...page.matchAll(/<pre>([^]*?)<\/pre>/g)].map(([, code]) => code!);
    expect(examples).toHaveLength(2);
    const { status, stdout } = await run("bash", ["-ec", examples.join("\n")]);
    expect(status).toBe(0);
    expect(stdout).toContain('"name":"Ada"');
    expect(stdout).toContain("addr_test1");
    expect(stdout).not.toContain('"code"');
  });
});

describe("the demo", () => {
  it("leaves a token with facts, and the address at which the browser shows it", async () => {
    const env = { ARBOR_TOKENS_URL: arbor.tokens, ARBOR_DEVNET_URL: arbor.devnet };
    const { status, stdout, stderr } = await run(process.execPath, ["run", "-A", "src/cli/main.ts", "demo"], env);
    expect([status, stderr]).toEqual([0, ""]);
    const [, token] = new RegExp(`^  ${arbor.tokens}/#/token/([0-9a-f]{64})$`, "m").exec(stdout)!;
    const facts = await fetch(`${arbor.tokens}/token/${token}/facts`);
    const { planet, moon, ...stars } = await facts.json();
    expect({ planet, moon }).toEqual({ planet: "Mars", moon: "Phobos" });
    expect(Object.keys(stars)).toHaveLength(100);
    expect(stars).toMatchObject({ "star 1": "seen", "star 100": "seen" });
    expect(stdout).toMatch(/alice applies them by 4 updates .*(?:all in block \d+|in \d blocks)/);
  });
});

const browser = await sharedBrowser();

describe.skipIf(browser === undefined)("the start page of the wallet service in a browser", () => {
  afterAll(async () => {
    await browser?.close();
  });

  it("has no error and no accessibility violation, and requests nothing elsewhere", async () => {
    const page = await browser!.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => void complaints.push(message.text()));
    page.on("requestfailed", (request) => void complaints.push(`${request.url()} failed`));
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== "data:" && origin !== new URL(arbor.wallets).origin) complaints.push(request.url());
    });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(arbor.wallets);
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run({ preload: false, resultTypes: ["violations"] })
      );
      expect(violations.map(({ id }) => id)).toEqual([]);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });
});

describe("the second start", () => {
  it("says that it continues, with the height and the number of actors", async () => {
    await arbor.end();
    arbor = await Arbor.start({ infra, ownProcess: true });
    const [, height, actors] = /^Continues with the data in \S+: block ([\d,]+), ([\d,]+) actors$/m.exec(
      arbor.printed,
    )!;
    expect(Number(height!.replaceAll(",", ""))).toBeGreaterThan(10);
    expect(Number(actors)).toBeGreaterThan(10);
  });
});
