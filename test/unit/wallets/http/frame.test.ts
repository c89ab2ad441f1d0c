import { describe, expect, test } from "vitest";
import { z } from "zod";
import { parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import * as params from "#src/wallets/api/params.ts";
import { amount, integer, MOST, walletName } from "#src/wallets/api/text.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { newWalletApp, route } from "#src/wallets/http/route.ts";
import { vectors } from "../../../support/base/vectors.ts";
import { readFileSync } from "node:fs";

const json = { "content-type": "application/json" };

function service() {
  const app = newWalletApp(silentLog);
  const say = (method: "get" | "put" | "patch" | "delete", path: string, spec: object = {}) =>
    route(app, method, path, { summary: "", ...spec }, () => Promise.resolve({ method }));
  say("get", "/things");
  say("get", "/things/:walletId", { params: { walletId: params.walletId } });
  say("put", "/things");
  say("patch", "/things");
  say("delete", "/things", { status: 204 });
  route(app, "post", "/things", {
    summary: "",
    status: 202,
    body: z.object({ name: walletName, amount: z.object({ quantity: integer(-MOST, MOST) }) }),
    answer: amount,
  }, ({ body }) => Promise.resolve({ name: body.name, quantity: body.amount.quantity }));
  route(app, "get", "/fails", { summary: "" }, () => Promise.reject(new Error("of the inside")));
  route(
    app,
    "get",
    "/refuses",
    { summary: "" },
    () => Promise.reject(new HttpFailure(403, "no_root_key", "one\n  two", { wallet_id: "1" })),
  );
  return app;
}

const app = service();
const post = (body: string, headers: Record<string, string> = json) =>
  app.request("/v2/things", { method: "POST", headers, body });

describe("statuses", () => {
  test("each method has its status", async () => {
    for (const method of ["GET", "PUT", "PATCH"]) {
      expect(await (await app.request("/v2/things", { method })).json()).toEqual({ method: method.toLowerCase() });
    }
  });

  test("204 has no body", async () => {
    const response = await app.request("/v2/things", { method: "DELETE" });
    expect([response.status, await response.text()]).toEqual([204, ""]);
  });

  test("a computation answers 202", async () => {
    expect((await post(`{"name":"a","amount":{"quantity":1}}`)).status).toBe(202);
  });

  test("a known path with another method is 405, an unknown path 404", async () => {
    const known = await app.request("/v2/things", { method: "PURGE" });
    expect([known.status, await known.json()]).toEqual([
      405,
      {
        code: "method_not_allowed",
        message: expect.stringMatching(
          /^You've reached a known endpoint but I don't know how to handle the HTTP method specified/,
        ),
      },
    ]);
    const unknown = await app.request("/v2/thing");
    expect([unknown.status, await unknown.json()]).toEqual([404, {
      code: "not_found",
      message: expect.stringMatching(/^I couldn't find the requested endpoint/),
    }]);
  });

  test("a refusal has code, message in one line, and info", async () => {
    const response = await app.request("/v2/refuses");
    expect([response.status, await response.json()]).toEqual([
      403,
      { code: "no_root_key", message: "one two", info: { wallet_id: "1" } },
    ]);
  });

  test("an internal error reveals no internal details", async () => {
    const response = await app.request("/v2/fails");
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text).code).toBe("unexpected_error");
    expect(text).not.toContain("of the inside");
  });
});

describe("headers", () => {
  test("another content type is 415, also if none is given", async () => {
    for (const headers of [{ "content-type": "text/plain" }, { "content-type": "plain/text" }, {}]) {
      const response = await post("{}", headers as Record<string, string>);
      expect([response.status, (await response.json()).code]).toEqual([415, "unsupported_media_type"]);
    }
    const taken = await post(`{"name":"a","amount":{"quantity":1}}`, {
      "content-type": "application/json; charset=utf-8",
    });
    expect(taken.status).toBe(202);
  });

  test("a client that does not accept JSON gets 406", async () => {
    const statusFor = async (accept: string) => (await app.request("/v2/things", { headers: { accept } })).status;
    expect(await statusFor("plain/text")).toBe(406);
    expect(await statusFor("text/html, application/json;q=0.9")).toBe(200);
    expect(await statusFor("*/*")).toBe(200);
    expect(await statusFor("application/*")).toBe(200);
  });

  test("an answer without a body suits every client", async () => {
    const response = await app.request("/v2/things", { method: "DELETE", headers: { accept: "text/plain" } });
    expect(response.status).toBe(204);
  });

  const file = vectors("wallet-malformed-bodies.json");
  test("have the messages that clients know", async () => {
    const { headers } = JSON.parse(readFileSync(file, "utf8"));
    const type = headers["Content-Type"];
    const refused = await post("{}", { "content-type": type.bad });
    expect([refused.status, await refused.json()]).toEqual([type.status, { code: type.code, message: type.message }]);
    const { Accept: accept } = headers;
    const none = await app.request("/v2/things", { headers: { accept: accept.bad } });
    expect([none.status, await none.json()]).toEqual([accept.status, { code: accept.code, message: accept.message }]);
  });
});

