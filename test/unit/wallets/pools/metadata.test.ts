/**
 * Metadata of pools and tokens from external servers, over real HTTP: valid, wrong, too long, and without a response.
 */
import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { utf8 } from "#src/base/bytes.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { fetchOutside } from "#src/base/outsideFetch.ts";
import { fetchDelisted, fetchMetadata, readMetadata, smashHealth } from "#src/wallets/pools/metadata.ts";
import { parseSource } from "#src/wallets/pools/source.ts";
import { TokenServer } from "#src/wallets/tokenMetadata.ts";
import { type OutsideServer, outsideServer } from "../../../support/infra/externalServers.ts";

const pool = "ab".repeat(28);
const oak = { ticker: "OAK", name: "Oak", description: "An oak", homepage: "https://oak.example" };
const text = JSON.stringify(oak);
const hash = hash256(utf8(text));
const here = { allowPrivate: true };

const servers: OutsideServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function serve(...of: Parameters<typeof outsideServer>): Promise<OutsideServer> {
  const server = await outsideServer(...of);
  servers.push(server);
  return server;
}

describe("a request to an external server", () => {
  it("reads ipfs:// through the operator's gateway, and nothing else of that server", async () => {
    const gateway = await serve(() => ({ body: text }));
    const content = `Qm${"a".repeat(44)}`;
    const foreign = { allowPrivate: false };
    const code = async (url: string, ipfs?: string) => {
      const answer = await fetchOutside(url, { ...foreign, ipfs });
      return answer.ok ? answer.value.status : answer.error.code;
    };
    for (const url of [gateway.url, `${gateway.url}/`, `${gateway.url}/ipfs`, `${gateway.url}/ipfs/`]) {
      expect(await code(`ipfs://${content}`, url)).toBe(200);
    }
    expect(await code(`ipfs://ipfs/${content}/drep.json`, gateway.url)).toBe(200);
    const paths = [...Array(4).fill(`/ipfs/${content}`), `/ipfs/${content}/drep.json`];
    expect(gateway.requests).toEqual(paths.map((path) => `GET ${path}`));
    // metadata of a pool and of a DRep, of a gateway on this machine
    const anchor = { pool, url: `ipfs://${content}`, hash };
    expect(await fetchMetadata("direct", anchor, { ...foreign, ipfs: gateway.url })).toMatchObject({ ok: true });
    const known = gateway.requests.length;
    // the ledger's URLs lead to no other place of the gateway, and to no gateway where there is none
    for (const url of [`${gateway.url}/ipfs/${content}`, `ipfs://${content}/../../api/v0/id`, "ipfs://../api/v0/id"]) {
      expect(await code(url, gateway.url), url).toBe("refused");
    }
    for (const url of [`ipfs://${content}/%2e%2e/x`, `ipfs://${content}?a=b`, "ipfs://@127.0.0.1/", "ipfs://"]) {
      expect(await code(url, gateway.url), url).toBe("refused");
    }
    expect(await code(`ipfs://${content}`)).toBe("refused");
    expect(gateway.requests).toHaveLength(known);
    const elsewhere = await serve(() => ({ body: text }));
    const leading = await serve(() => ({ status: 302, headers: { location: elsewhere.url } }));
    expect(await code(`ipfs://${content}`, leading.url)).toBe("refused");
    expect(elsewhere.requests).toEqual([]);
  });

  it("follows a limited number of redirects", async () => {
    const { url, requests } = await serve(({ path }) => {
      const left = Number(path.slice(1));
      return left === 0 ? { body: text } : { status: 302, headers: { location: `/${left - 1}` } };
    });
    expect(await fetchOutside(`${url}/3`, here)).toMatchObject({ ok: true, value: { status: 200 } });
    expect(requests).toHaveLength(4);
    expect(await fetchOutside(`${url}/4`, here)).toMatchObject({ ok: false, error: { code: "unreachable" } });
  });

  it("goes to a private address that the operator chose, and not on to another one", async () => {
    const other = await serve(() => ({ body: text }));
    const { url } = await serve(({ path }) =>
      path === "/" ? { body: text } : { status: 302, headers: { location: path === "/own" ? "/" : other.url } }
    );
    const options = { allowPrivate: false, chosen: `${url}/any` };
    expect(await fetchOutside(url, options)).toMatchObject({ ok: true });
    expect(await fetchOutside(`${url}/own`, options)).toMatchObject({ ok: true });
    expect(await fetchOutside(`${url}/away`, options)).toMatchObject({ ok: false, error: { code: "refused" } });
    expect(other.requests).toEqual([]);
  });

  it("never goes to this machine or private networks unless allowed, by name, by number or by a redirect", async () => {
    const { url, requests } = await serve(() => ({ body: text }));
    for (
      const target of [
        url,
        url.replace("127.0.0.1", "localhost"),
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]:80/",
        "http://0x7f000001/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "https://user:secret@example.org/",
        "nowhere",
      ]
    ) {
      expect([target, await fetchOutside(target, { allowPrivate: false })])
        .toMatchObject([target, { ok: false, error: { code: "refused" } }]);
    }
    expect(requests).toEqual([]);
    // an allowed target may not redirect to a forbidden one
    const away = await serve(() => ({ status: 301, headers: { location: "file:///etc/passwd" } }));
    expect(await fetchOutside(away.url, here)).toMatchObject({ ok: false, error: { code: "refused" } });
  });

  it("is bounded in bytes and in time", async () => {
    const long = await serve(() => ({ body: "x".repeat(10_000) }));
    expect(await fetchOutside(long.url, { ...here, maxBytes: 9_999 }))
      .toMatchObject({ ok: false, error: { code: "too_large" } });
    const { url } = await serve(() => undefined);
    expect(await fetchOutside(url, { ...here, timeoutMs: 50 })).toMatchObject({
      ok: false,
      error: { code: "unreachable" },
    });
    expect(await fetchOutside("http://127.0.0.1:1/", here)).toMatchObject({
      ok: false,
      error: { code: "unreachable" },
    });
  });
});

