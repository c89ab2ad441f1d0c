/**
 * What others on this machine's network can do to wallets over HTTP: call under other host names, and guess
 * passphrases.
 */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

const PASSPHRASE = "Secure Passphrase";

/** A call with any headers, also those that `fetch` does not allow. */
function call(url: string, method: string, headers: Record<string, string>, body?: unknown) {
  return new Promise<{ status: number; code: string | undefined; retryAfter: string | undefined }>(
    (resolve, reject) => {
      const options = { method, agent: false, headers: { "content-type": "application/json", ...headers } } as const;
      const clientRequest = request(url, options, (answer) => {
        const chunks: Uint8Array[] = [];
        answer.on("data", (chunk: Uint8Array) => chunks.push(chunk));
        answer.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          const { code } = (text.startsWith("{") ? JSON.parse(text) : {}) as { code?: string };
          resolve({ status: answer.statusCode!, code, retryAfter: answer.headers["retry-after"] });
        });
      });
      clientRequest.on("error", reject);
      // Deno sends the body of a DELETE without its length, which makes it a second, broken request.
      clientRequest.end(body === undefined || ["GET", "DELETE"].includes(method) ? undefined : JSON.stringify(body));
    },
  );
}

describe("two edges of one database", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  let first: Arbor;
  let second: Arbor;
  let id: string;

  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    first = await Arbor.start({ infra, mining: "submit" });
    second = await Arbor.start({ infra, roles: "edge" });
    const client = new WalletClient(first.wallets);
    ({ id } = await client.create({ name: "W", mnemonic_sentence: newMnemonic(15), passphrase: PASSPHRASE }));
  });
  afterAll(async () => {
    for (const one of [second, first]) await one?.end();
    await store?.close();
    await infra?.stop();
  });

  it("refuse other host names and pages on the wallet and on the token service", async () => {
    const calls = [
      ["GET", `${first.wallets}/wallets`],
      ["POST", `${first.wallets}/wallets`],
      ["PUT", `${first.wallets}/settings`],
      ["DELETE", `${first.wallets}/wallets/${id}`],
      ["GET", `${first.tokens}/tokens`],
      ["POST", `${first.tokens}/transaction`],
    ] as const;
    for (const [method, url] of calls) {
      const { port } = new URL(url);
      expect(await call(url, method, { host: `attacker.example:${port}` }, {})).toMatchObject({
        status: 403,
        code: "bad_host",
      });
      expect(await call(url, method, { origin: "http://attacker.example" }, {})).toMatchObject({
        status: 403,
        code: "bad_origin",
      });
    }
    expect((await call(`${first.wallets}/wallets/${id}`, "GET", {})).status).toBe(200);
    const { port } = new URL(first.wallets);
    expect((await call(`${first.wallets}/wallets/${id}`, "GET", { host: `localhost:${port}` })).status).toBe(200);
  });

  it("count the wrong passphrases of one wallet together, over every endpoint with a passphrase", async () => {
    const wrong = "Another Passphrase";
    const path = [`wallets/${id}/policy-key`, `wallets/${id}/keys/0H`, `wallets/${id}/signatures/utxo_external/0`];
    const bodies = [{ passphrase: wrong }, { passphrase: wrong, format: "extended" }, {
      passphrase: wrong,
      metadata: { "0": { string: "x" } },
    }];
    const guess = (edge: Arbor, which: number) => call(`${edge.wallets}/${path[which]}`, "POST", {}, bodies[which]);
    const refused = { status: 403, code: "wrong_encryption_passphrase", retryAfter: undefined };
    expect(await guess(first, 0)).toEqual(refused);
    expect(await guess(second, 1)).toEqual(refused);
    expect(await guess(first, 2)).toEqual(refused);
    const change = { old_passphrase: wrong, new_passphrase: "The Next Passphrase" };
    expect(await call(`${second.wallets}/wallets/${id}/passphrase`, "PUT", {}, change)).toEqual(refused);
    const counted = async () => {
      const [row] = await store.sql<{ wrong: number }[]>`
        select wrong from vault_adoption join vault_key using (attempt) where wallet = ${id}`;
      return row!.wrong;
    };
    expect(await counted()).toBe(4);
    // the next wait is longer than this test takes
    await store.sql`update vault_key set wrong = 20`;
    expect(await guess(second, 0)).toEqual(refused);
    const right = { passphrase: PASSPHRASE };
    for (const edge of [first, second]) {
      const closed = await call(`${edge.wallets}/wallets/${id}/policy-key`, "POST", {}, right);
      expect(closed).toMatchObject({ status: 429, code: "too_many_wrong_passphrases" });
      expect(Number(closed.retryAfter)).toBeGreaterThan(600);
      expect(Number(closed.retryAfter)).toBeLessThanOrEqual(900);
    }
    await store.sql`update vault_key set closed_until = now()`;
    expect((await call(`${second.wallets}/wallets/${id}/policy-key`, "POST", {}, right)).status).toBe(202);
    expect(await counted()).toBe(0);
  });
});
