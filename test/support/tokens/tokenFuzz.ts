/**
 * Calls generated from the token service's own document: each gets an answer, none a 5xx, and none changes anything.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { TokenClient } from "#src/client/tokens.ts";
import { type Call, callsOf, type Document } from "../service/apiFuzz.ts";
import type { Arbor } from "../service/arbor.ts";
import { startService } from "../service/provider.ts";
import { sharedInfra } from "../infra/infra.ts";
import { fund, http, land, User } from "../service/user.ts";

const AT_ONCE = 8;

/** The test, with this many calls. */
export function tokenFuzz(count: number): void {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: TokenClient;
  const owner = new User("base");

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra });
    client = new TokenClient(arbor.tokens);
    await fund(arbor.devnet, arbor.tokens, owner);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  const called = async ({ method, path, headers, body }: Call) => {
    const ends = new AbortController();
    const answer = await fetch(arbor.tokens + path, {
      method,
      headers,
      signal: ends.signal,
      ...(body === undefined ? {} : { body }),
    });
    const type = answer.headers.get("content-type") ?? "";
    if (type.startsWith("text/event-stream")) {
      await answer.body?.cancel();
      ends.abort();
      return { status: answer.status, type, text: "" };
    }
    return { status: answer.status, type, text: await answer.text() };
  };

  it("random calls get no 5xx answer and change nothing", async () => {
    const { value: token, ...boot } = await client.boot(owner.address);
    const booted = await land(arbor.tokens, owner.sign(boot.unsignedTransaction));
    const signed = (one: { unsignedTransaction: string }) => land(arbor.tokens, owner.sign(one.unsignedTransaction));
    const first = await signed(await client.insert(owner.address, token, "key", "value"));
    await signed(await client.apply(owner.address, token, [`${first}-0`]));
    const open = await signed(await client.insert(owner.address, token, "other", "value"));
    const unsigned = await client.retract(owner.address, `${open}-0`);
    const before = [await client.token(token), await client.facts(token)];

    const document = (await http(arbor.tokens, "GET", "/openapi.json")).body as Document;
    const seed = Date.now() % 2 ** 31;
    const calls = callsOf(document, {
      seed,
      known: {
        tokenId: [token],
        address: [owner.address],
        to: [new User().address],
        outputRef: [`${open}-0`],
        request: [`${open}-0`],
        txHash: [booted, open],
        key: ["key", "other"],
        transaction: [unsigned.unsignedTransaction],
        signedTransaction: [unsigned.unsignedTransaction],
      },
      // calls that wait should be answered soon; a call whose `time` must be refused
      only: { n: [0, 1, "1", -1, 1.5, "x"], wait: ["0", "20", "-1", "x"], "arbor-timeout": ["30000", "x", "0", "-5"] },
    });
    const statuses = new Map<number, number>();
    const wrong: unknown[] = [];
    let left = count;
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) {
        const call = calls.next().value;
        const { status, type, text } = await called(call);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const isJson = type.startsWith("application/json");
        const traced = /\bat (async )?\S*\.ts:\d+|file:\/\/|node_modules/.test(isJson ? text : "");
        const worded = status < 400 || call.method === "HEAD" ||
          (isJson && typeof JSON.parse(text).code === "string" && typeof JSON.parse(text).error === "string");
        // 501: proofs of whole answers, of a service without a root of all outputs
        const failed = status >= 500 && status !== 501;
        if (failed || traced || !worded) wrong.push({ seed, call, status, text: text.slice(0, 500) });
      }
    }));
    expect(wrong.slice(0, 5)).toEqual([]);
    console.log(
      `${count} calls, seed ${seed}: ` +
        [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`).join(", "),
    );
    // most are refused, and a good part has the expected form
    expect(statuses.get(200)).toBeGreaterThan(count / 20);
    expect(statuses.get(400)).toBeGreaterThan(count / 20);
    expect([await client.token(token), await client.facts(token)]).toEqual(before);
    expect((await http(arbor.tokens, "GET", "/ready")).status).toBe(200);
  }, 1_800_000);
}