describe("a pool's metadata", () => {
  it("comes from the pool's URL, if it has the registered hash", async () => {
    const texts: Record<string, string> = {
      "/oak": text,
      "/changed": `${text} `,
      "/long": `${text}${" ".repeat(512)}`,
    };
    const { url } = await serve(({ path }) => texts[path] ? { body: texts[path] } : { status: 404 });
    const fetch = (path: string, of = hash) => fetchMetadata("direct", { pool, url: `${url}${path}`, hash: of }, here);
    expect(await fetch("/oak")).toEqual({ ok: true, value: oak });
    expect(await fetch("/changed")).toMatchObject({ ok: false, error: { code: "wrong_hash" } });
    expect(await fetch("/long")).toMatchObject({ ok: false, error: { code: "malformed" } });
    expect(await fetch("/none")).toMatchObject({ ok: false, error: { code: "unreachable" } });
    texts["/odd"] = "[]";
    expect(await fetch("/odd", hash256(utf8("[]")))).toMatchObject({ ok: false, error: { code: "malformed" } });
  });

  it("comes from a SMASH server under its registration's hash", async () => {
    const { url, requests } = await serve(({ path }) =>
      path === `/api/v1/metadata/${pool}/${hash}`
        ? { body: text }
        : path === "/api/v1/status"
        ? { body: { status: "OK", version: "1.6.0" } }
        : path === "/api/v1/delisted"
        ? { body: [{ poolId: pool }, { poolId: "odd" }, 5] }
        : { status: 404 }
    );
    expect(await fetchMetadata(url, { pool, url: "https://elsewhere.example", hash }, here)).toEqual({
      ok: true,
      value: oak,
    });
    expect(await fetchMetadata(url, { pool, url: "", hash: "00".repeat(32) }, here))
      .toMatchObject({ ok: false, error: { code: "unknown" } });
    expect(await fetchDelisted(url, here)).toEqual({ ok: true, value: [pool] });
    expect(await smashHealth(url, here)).toBe("available");
    expect(await smashHealth(`${url}/`, here)).toBe("available");
    expect(requests.at(-1)).toBe("GET /api/v1/status");
    const ill = await serve(() => ({ status: 500, body: {} }));
    expect(await smashHealth(ill.url, here)).toBe("unavailable");
    expect(await fetchDelisted(ill.url, here)).toMatchObject({ ok: false });
    expect(await smashHealth("http://127.0.0.1:1", here)).toBe("unreachable");
  });

  it("has limits of length, counted in characters", () => {
    expect(readMetadata({ ...oak, name: "🌳".repeat(50) })).toBeDefined();
    expect(readMetadata({ ...oak, name: "🌳".repeat(51) })).toBeUndefined();
    expect(readMetadata({ ...oak, ticker: "OA" })).toBeUndefined();
    expect(readMetadata({ ...oak, ticker: "OAKOAK" })).toBeUndefined();
    expect(readMetadata({ ...oak, description: "x".repeat(256) })).toEqual({
      ticker: "OAK",
      name: "Oak",
      homepage: oak.homepage,
    });
    expect(readMetadata({ ...oak, extra: 1 })).toEqual(oak);
    for (const odd of [null, [], "text", 5, {}, { ...oak, homepage: 5 }]) expect(readMetadata(odd)).toBeUndefined();
  });

  it("is configured to come from nowhere, from the pools or from a server", () => {
    for (const one of ["none", "direct", "https://smash.example", "http://127.0.0.1:3100"]) {
      expect(parseSource(one)).toBe(one);
    }
    expect(parseSource("https://smash.example:80/")).toBe("https://smash.example:80");
    for (const one of ["", "nothing", "ftp://smash.example", "https://smash.example/path", "https://a b"]) {
      expect(parseSource(one)).toBeUndefined();
    }
  });
});

