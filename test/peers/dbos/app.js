/** A counter as a workflow of DBOS with one step, behind Node's own HTTP server. Says its port on a line of its own. */
import { createServer } from "node:http";
import process from "node:process";
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

DBOS.setConfig({ name: "peer", systemDatabaseUrl: url, systemDatabasePoolSize: 20, logLevel: "error" });
await DBOS.launch();

const server = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => text += chunk);
  request.on("end", () => {
    const id = request.url.split("/")[2];
    add(id, JSON.parse(text).amount).then(
      (answer) => {
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
server.listen(0, "127.0.0.1", () => console.log(`@bench ${JSON.stringify({ port: server.address().port })}`));
