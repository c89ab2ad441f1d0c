/**
 * Workflows of DBOS behind Node's own HTTP server: a counter with one step, a workflow of durable steps, and an alarm that
 * sleeps. Says when it is ready on a line of its own; a line of input asks how many alarms rang.
 */
import { createServer } from "node:http";
import process from "node:process";
import { createInterface } from "node:readline";
import { DBOS } from "@dbos-inc/dbos-sdk";
import pg from "pg";

const url = process.env.PEER_DATABASE_URL;
const pool = new pg.Pool({ connectionString: url, max: 20 });
await pool.query("create table if not exists peer_counter (id text primary key, count bigint not null)");

const add = DBOS.registerWorkflow(
  async (id, amount) =>
    await DBOS.runStep(async () => {
      const { rows } = await pool.query({
        name: "add",
        text: `insert into peer_counter as c (id, count) values ($1, $2)
          on conflict (id) do update set count = c.count + excluded.count returning count`,
        values: [id, amount],
      });
      return { count: Number(rows[0].count) };
    }, { name: "add" }),
  { name: "add" },
);

const run = DBOS.registerWorkflow(async (steps) => {
  const values = [];
  for (let step = 0; step < steps; step++) {
    values.push(await DBOS.runStep(() => Promise.resolve(step), { name: `step ${step}` }));
  }
  return { values };
}, { name: "run" });

const fired = { count: 0, last: 0 };
const ring = DBOS.registerWorkflow(async (at) => {
  await DBOS.sleep(Math.max(0, at - Date.now()));
  fired.count++;
  fired.last = Date.now();
}, { name: "ring" });

const calls = {
  counter: (id, { amount }) => add(id, amount),
  workflow: (_, { steps }) => run(steps),
  alarm: async (_, { at }) => void await DBOS.startWorkflow(ring)(at),
};

DBOS.setConfig({ name: "peer", systemDatabaseUrl: url, systemDatabasePoolSize: 20, logLevel: "error" });
await DBOS.launch();

const server = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => text += chunk);
  request.on("end", () => {
    const [, call, id] = request.url.split("/");
    calls[call](id, JSON.parse(text)).then(
      (answer = null) => {
        const body = JSON.stringify(answer);
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
        response.end(body);
      },
      (error) => {
        response.writeHead(500);
        response.end(String(error));
      },
    );
  });
});
server.keepAliveTimeout = 600_000;
const say = (value) => console.log(`@bench ${JSON.stringify(value)}`);
server.listen(Number(process.env.PEER_PORT), "127.0.0.1", () => say(null));
createInterface({ input: process.stdin }).on("line", () => say(fired));
