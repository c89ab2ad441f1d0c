/** The host names that services answer to, and the origins that may call them. */
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { readOptions } from "#src/app/options.ts";
import { ROOT_PATHS } from "#src/chain/utxoRoot/routes.ts";
import { handleErrors } from "#src/http/errors.ts";
import { publicApp } from "#src/http/service.ts";
import { serveOperations } from "#src/devnet/serve/blockfrost/app.ts";
import { guardSites } from "#src/http/sites.ts";
import { edgesAlone } from "../../support/service/edges.ts";

type Options = Parameters<typeof guardSites>[0];
const none: Options = { hosts: [], origins: [] };

/** The guard's result: `200`, or a code. */
async function guardResult(options: Options, headers: Record<string, string>, method = "POST", path = "/x") {
  const app = new Hono();
  handleErrors(app, silentLog);
  app.use(guardSites(options));
  app.all("*", (c) => c.text("done"));
  const answer = await app.request(path, { method, headers });
  return answer.status === 200 ? 200 : ((await answer.json()) as { code: string }).code;
}
const here = "127.0.0.1:8090";

describe("names", () => {
  test.each([
    here,
    "localhost",
    "LOCALHOST:8090",
    "app.localhost:1",
    "[::1]:8090",
    "127.3.2.1",
    "0.0.0.0:8090",
    "192.168.1.7:8090",
    "10.0.0.1",
    "[fd00::7]:8090",
  ])("%s is accepted", async (host) => {
    expect(await guardResult(none, { host })).toBe(200);
  });

  test.each([
    "attacker.example:8090",
    "attacker.example",
    "127.0.0.1.attacker.example",
    "localhost.attacker.example",
    "notlocalhost",
    "edge-1:8090",
    "user@127.0.0.1",
    "127.0.0.1/x",
    "127.0.0.1#",
    "",
    "a b",
  ])("%j is refused, also for reads", async (host) => {
    for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
      expect(await guardResult(none, { host }, method)).toBe("bad_host");
    }
  });

  test("configured ones are accepted, and no others", async () => {
    const named = { hosts: ["Arbor.example", "edge-1"], origins: [] };
    for (const host of ["arbor.example", "ARBOR.example:443", "edge-1:8090", here]) {
      expect(await guardResult(named, { host })).toBe(200);
    }
    expect(await guardResult(named, { host: "www.arbor.example" })).toBe("bad_host");
    expect(await guardResult({ hosts: ["*"], origins: [] }, { host: "any.example" })).toBe(200);
  });

  test("health checks are answered under any host name", async () => {
    for (const path of ["/health", "/ready"]) {
      expect(await guardResult(none, { host: "pod.internal" }, "GET", path)).toBe(200);
    }
    expect(await guardResult(none, { host: "pod.internal" }, "GET", "/health/x")).toBe("bad_host");
  });
});

