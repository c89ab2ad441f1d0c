/** The frozen external interfaces of a running service, independent of names in the code. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { isObject, type Json, toJson } from "#src/base/json.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { exposition } from "../../support/runtime/prometheusText.ts";
import { expectFrozen, expectFrozenJson, expectFrozenLines } from "../../support/base/frozenFiles.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { type Proxy, startProxy } from "../../support/infra/tcpProxy.ts";
import { signerEnv } from "../../support/service/signerClient.ts";
import { schemaText } from "../../support/infra/schemaText.ts";
import { http } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

const WORKER = "the-worker";
let infra: Infra;
let proxy: Proxy;
let arbor: Arbor;
/** The messages that each connection sent to the NATS server. */
const sent = new Map<number, string>();

beforeAll(async () => {
  infra = await sharedInfra();
  const { hostname, port } = new URL(infra.natsUrl.replace(/^\w+:/, "http:"));
  proxy = await startProxy({
    host: hostname,
    port: Number(port || 4222),
    onSent: (connection, text) => sent.set(connection, (sent.get(connection) ?? "") + text),
  });
  const natsUrl = `nats://127.0.0.1:${proxy.port}`;
  arbor = await Arbor.start({
    infra: { ...infra, natsUrl },
    env: { ...signerEnv("one"), ARBOR_WORKER: WORKER, ARBOR_BUILDERS: "1" },
  });
});
afterAll(async () => {
  await arbor?.end();
  await proxy?.cut();
  await infra?.stop();
});

/** A JSON document of the service, without its version and without the ports of this run. */
async function documentOf(url: string): Promise<Json> {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  const document = JSON.parse((await answer.text()).replace(/(127\.0\.0\.1|localhost):\d{4,5}/g, "$1:<port>"));
  delete document.info.version;
  return document;
}

it.each(["tokens", "wallets", "operator", "devnet"] as const)("the OpenAPI document of %s", async (service) => {
  await expectFrozenJson(`documents/${service}.json`, await documentOf(`${arbor[service]}/openapi.json`));
});

it("the OpenAPI document of a signing service, without what the token service has in the same form", async () => {
  const [signer, tokens] = [
    await documentOf(`${arbor.signer}/openapi.json`),
    await documentOf(`${arbor.tokens}/openapi.json`),
  ];
  await expectFrozenJson("documents/signer.json", withoutCommon(signer, tokens, 3));
});

/** An object without the members that another one has with equal values, down to some depth. */
function withoutCommon(own: Json, other: Json | undefined, depth: number): Json {
  if (depth === 0 || !isObject(own) || !isObject(other)) return own;
  const members = Object.entries(own).filter(([name, value]) => toJson(value) !== toJson(other[name] ?? null));
  return Object.fromEntries(members.map(([name, value]) => [name, withoutCommon(value, other[name], depth - 1)]));
}

it("the AsyncAPI document", async () => {
  await expectFrozenJson("documents/asyncapi.json", await documentOf(`${arbor.operator}/asyncapi.json`));
});

it("the schema of the database", async () => {
  const store = openStore(infra.databaseUrl, { max: 1 });
  try {
    await expectFrozen("schema.txt", await schemaText(store.sql));
  } finally {
    await store.close();
  }
});

it("the metrics", async () => {
  const families = exposition(await (await fetch(`${arbor.operator}/metrics`)).text());
  const source = [...families].map(([name, { type }]) => `${name} ${type}`);
  expect(source.length).toBeGreaterThan(30);
  await expectFrozenLines("metrics.txt", source);
});

it("the NATS subjects", async () => {
  const created = await http(arbor.wallets, "POST", "/wallets", {
    name: "A wallet",
    mnemonic_sentence: newMnemonic(15),
    passphrase: "Secure Passphrase",
  });
  expect(created.status).toBe(201);
  const subjects = () =>
    [...sent.values()].flatMap((text) =>
      [...text.matchAll(/^(?:SUB|PUB|HPUB) (\S+) /gm)].map(([, subject]) =>
        subject!.replace(WORKER, "<worker>").replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "<process>")
          // which leases are taken by now depends on timing
          .replace(/^(arbor\.alive\.lease)\..+$/, "$1.<lease>")
          // within one process most replies do not use the server
          .replace(/^_INBOX\..*$/, "_INBOX.<inbox>")
          .replace(/^(arbor\.(?:event|content))\.[^.>]+\.[^.]+\.[^.]+$/, "$1.<kind>.<id>.<transition>")
      )
    );
  for (const part of ["event", "content"]) {
    const subject = `arbor.${part}.<kind>.<id>.<transition>`;
    await until(`${part} is published`, async () => subjects().includes(subject));
  }
  await expectFrozenLines("subjects.txt", subjects());
});
