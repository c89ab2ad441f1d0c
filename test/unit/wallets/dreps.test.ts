/** Metadata of representatives and its cache. */
import { afterEach, expect, test } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { ok } from "#src/base/result.ts";
import { hash256, initHash } from "#src/cardano/hash.ts";
import { DrepBook } from "#src/wallets/dreps/book.ts";
import { readDrepMetadata } from "#src/wallets/dreps/metadata.ts";
import { until } from "../../support/base/until.ts";
import { type OutsideServer, outsideServer } from "../../support/infra/externalServers.ts";

await initHash();
const servers: OutsideServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

test("only a name is required; every other member may be missing or of another form", () => {
  expect(readDrepMetadata({ body: { givenName: "Ada" } })).toEqual({ name: "Ada", doNotList: false, references: [] });
  const whole = {
    body: {
      givenName: { "@value": "Ada" },
      objectives: { "@value": "Bridges" },
      motivations: 7,
      paymentAddress: "addr1",
      doNotList: "true",
      references: [{ label: { "@value": "Home" }, uri: "https://example.org" }, { label: "no place" }, null],
    },
  };
  expect(readDrepMetadata(whole)).toEqual({
    name: "Ada",
    objectives: "Bridges",
    paymentAddress: "addr1",
    doNotList: true,
    references: [{ label: "Home", uri: "https://example.org" }],
  });
  for (const body of [undefined, {}, { givenName: "" }, { givenName: "x".repeat(81) }, { givenName: ["Ada"] }]) {
    expect(readDrepMetadata(body === undefined ? [] : { body })).toBeUndefined();
  }
});

test("a text with the registered hash is cached, and fetched once", async () => {
  const said = JSON.stringify({ body: { givenName: "Ada" } });
  let isSilent = true;
  const server = await outsideServer(({ path }) => path === "/late" && isSilent ? undefined : { body: said });
  servers.push(server);
  let requests = 0;
  const port = {
    dreps: () => {
      requests++;
      return Promise.resolve(ok({ value: { epoch: 3, all: [] } }));
    },
    drepStatus: () => Promise.resolve(ok({ value: [] })),
  };
  const book = new DrepBook({ port, fetch: { allowPrivate: true } });
  const [right, wrong] = [hash256(utf8(said)), "00".repeat(32)].map((hash) => ({ url: `${server.url}/ada`, hash }));
  const late = { url: `${server.url}/late`, hash: right!.hash };
  for (let i = 0; i < 3; i++) await book.fetchMissing([right, wrong, undefined], 60_000);
  expect(book.cached(right)).toMatchObject({ name: "Ada" });
  expect([book.cached(wrong), book.cached(undefined)]).toEqual([undefined, undefined]);
  expect(server.requests).toHaveLength(2);
  // a server that is too slow delays no request, and is queried again
  const patient = new DrepBook({ port, fetch: { allowPrivate: true, timeoutMs: 100 }, retryMs: 0 });
  await patient.fetchMissing([late], 50);
  expect(patient.cached(late)).toBeUndefined();
  isSilent = false;
  await until("it responds", async () => {
    await patient.fetchMissing([late], 60_000);
    return patient.cached(late);
  });
  expect(patient.cached(late)).toMatchObject({ name: "Ada" });
  await Promise.all([book.all(), book.all()]);
  expect(await book.all()).toEqual(ok({ epoch: 3, all: [] }));
  expect(requests).toBe(1);
});
