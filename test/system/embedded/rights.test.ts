/** Rights on the embedded endpoint and on a nats-server with the shipped configuration: one suite for both. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { hash } from "@node-rs/bcrypt";
import { silentLog } from "#src/base/log.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { temporaryFiles } from "../../support/certificates.ts";
import { testRights } from "../../support/nats_rights.ts";
import { hasNatsServer, startNatsServer } from "../../support/natsServer.ts";

const TOKEN = "a-token-of-the-test";
const READER = { user: "reader", pass: "reader-password" };
const SHOP = { user: "shop", pass: "shop-password" };
const SHOP_RIGHTS = {
  subscribe: { allow: ["shop.>", "open.*"], deny: ["shop.secret.>"] },
  publish: { allow: ["shop.*.order"], deny: ["shop.x.order"] },
};

testRights("the embedded endpoint", false, async () => {
  const users = JSON.stringify([
    {
      user: READER.user,
      password: await hash(READER.pass, 4),
      subscribe: { allow: ["arbor.event.>", "arbor.content.>", "_INBOX_reader.>"] },
    },
    { user: SHOP.user, token: `sha256:${createHash("sha256").update(SHOP.pass).digest("hex")}`, ...SHOP_RIGHTS },
  ]);
  const files = await temporaryFiles({ users });
  const endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog, users: files.users });
  return {
    port: endpoint.port,
    service: { auth_token: TOKEN },
    reader: READER,
    // this user has a token
    shop: { auth_token: SHOP.pass },
    stop: async () => {
      await endpoint.stop();
      await files.remove();
    },
  };
});

const CONFIGURATION = fileURLToPath(new URL("../../../src/app/nats-server.conf", import.meta.url));

testRights("a nats-server with the shipped configuration", !hasNatsServer(), async () => {
  const shipped = await readFile(CONFIGURATION, "utf8");
  // one more user than is shipped, with what the example does not have
  const more = `{ user: ${SHOP.user}, password: "${await hash(SHOP.pass, 4)}", permissions: ${
    JSON.stringify(SHOP_RIGHTS)
  } }`;
  const configuration = shipped.replace("users = [", `users = [\n${more}`);
  const files = await temporaryFiles({ configuration: "" });
  await writeFile(files.configuration, configuration);
  const passwords = { SERVICE_PASSWORD: TOKEN, READER_PASSWORD: READER.pass };
  const server = await startNatsServer(true, ["-c", files.configuration], passwords);
  return {
    port: Number(new URL(server.url).port),
    service: { user: "arbor", pass: TOKEN },
    reader: READER,
    shop: SHOP,
    stop: async () => {
      await server.stop();
      await files.remove();
    },
  };
});
