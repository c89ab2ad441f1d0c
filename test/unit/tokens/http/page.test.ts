/**
 * The token service's page: its files and how they are sent, how untrusted texts are shown, and how a wallet's answers
 * are handled.
 */
import fc from "fast-check";
import { Hono } from "hono";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { PAGES } from "#src/app/pages.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { pageRoutes } from "#src/tokens/http/pageRoutes.ts";
import { silentLog } from "#src/base/log.ts";
import { utf8 } from "#src/base/bytes.ts";
import { bundle } from "#src/threads/bundle.ts";
import type { Builders } from "#src/threads/builders.ts";
import { mostLocked } from "#src/client/amountLimits.ts";
import { offeredWallets, paymentKey, walletError } from "#src/pages/tokens/cip30.ts";
import { difference, isSame, itemsOf } from "#src/pages/tokens/shown.ts";
import { piecesOf, plain } from "#src/pages/tokens/visible.tsx";

/** The page's files, bundled once. */
const files = await bundle({
  entry: new URL("../../../../src/pages/tokens/main.tsx", import.meta.url).href,
  split: true,
});
const builders = { run: () => Promise.resolve(files) } as unknown as Pick<Builders, "run">;
const page = (devnetWallet?: number, pageConnect: readonly string[] = []) => {
  const app = new Hono();
  app.onError((error, c) => c.text(error.message, error instanceof HttpFailure ? error.status as 404 : 500));
  pageRoutes(app, { builders, log: silentLog, pages: PAGES, devnetWallet, pageConnect });
  return app;
};
const app = page();

/** Every file that the document names, and the document itself, by path. */
async function loaded(): Promise<Map<string, Response & { readonly said: string }>> {
  const found = new Map<string, Response & { readonly said: string }>();
  const open = async (path: string) => {
    const answer = await app.request(path);
    found.set(path, Object.assign(answer, { said: await answer.text() }));
  };
  await open("/");
  const names = [...found.get("/")!.said.matchAll(/(?:src|href)="(\/page\/[^"]+)"/g)].map(([, name]) => name!);
  for (const name of names) await open(name);
  return found;
}