describe("pages", () => {
  const page = (origin: string, options: Options = none, host = here) => guardResult(options, { host, origin });

  test("of the service itself may call, also behind a TLS proxy", async () => {
    expect(await page(`http://${here}`)).toBe(200);
    expect(await page("https://arbor.example", { hosts: ["arbor.example"], origins: [] }, "arbor.example")).toBe(200);
  });

  test.each(["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost:5173", "file://", "nonsense"])(
    "of %s may not, not even read",
    async (origin) => {
      for (const method of ["GET", "POST", "OPTIONS"]) {
        expect(await guardResult(none, { host: here, origin }, method)).toBe("bad_origin");
      }
    },
  );

  test("of configured origins may call, and all for *", async () => {
    const given = { hosts: [], origins: ["https://app.example"] };
    expect(await page("https://APP.example", given)).toBe(200);
    expect(await page("https://other.example", given)).toBe("bad_origin");
    expect(await page("https://other.example", { hosts: [], origins: ["*"] })).toBe(200);
  });

  test("of this machine may call if the service allows it", async () => {
    const local = { ...none, local: true };
    for (const origin of ["http://localhost:5173", "http://127.0.0.1:3000", "http://[::1]:1", "http://app.localhost"]) {
      expect(await page(origin, local)).toBe(200);
    }
    for (const origin of ["http://localhost.evil.example", "http://192.168.1.7", "null"]) {
      expect(await page(origin, local)).toBe("bad_origin");
    }
  });

  test("that only load something are refused as well; links and programs are not", async () => {
    const site = (more: Record<string, string>, method = "GET") => guardResult(none, { host: here, ...more }, method);
    for (const from of ["cross-site", "same-site"]) {
      expect(await site({ "sec-fetch-site": from, "sec-fetch-mode": "no-cors" })).toBe("bad_origin");
      expect(await site({ "sec-fetch-site": from, "sec-fetch-mode": "navigate" })).toBe(200);
      expect(await site({ "sec-fetch-site": from, "sec-fetch-mode": "navigate" }, "POST")).toBe("bad_origin");
    }
    expect(await site({ "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" })).toBe(200);
    expect(await site({ "sec-fetch-site": "none", "sec-fetch-mode": "navigate" })).toBe(200);
    expect(await site({}, "POST")).toBe(200);
  });

  test("that may call get CORS headers", async () => {
    const allowed = async (origins: readonly string[], origin: string) => {
      const app = publicApp("tokens", silentLog, { hosts: [], origins });
      app.get("/x", (c) => c.text("done"));
      const answer = await app.request("/x", { headers: { host: here, origin } });
      return answer.headers.get("access-control-allow-origin");
    };
    expect(await allowed(["https://app.example"], "https://app.example")).toBe("https://app.example");
    expect(await allowed(["https://app.example"], "https://evil.example")).toBe(null);
    expect(await allowed(["*"], "https://evil.example")).toBe("*");
  });

  test("of all origins may read what is public, without credentials, under the service's own names alone", async () => {
    const app = publicApp("tokens", silentLog, { hosts: [], origins: [], readable: ROOT_PATHS });
    handleErrors(app, silentLog);
    app.all("*", (c) => c.text("done"));
    const from = async (path: string, method = "GET", host = here) => {
      const { status, headers } = await app.request(path, {
        method,
        headers: { host, origin: "https://page.example" },
      });
      expect(headers.has("access-control-allow-credentials")).toBe(false);
      return [status, headers.get("access-control-allow-origin")];
    };
    for (const path of ["/utxo-root", "/utxo-csmt/merkle-roots"]) {
      expect([path, await from(path)]).toEqual([path, [200, "*"]]);
      expect([path, await from(path, "POST")]).toEqual([path, [403, null]]);
      expect([path, await from(path, "GET", "rebound.example")]).toEqual([path, [403, null]]);
    }
    for (const path of ["/tokens", "/utxo-root/addresses/00", "/utxo-csmt/await/00/0", "/x/utxo-root"]) {
      expect([path, await from(path)]).toEqual([path, [403, null]]);
    }
  });
});

test("the options accept hosts, origins and instances, and refuse everything else", () => {
  const read = readOptions(["--hosts", "arbor.example, edge-1", "--origins", "https://app.example"], {
    ARBOR_PAGE_CONNECT: "https://one.example/arbor,http://10.0.0.2:3000",
  });
  if (!read.ok || read.value === "help") throw new Error("not read");
  expect(read.value).toMatchObject({
    hosts: ["arbor.example", "edge-1"],
    origins: ["https://app.example"],
    pageConnect: ["https://one.example/arbor", "http://10.0.0.2:3000"],
  });
  for (
    const args of [
      ["--hosts", "http://x"],
      ["--hosts", "a:1"],
      ["--origins", "app.example"],
      ["--page-connect", "one.example"],
      ["--page-connect", "*"],
      ["--page-connect", "https://user@one.example"],
      ["--page-connect", "https://one.example ; script-src *"],
    ]
  ) {
    expect([args, readOptions(args, {})]).toMatchObject([args, { ok: false, error: { code: "bad_option" } }]);
  }
});

test("the devnet and its Blockfrost API answer under no name of another site, except those in --hosts", async () => {
  const blockfrost = (hosts: readonly string[]) => serveOperations([], silentLog, hosts);
  const devnet = edgesAlone().find(({ name }) => name === "devnet")!.app;
  for (const app of [devnet, blockfrost([])]) {
    const answer = await app.request("/none", { headers: { host: "attacker.example:10000" } });
    expect(answer.status).toBe(403);
    expect((await app.request("/none", { headers: { host: "127.0.0.1:10000" } })).status).not.toBe(403);
  }
  const named = await blockfrost(["devnet"]).request("/none", { headers: { host: "devnet:8080" } });
  expect(named.status).not.toBe(403);
});
