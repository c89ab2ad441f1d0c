/** Allowed targets of webhooks, their signatures, and their retries. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { isPublic, resolveTarget } from "#src/base/targetAddress.ts";
import { webhookUrlProblem } from "#src/runtime/webhooks/url.ts";
import { ANSWER_BYTES, post } from "#src/runtime/webhooks/post.ts";
import { RETRIES, waitAfter } from "#src/runtime/webhooks/retries.ts";
import { newSecret, secretText, signatureHeaders } from "#src/runtime/webhooks/sign.ts";

describe("addresses", () => {
  test.each([
    "127.0.0.1",
    "127.8.9.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.170",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:a00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001::1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "no address",
  ])("%s is not public", (address) => expect(isPublic(address)).toBe(false));

  test.each(["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])(
    "%s is public",
    (address) => expect(isPublic(address)).toBe(true),
  );

  test.each([
    "http://example.com/",
    "ftp://example.com/",
    "https://user:secret@example.com/",
    "https://example.com/#x",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::1]:8443/",
    "https://localhost/",
    "https://LOCALHOST.:8443/",
    "https://hook.localhost/",
    "https://127。0。0。1/",
    "https://①②⑦.1/",
    "https:127.0.0.1",
    "https://[64:ff9b::7f00:1]/",
    "nonsense",
  ])("%s may not be a target", (url) => expect(webhookUrlProblem(url, false)).toMatch(/\.$/));

  test("https to a name or a public address may; if allowed, http and private ones too", () => {
    expect(webhookUrlProblem("https://example.com/hook?key=1", false)).toBeUndefined();
    expect(webhookUrlProblem("https://1.1.1.1:8443/", false)).toBeUndefined();
    expect(webhookUrlProblem("http://127.0.0.1:1/", true)).toBeUndefined();
    expect(webhookUrlProblem("ftp://127.0.0.1:1/", true)).toBeDefined();
  });

  test("a name is judged by the address that it resolves to", async () => {
    expect(await resolveTarget(new URL("https://localhost/"), false, "refused")).toMatchObject({
      error: { code: "refused" },
    });
    expect(await resolveTarget(new URL("https://localhost/"), true, "refused")).toMatchObject({ ok: true });
    expect(await resolveTarget(new URL("https://nowhere.invalid/"), false, "refused")).toMatchObject({
      error: { code: "unresolved" },
    });
  });
});

describe("messages", () => {
  test("are signed according to Standard Webhooks", () => {
    const secret = newSecret();
    const body = '{"id":"token/ab:1","n":"é"}';
    const headers = signatureHeaders(secret, { id: "wh_1_7", at: Date.now(), body });
    const receiver = new Webhook(secretText(secret));
    expect(receiver.verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => receiver.verify(body + " ", headers)).toThrow();
    expect(() => receiver.verify(body, { ...headers, "webhook-id": "wh_1_8" })).toThrow();
    expect(() => new Webhook(secretText(newSecret())).verify(body, headers)).toThrow();
  });

  test("nothing is sent to a forbidden target; little of a response is kept; redirects are not followed; time is limited", async () => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(request.url!);
      if (request.url === "/redirect") response.writeHead(302, { location: "/ok" }).end();
      else if (request.url === "/large") response.writeHead(500, { "retry-after": "7" }).end("x".repeat(200_000));
      else if (request.url === "/endless") {
        response.writeHead(500);
        response.write("x".repeat(10));
      } else if (request.url !== "/hang") response.writeHead(204).end();
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const send = (path: string, { allowPrivate = true, timeoutMs = 300_000 } = {}) =>
      post(new URL(base + path), { "content-type": "text/plain" }, "hi", { allowPrivate, timeoutMs });
    expect(await send("/ok", { allowPrivate: false })).toMatchObject({ ok: false, code: null });
    expect(received).toEqual([]);
    expect(await send("/ok")).toMatchObject({ ok: true, code: 204, error: null });
    expect(await send("/redirect")).toMatchObject({ ok: false, code: 302, error: "302: redirects are not followed." });
    const large = await send("/large");
    expect(large).toMatchObject({ ok: false, code: 500, retryAfterMs: 7_000 });
    expect(large.answer).toBe("x".repeat(ANSWER_BYTES));
    expect(await send("/hang", { timeoutMs: 500 }))
      .toMatchObject({ ok: false, code: null, error: "No response within 500 ms." });
    expect(await send("/endless", { timeoutMs: 500 })).toMatchObject({ ok: false });
    expect(received).toEqual(["/ok", "/redirect", "/large", "/hang", "/endless"]);
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    expect((await send("/ok")).error).toMatch(/refused/i);
  });

  test("are retried at increasing intervals, with jitter, for about a day", () => {
    const waits = Array.from({ length: RETRIES.most - 1 }, (_, i) => waitAfter(i + 1, RETRIES, null, 1));
    expect(waits.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect(waits.at(-1)).toBe(RETRIES.longestMs);
    const hours = waits.reduce((sum, wait) => sum + wait, 0) / 3_600_000;
    expect(hours).toBeGreaterThan(12);
    expect(hours).toBeLessThan(48);
    expect(waitAfter(1, RETRIES, null, 0)).toBe(2_500);
    expect(waitAfter(1, RETRIES, 60_000, 0)).toBe(60_000);
    expect(waitAfter(1, RETRIES, 1e12, 0)).toBe(RETRIES.longestMs);
  });
});