describe("the page's files", () => {
  it("are served, with their types, under a policy that allows nothing else", async () => {
    const all = await loaded();
    expect(all.size).toBeGreaterThan(2);
    const types: Record<string, string> = { css: "text/css", js: "text/javascript" };
    for (const [path, { status, headers }] of all) {
      const type = types[path.slice(path.lastIndexOf(".") + 1)] ?? "text/html";
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, `${type}; charset=utf-8`]);
      const policy = headers.get("content-security-policy")!;
      expect(policy.split("; ")).toEqual(
        expect.arrayContaining(["default-src 'none'", "style-src 'self'", "connect-src 'self'"]),
      );
      expect(policy).toMatch(path === "/" ? /; script-src 'self' 'sha256-[^' ]+';/ : /; script-src 'self';/);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("contain one script and no style within the document, and are 60 kB at most; the client comes when it is needed", async () => {
    const all = await loaded();
    expect(all.get("/")!.said).not.toMatch(/\bstyle=|<style|\son[a-z]+=/);
    expect(all.get("/")!.said.match(/<script/g)).toHaveLength(1);
    const weight = [...all.values()].reduce((sum, one) => sum + gzipSync(one.said).length, 0);
    expect(weight).toBeLessThan(60_000);
    const later = files.ok ? files.value.filter(({ initial }) => !initial).map(({ text }) => text).join("") : "";
    expect(later).toContain("does not match the intent");
    for (const [path, { said }] of all) {
      expect([path, said.includes("does not match the intent")]).toEqual([path, false]);
    }
  });

  it("are sent again only if they changed, and no other file is served", async () => {
    const etag = (await app.request("/")).headers.get("etag")!;
    const again = await app.request("/", { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    for (const path of ["/page/tokens/main.tsx", "/page/tokens/page.css", "/page/operator/app.js"]) {
      expect([path, (await app.request(path)).status]).toEqual([path, 404]);
    }
  });
});

describe("the development wallet", () => {
  const sent = async (host: string, port?: number) => {
    const answer = await page(port).request("/", { headers: { host } });
    return { text: await answer.text(), policy: answer.headers.get("content-security-policy")!, answer };
  };

  it("is not on the page of a service without a devnet of its own", async () => {
    const { text, policy } = await sent("127.0.0.1:3000");
    expect(text + policy).not.toMatch(/wallet-sdk|:10000/);
  });

  it.each(["127.0.0.1", "[::1]", "localhost", "dev-box.example"])("comes from the devnet at %s", async (host) => {
    const { text, policy } = await sent(`${host}:3000`, 10_000);
    const origin = `http://${host}:10000`;
    expect(text).toContain(`<script async src="${origin}/wallet-sdk.js" data-wallets="arbordevnet"></script>`);
    expect(/; script-src 'self' 'sha256-[^' ]+' ([^;]+);/.exec(policy)?.[1]).toBe(origin);
    expect(policy).toContain(`connect-src 'self' ${origin};`);
    expect(policy).toContain("default-src 'none'");
  });

  it("comes with the address of the devnet's explorer", async () => {
    const { text } = await sent("localhost:3000", 10_000);
    expect(text).toContain(`<meta name="arbor-devnet" content="http://localhost:10000">`);
    expect((await sent("localhost:3000")).text).not.toContain("arbor-devnet");
  });

  it.each([`"><script>`, "a b", "", "x'y", "a;b", "a,b"])(
    "does not take the host %j into the page",
    async (host) => {
      const { text, policy } = await sent(host, 10_000);
      expect(text + policy).not.toMatch(/wallet-sdk|:10000/);
    },
  );

  it("has a version of the page of its own for each host", async () => {
    const tags = await Promise.all(
      ["localhost", "127.0.0.1"].map(async (host) => (await sent(`${host}:3000`, 10_000)).answer.headers.get("etag")),
    );
    expect(new Set([...tags, (await sent("localhost:3000")).answer.headers.get("etag")]).size).toBe(3);
  });
});

describe("other instances", () => {
  it("are read by this page alone where the deployment names them, and are named in the document", async () => {
    const connected = page(undefined, ["https://one.example/arbor", "http://10.0.0.2:3000"]);
    const answer = await connected.request("/");
    const text = await answer.text();
    expect(answer.headers.get("content-security-policy")).toContain(
      "connect-src 'self' https://one.example http://10.0.0.2:3000;",
    );
    expect(text).toContain(`<meta name="arbor-instances" content="https://one.example/arbor http://10.0.0.2:3000">`);
    const script = /href="(\/page\/[^"]+\.js)"/.exec(text)![1]!;
    expect((await connected.request(script)).headers.get("content-security-policy")).toContain("connect-src 'self';");
    expect(await (await app.request("/")).text()).not.toContain("arbor-instances");
  });

  it("are verified by the verifiers of the client, which load when they are needed", async () => {
    const sentence = "is not proven to be unspent after the block";
    const later = files.ok ? files.value.filter(({ initial }) => !initial) : [];
    expect(later.filter(({ text }) => text.includes(sentence))).toHaveLength(1);
    for (const [path, { said }] of await loaded()) expect([path, said.includes(sentence)]).toEqual([path, false]);
  });
});

describe("what a view shows", () => {
  const proven = itemsOf([["a", "1"], ["b", "2"], ["b", "3"]]);
  const shown = (items: Record<string, string>, total = Object.keys(items).length) =>
    difference({ items: new Map(Object.entries(items)), total }, proven);

  it("is what was proven, or a part of it", () => {
    expect(shown({ a: "1", b: "2" })).toBeUndefined();
    expect(shown({ a: "1", b: "3" })).toBeUndefined();
    expect(shown({ b: "2" }, 2)).toBeUndefined();
  });

  it("is the same where it has the same content and count, in any order", () => {
    const view = (items: readonly (readonly [string, string])[], total = 2) => ({ items: new Map(items), total });
    const one = view([["a", "1"], ["b", "2"]]);
    expect(isSame(one, view([["b", "2"], ["a", "1"]]))).toBe(true);
    for (const other of [view([["a", "1"], ["b", "3"]]), view([["a", "1"]]), view([...one.items], 3), undefined]) {
      expect(isSame(one, other)).toBe(false);
    }
    expect(isSame(undefined, undefined)).toBe(true);
  });

  it("differs by what is missing, added, changed or counted", () => {
    expect(shown({ a: "1" })).toBe("The page does not show b, which is proven.");
    expect(shown({ a: "1", c: "1" }, 2)).toBe("The page shows c, which is not proven.");
    expect(shown({ a: "2", b: "2" })).toBe("The page shows other content of a than is proven.");
    expect(shown({ a: "1" }, 3)).toBe("The service counts 3, and 2 are proven.");
  });
});

