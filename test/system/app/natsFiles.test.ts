/** The service with users and TLS of its NATS endpoint: all processes work, and a user reads what its entry allows. */
import { hash } from "@node-rs/bcrypt";
import { connect } from "nats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Arbor } from "../../support/service/arbor.ts";
import { CA, CLIENT, CLIENT_KEY, SERVER, SERVER_KEY, temporaryFiles } from "../../support/infra/tlsCertificates.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

const TOKEN = "a-token-of-the-test";
const PASSWORD = "a-password-of-the-test";

let infra: Infra;
let files: Awaited<ReturnType<typeof temporaryFiles<"users" | "ca" | "cert" | "key" | "clientCert" | "clientKey">>>;
const processes: Arbor[] = [];

beforeAll(async () => {
  const users = [{ user: "reader", password: await hash(PASSWORD, 4), subscribe: { allow: ["arbor.event.token.>"] } }];
  files = await temporaryFiles({
    users: JSON.stringify(users),
    ...{ ca: CA, cert: SERVER, key: SERVER_KEY, clientCert: CLIENT, clientKey: CLIENT_KEY },
  });
  infra = await sharedInfra();
});
afterAll(async () => {
  await Promise.all(processes.map((one) => one.end()));
  await files?.remove();
  await infra?.stop();
});

test("another process connects with TLS and a certificate, actors work, and a user reads their events", async () => {
  const first = await Arbor.start({
    infra: { ...infra, natsUrl: "", natsToken: TOKEN },
    roles: "worker,follower,devnet",
    env: {
      ARBOR_NATS_PORT: "0",
      ARBOR_NATS_USERS: files.users,
      ARBOR_NATS_TLS_CERT: files.cert,
      ARBOR_NATS_TLS_KEY: files.key,
      ARBOR_NATS_TLS_CA: files.ca,
    },
  });
  processes.push(first);
  const url = first.places.get("NATS endpoint")!;
  expect(url).toMatch(/^tls:\/\/127\.0\.0\.1:\d+$/);
  const edge = await Arbor.start({
    infra: { ...infra, natsUrl: url, natsToken: TOKEN },
    roles: "edge",
    env: {
      ARBOR_NATS_CA: files.ca,
      ARBOR_NATS_TLS_CERT: files.clientCert,
      ARBOR_NATS_TLS_KEY: files.clientKey,
    },
  });
  processes.push(edge);
  const tls = { ca: CA, cert: CLIENT, key: CLIENT_KEY };
  const reader = await connect({ servers: url, tls, user: "reader", pass: PASSWORD, reconnect: false });
  const events: string[] = [];
  reader.subscribe("arbor.event.token.>", { callback: (_, { subject }) => void events.push(subject) });
  const refused = new Promise((resolve) =>
    reader.subscribe("arbor.content.>", { callback: (error) => resolve(error?.code) })
  );
  await reader.flush();
  expect(await refused).toBe("PERMISSIONS_VIOLATION");
  const user = new User();
  await fund(first.devnet, edge.tokens, user);
  const built = await http(edge.tokens, "GET", `/transaction/${user.address}/boot-token`);
  await land(edge.tokens, user.sign(built.body.unsignedTransaction));
  await until("the token's event", async () => events.find((subject) => subject.endsWith(".booted")));
  await reader.close();
  for (const one of processes) expect(one.printed).not.toMatch(/a-(?:token|password)-of-the-test|PRIVATE/);
});
