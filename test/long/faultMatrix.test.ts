/** Faults under load on the product's embedded infrastructure: each part is killed in turn. */
import { type PostgresServer, startEmbeddedServer } from "../support/infra/postgresServer.ts";
import { faultMatrix } from "../support/runtime/faultMatrix.ts";
import { type NatsServer, startEndpointProcess } from "../support/infra/natsServer.ts";

let nats: NatsServer;
let postgres: PostgresServer;

faultMatrix({
  pauseMs: 50,
  aroundMs: 800,
  infrastructure: async () => {
    [nats, postgres] = await Promise.all([startEndpointProcess(), startEmbeddedServer()]);
    return {
      name: "embedded parts",
      databaseUrl: postgres.url,
      natsUrl: nats.url,
      natsToken: nats.token!,
      jetstream: false,
      stop: async () => {
        await nats.stop();
        await postgres.stop();
      },
    };
  },
  faults: [
    {
      name: "the NATS endpoint is killed and comes back",
      deafens: true,
      strike: async () => {
        await nats.kill();
        await nats.start();
      },
    },
    {
      name: "PostgreSQL is ended at once and comes back",
      deafens: false,
      strike: () => postgres.restart("SIGQUIT"),
    },
  ],
});