describe("an untrusted text", () => {
  it("shows invisible characters, and bytes that are no text", () => {
    const shown = (text: string) => piecesOf(text).map(({ text, odd }) => odd ? `[${text}]` : text).join("");
    expect(shown("a b")).toBe("a b");
    expect(shown(" a  b ")).toBe("[\\x20]a [\\x20]b[\\x20]");
    expect(shown("a\0\n\u202eb\u200d")).toBe("a[\\x00][\\x0a][\\u{202e}]b[\\u{200d}]");
    expect(shown("\udc80\udcffü\u{e0041}\u3164\u00a0.")).toBe("[\\x80][\\xff]ü[\\u{e0041}][\\u{3164}][\\u{a0}].");
    expect(shown("ключ 鍵 🗝")).toBe("ключ 鍵 🗝");
    expect([plain(""), plain("a\u202e")]).toEqual(["(empty)", "a\\u{202e}"]);
  });

  it("looks different from every other text", () => {
    const odd = fc.constantFrom(
      " ",
      "\0",
      "\u202e",
      "\\",
      "x",
      "0",
      "\udc80",
      "\ud83d",
      "\udd11",
      "\u0080",
      "{",
      "u",
      "é",
    );
    // as fast-check's unit "binary", which makes a map of all 1,112,064 of them
    const codePoint = fc.nat({ max: 0x10f7ff }).map(
      (n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800),
      (one) => {
        const n = String(one).codePointAt(0) ?? 0;
        return n < 0xd800 ? n : n - 0x800;
      },
    );
    const texts = fc.oneof(
      fc.string({ unit: codePoint }),
      fc.array(odd, { maxLength: 6 }).map((parts) => parts.join("")),
    );
    fc.assert(fc.property(texts, texts, (a, b) => {
      expect(JSON.stringify(piecesOf(a)) === JSON.stringify(piecesOf(b))).toBe(a === b);
      expect(piecesOf(a).filter(({ text, odd }) => !odd && /[\p{C}\p{Zl}\p{Zp}]/u.test(text))).toEqual([]);
    }));
  });
});

it("a request may lock about as much as the ledger requires for its content", () => {
  // 4310 lovelace for each byte on all current networks
  for (const size of [0, 1, 100, 5_000, 14_000]) {
    const most = mostLocked(utf8("k"), utf8(""), utf8("ü".repeat(size / 2)));
    expect(most).toBeGreaterThan(4_310n * BigInt(size + 700));
    expect(most).toBeLessThan(11_000_000n + 5_001n * BigInt(size));
  }
});

describe("a browser's wallet", () => {
  const world = globalThis as { cardano?: unknown };
  afterEach(() => {
    delete world.cardano;
  });

  it("is found among other properties", () => {
    expect(offeredWallets()).toEqual([]);
    const wallet = { name: "One", enable: () => Promise.reject(new Error("not here")) };
    world.cardano = { one: wallet, same: wallet, nameless: { enable: wallet.enable }, other: 5, none: null, half: {} };
    expect(offeredWallets().map(({ id, name }) => [id, name])).toEqual([["one", "One"], [
      "nameless",
      "nameless",
    ]]);
  });

  it("is quoted in sentences, whatever it throws", () => {
    const said = (error: unknown, mode: "any" | "sign" = "sign") => walletError(error, mode).message;
    expect(said({ code: 2, info: "user declined sign tx" })).toBe(
      "You declined to sign. Nothing was submitted. It says: user declined sign tx",
    );
    expect(said({ code: 1, info: "" })).toBe("The wallet cannot sign this: it does not have the key.");
    expect(said({ code: -3, info: "no" }, "any")).toBe("The wallet refused. It says: no");
    expect(said(new Error("broken"))).toBe("The wallet did not do it. It says: broken");
    expect(said("broken")).toBe("The wallet did not do it. It says: broken");
    for (const odd of [undefined, null, 5, {}, { code: "__proto__" }]) {
      expect(said(odd)).toBe("The wallet did not do it.");
    }
  });

  it("has keys in its addresses, or has scripts", () => {
    const [key, stake] = ["11".repeat(28), "22".repeat(28)];
    expect(["00", "20", "61"].map((head) => paymentKey(head + key + stake))).toEqual([key, key, key]);
    expect(["10", "30", "71", "e0"].map((head) => paymentKey(head + key))).toEqual(Array(4).fill(undefined));
  });
});