describe("bodies", () => {
  const refused = async (body: string) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    const answer = await response.json();
    expect(answer.code).toBe("bad_request");
    return answer.message as string;
  };

  test("are refused with the error and its position, without the value", async () => {
    expect(await refused("")).toBe("Unexpected end-of-input, expecting JSON value");
    expect(await refused("{")).toMatch(/^Error in \$/);
    expect(await refused("7")).toBe("Error in $: expected Object, but encountered Number");
    expect(await refused(`{"amount":{"quantity":1}}`)).toBe("Error in $: key 'name' not found");
    expect(await refused(`{"name":"","amount":{"quantity":1}}`))
      .toBe("Error in $.name: name is too short: expected at least 1 character");
    expect(await refused(`{"name":5,"amount":{"quantity":1}}`)).toBe(
      "Error in $.name: expected String, but encountered Number",
    );
    expect(await refused(`{"name":"secret","amount":{"quantity":"secret"}}`)).not.toContain("secret");
    expect(await refused("[".repeat(1_000))).toContain("too deep");
  });

  test("count the characters of a name as people do", async () => {
    const named = (name: string) => post(JSON.stringify({ name, amount: { quantity: 1 } }));
    expect((await named("ę".repeat(255))).status).toBe(202);
    expect((await named("😀".repeat(255))).status).toBe(202);
    expect((await named("😀".repeat(256))).status).toBe(400);
  });

  test("keep every digit of an integer, both ways", async () => {
    for (const digits of ["18446744073709551615", "-18446744073709551615", "9007199254740993", "0"]) {
      const response = await post(`{"name":"a","amount":{"quantity":${digits}}}`);
      expect(parseJson(await response.text())).toEqual(parseJson(`{"name":"a","quantity":${digits}}`));
    }
    expect(await refused(`{"name":"a","amount":{"quantity":18446744073709551616}}`)).toContain(
      "expected a whole number",
    );
    expect(await refused(`{"name":"a","amount":{"quantity":1.5}}`)).toContain("$.amount.quantity");
  });
});

describe("path parameters", () => {
  const file = vectors("wallet-malformed-bodies.json");
  test("are refused with the messages that clients know", async () => {
    const { pathParams } = JSON.parse(readFileSync(file, "utf8")) as {
      pathParams: Record<string, { good?: string[]; bad: string[]; message: string }>;
    };
    const schemas: Record<string, z.ZodType> = {
      walletId: params.walletId,
      poolId: params.poolId,
      role: params.role,
      index: params.index,
      policyId: params.policyId,
      assetName: params.assetName,
    };
    for (const [name, { good = [], bad, message }] of Object.entries(pathParams)) {
      const one = newWalletApp(silentLog);
      route(
        one,
        "get",
        "/p/:value",
        { summary: "", params: { value: schemas[name]! } },
        () => Promise.resolve({}),
      );
      for (const value of good.filter((text) => text !== "")) {
        expect((await one.request(`/v2/p/${value}`)).status, `${name} ${value}`).toBe(200);
      }
      for (const value of bad) {
        const response = await one.request(`/v2/p/${encodeURIComponent(value)}`);
        expect([response.status, await response.json()], `${name} ${value}`).toEqual([400, {
          code: "bad_request",
          message,
        }]);
      }
    }
  });

  test("a wallet's id is accepted in any case", async () => {
    expect((await app.request(`/v2/things/${"Ab".repeat(20)}`)).status).toBe(200);
  });
});
