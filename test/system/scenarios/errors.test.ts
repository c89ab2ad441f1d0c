/** Errors of a running service: every endpoint of its document, with every kind of request that it must refuse. */
import { request as nodeRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filled, malformedParams, PATH_VALUES, putMalformed } from "../../support/wallets/malformedBodies.ts";
import { PASSPHRASE, Scenario } from "../../support/service/scenario.ts";

interface Operation {
  readonly method: string;
  /** A path with `{names}` in it, without the prefix. */
  readonly path: string;
  /** The type of the body, if it has one. */
  readonly consumes: string | undefined;
  /** Whether the answer has a body. */
  readonly produces: boolean;
}

const JSON_TYPE = "application/json";

describe("a service that gets wrong requests", () => {
  let scenario: Scenario;
  let operations: readonly Operation[];
  let wallet: string;

  /**
   * Sends a request, and expects an error of the one shape: two texts, the message in one line, and no other member but
   * `info`.
   */
  const refused = async (method: string, path: string, init: RequestInit = {}) => {
    const response = await fetch(scenario.client.base + path, { method, ...init });
    const text = await response.text();
    const where = `${method} ${path}: ${response.status} ${text}`;
    expect(response.status, where).toBeGreaterThanOrEqual(400);
    expect(response.headers.get("content-type"), where).toContain(JSON_TYPE);
    const { code, message, info: _, ...rest } = JSON.parse(text);
    expect([code, message, rest], where).toEqual([
      expect.stringMatching(/^[a-z_]+$/),
      expect.stringMatching(/^[^\n]+$/),
      {},
    ]);
    return { status: response.status, code: code as string, message: message as string, where };
  };
  const json = (body: string, type = JSON_TYPE) => ({ body, headers: { "content-type": type } });

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    await scenario.blocks();
    wallet = (await scenario.createWallet()).id;
    const document = await scenario.client.get<{
      paths: Record<string, Record<string, { requestBody?: { content: Record<string, unknown> }; responses: object }>>;
    }>("/openapi.json");
    // some are not under the prefix
    const paths = Object.entries(document.paths).filter(([, methods]) => !("servers" in methods));
    operations = paths.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { requestBody, responses }]) => ({
        method: method.toUpperCase(),
        path,
        consumes: requestBody && Object.keys(requestBody.content)[0],
        produces: !("204" in responses),
      }))
    );
    expect(operations.length).toBeGreaterThan(80);
  });
  afterAll(() => scenario?.stop());

  it("has no other paths, and no other methods of its paths", async () => {
    for (const path of ["/nowhere", "/wallets/", "/wallets/nobody/nothing", "/v2/wallets", "/shared-wallets/a/b/c/d"]) {
      const { status, code, where } = await refused("GET", path);
      expect([status, code], where).toEqual([404, "not_found"]);
    }
    const paths = new Map<string, Set<string>>();
    for (const { method, path } of operations) {
      paths.set(path, (paths.get(path) ?? new Set()).add(method));
    }
    for (const [path, methods] of paths) {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((one) => !methods.has(one))) {
        const { status, code, where } = await refused(method, filled(path));
        // another path may have the method, with a parameter instead of a literal segment
        if (status === 405) expect(code, where).toBe("method_not_allowed");
        else expect([400, 404, 406, 415], where).toContain(status);
      }
      const { status, code, where } = await refused("PURGE", filled(path));
      expect([status, code], where).toEqual([405, "method_not_allowed"]);
    }
  });

  it("answers with JSON to clients that accept it, and accepts each endpoint's content type", async () => {
    for (const { method, path, consumes, produces } of operations) {
      // an answer without a body suits every client
      if (produces) {
        const body = consumes === undefined ? {} : { body: "{}" };
        const accepted = await refused(method, filled(path), {
          ...body,
          headers: { accept: "plain/text", ...(consumes ? { "content-type": consumes } : {}) },
        });
        expect([accepted.status, accepted.code], accepted.where).toEqual([406, "not_acceptable"]);
      }
      if (consumes === undefined) continue;
      const typed = await refused(method, filled(path), json("{}", "plain/text"));
      expect([typed.status, typed.code, typed.message], typed.where).toEqual([
        415,
        "unsupported_media_type",
        expect.stringContaining(`'${consumes}'`),
      ]);
    }
  });

  it("describes the valid values of each path parameter", async () => {
    const bad: Record<string, readonly string[]> = {
      walletId: ["nobody", "0".repeat(39), "0".repeat(41), "ś".repeat(40)],
      transactionId: ["0".repeat(63), "x".repeat(64)],
      stakePoolId: ["pool1nonsense", "0".repeat(57)],
      policyId: ["faff", "x".repeat(56)],
      assetName: ["f", "patate", "0".repeat(66)],
      role: ["patate", "💩"],
      index: ["patate", "2147483648", "1234H1234", "H"],
      addressId: ["addr_test1nonsense", "patate"],
      drepId: ["patate", "drep1nonsense"],
    };
    const values = { ...PATH_VALUES, walletId: wallet };
    const seen = new Set<string>();
    for (const { method, path, consumes } of operations) {
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
        seen.add(name!);
        expect(bad, `${path} has an unknown parameter`).toHaveProperty(name!);
        for (const value of [...bad[name!]!, ...malformedParams[name!]?.bad ?? []]) {
          const requestPath = filled(path, { ...values, [name!]: value });
          const body = consumes === undefined ? {} : json(consumes === JSON_TYPE ? "{}" : "", consumes);
          const { status, code, message, where } = await refused(method, requestPath, body);
          expect([status, code], where).toEqual([400, "bad_request"]);
          const known = malformedParams[name!];
          if (known?.bad.includes(value)) expect(message, where).toBe(known.message);
        }
      }
    }
    expect(seen.size).toBeGreaterThan(7);
  });

  it("refuses every body that other wallet servers refuse", async () => {
    const served = new Set(operations.map(({ method, path }) => `${method} ${path}`));
    const origin = scenario.client.base.replace(/\/v2$/, "");
    const { answers } = await putMalformed(served, (path, init) => fetch(origin + path, init));
    expect(answers.length).toBeGreaterThan(150);
    for (const { where, status, code } of answers) expect([status, code], where).toEqual([400, "bad_request"]);
  });

  it("accepts no body that is not JSON, too deep or too large, and continues", async () => {
    const bodies = ["", "{", "[]", "null", '"text"', "{}{}", "\u0000", "{'a':1}", "[".repeat(10_000)];
    for (const body of bodies) {
      const { status, code, where } = await refused("POST", "/wallets", json(body));
      expect([status, code], where).toEqual([400, "bad_request"]);
    }
    const latin = await refused("POST", "/wallets", {
      body: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d),
      headers: { "content-type": JSON_TYPE },
    });
    expect(latin.code).toBe("bad_request");
    const vast = await refused("POST", "/wallets", json(`{"name":"${"x".repeat(5_000_000)}"}`)).catch(() => undefined);
    // a client that continues to send may find the connection closed
    if (vast) expect([vast.status, vast.code]).toEqual([413, "body_too_large"]);
    expect((await scenario.client.wallet(wallet)).id).toBe(wallet);
  });

  it("refuses what is larger than a message to a worker", async () => {
    const [own] = await scenario.client.get<{ id: string }[]>(`/wallets/${wallet}/addresses`);
    const payment = { address: own!.id, amount: { quantity: 2_000_000, unit: "lovelace" } };
    const payments = new Array(12_000).fill(payment);
    const { status, code } = await refused(
      "POST",
      `/wallets/${wallet}/transactions-construct`,
      json(JSON.stringify({ payments })),
    );
    expect([status, code]).toEqual([413, "too_large"]);
  });

  it("answers clients that send no HTTP, or an invalid path, and continues", async () => {
    const { hostname, port } = new URL(scenario.client.base);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const clientRequest = nodeRequest({ hostname, port, path: "/v2/wallets/%zz", method: "GET" }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      clientRequest.once("error", reject).end();
    });
    expect([400, 404]).toContain(status);
    expect((await scenario.client.wallet(wallet)).id).toBe(wallet);
  });

  it("does not repeat secrets that a request contains", async () => {
    const secret = "my very secret passphrase";
    const words = "tank still night soap affair climb now song magic soldier dynamic dragon fiction actual femal".split(
      " ",
    );
    const bodies = [
      { name: 5, mnemonic_sentence: words, passphrase: secret },
      { name: "A", mnemonic_sentence: words, passphrase: secret },
      { name: "A", mnemonic_sentence: [...words, secret], passphrase: { secret } },
    ];
    for (const body of bodies) {
      const { message } = await refused("POST", "/wallets", json(JSON.stringify(body)));
      for (const word of [secret, "soldier", "femal"]) expect(message).not.toContain(word);
    }
    const change = { old_passphrase: secret, new_passphrase: PASSPHRASE };
    const { status, code, message } = await refused(
      "PUT",
      `/wallets/${wallet}/passphrase`,
      json(JSON.stringify(change)),
    );
    expect([status, code]).toEqual([403, "wrong_encryption_passphrase"]);
    expect(message).not.toContain(secret);
    expect(scenario.arbor.printed).not.toContain(secret);
  });
});