describe("token metadata", () => {
  const subject = (n: number) => n.toString(16).padStart(64, "0");
  const properties = (of: string, more: Record<string, unknown> = {}) => ({
    subject: of,
    policy: "00",
    name: { value: "Acorn", signatures: [], sequenceNumber: 0 },
    description: { value: "A nut", signatures: [] },
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, { value, signatures: [] }])),
  });

  it("is requested in batches, as the registry's server takes them, and cached", async () => {
    const { url, requests, bodies } = await serve(({ body }) => ({
      body: {
        subjects: (body as { subjects: string[] }).subjects.filter((one) => one !== subject(7)).map((one) =>
          properties(one)
        ),
      },
    }));
    const server = new TokenServer({ url: `${url}/`, fetch: here, log: silentLog });
    const many = Array.from({ length: 150 }, (_, n) => subject(n));
    const [found, again] = await Promise.all([server.find(many), server.find(many.slice(0, 3))]);
    expect(found.get(subject(0))).toEqual({ metadata: { name: "Acorn", description: "A nut" } });
    expect(found.get(subject(7))).toEqual({});
    expect(again.size).toBe(3);
    expect(requests).toEqual(["POST /metadata/query", "POST /metadata/query"]);
    expect(bodies[0]).toEqual({
      subjects: many.slice(0, 100),
      properties: ["name", "description", "ticker", "decimals", "url", "logo"],
    });
    await server.find(many);
    expect(requests).toHaveLength(2);
  });

  it("omits invalid members, and reports a missing required one", async () => {
    const answers: Record<string, unknown> = {
      [subject(1)]: properties(subject(1), { ticker: "ACRN", decimals: 6, url: "https://acorn.example", logo: "aGk=" }),
      [subject(2)]: properties(subject(2), {
        ticker: "A",
        decimals: 256,
        url: "http://acorn.example",
        logo: "no logo",
      }),
      [subject(3)]: { subject: subject(3), name: { value: "Nameless" } },
      [subject(4)]: { ...properties(subject(4)), name: { value: "" } },
    };
    const { url } = await serve(({ body }) => ({
      body: { subjects: (body as { subjects: string[] }).subjects.map((one) => answers[one]) },
    }));
    const found = await new TokenServer({ url, fetch: here, log: silentLog }).find([1, 2, 3, 4].map(subject));
    expect(found.get(subject(1))).toEqual({
      metadata: {
        name: "Acorn",
        description: "A nut",
        ticker: "ACRN",
        decimals: 6,
        url: "https://acorn.example",
        logo: "aGk=",
      },
    });
    expect(found.get(subject(2))).toEqual({ metadata: { name: "Acorn", description: "A nut" } });
    expect(found.get(subject(3))).toEqual({ error: "parse" });
    expect(found.get(subject(4))).toEqual({ error: "parse" });
  });

  it("distinguishes an unreachable server from an unreadable response, and retries soon", async () => {
    let body: unknown = "no JSON {";
    const { url, requests } = await serve(() => ({ body }));
    const server = new TokenServer({ url, fetch: here, log: silentLog, keepFailedMs: 0 });
    expect((await server.find([subject(1)])).get(subject(1))).toEqual({ error: "parse" });
    body = { subjects: 5 };
    expect((await server.find([subject(1)])).get(subject(1))).toEqual({ error: "parse" });
    body = { subjects: [properties(subject(1))] };
    expect((await server.find([subject(1)])).get(subject(1))).toMatchObject({ metadata: { name: "Acorn" } });
    expect(requests).toHaveLength(3);
    const away = new TokenServer({ url: "http://127.0.0.1:1", fetch: here, log: silentLog });
    expect((await away.find([subject(1)])).get(subject(1))).toEqual({ error: "fetch" });
    const ill = await serve(() => ({ status: 500, body: {} }));
    const sick = new TokenServer({ url: ill.url, fetch: here, log: silentLog });
    expect((await sick.find([subject(1)])).get(subject(1))).toEqual({ error: "fetch" });
    const guarded = new TokenServer({ url, fetch: { allowPrivate: false }, log: silentLog });
    expect((await guarded.find([subject(1)])).get(subject(1))).toEqual({ error: "fetch" });
  });
});
