/** The program of an image's health check, on the endpoint that it reads. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { OpenAPIHono } from "@hono/zod-openapi";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Check, healthRoutes } from "#src/http/health.ts";
import { type Listener, serve } from "#src/http/serve.ts";

let check: Check = { ready: true };
let listener: Listener;

beforeAll(async () => {
  const app = new OpenAPIHono();
  const health = { name: "one", roles: ["worker"], since: 0, checks: new Map([["database", async () => check]]) };
  healthRoutes({ health })(app);
  listener = await serve(app, { host: "0.0.0.0", port: 0 });
});
afterAll(() => listener.stop());

async function run(env: Readonly<Record<string, string>>): Promise<void> {
  // what an image's check may do: no more than this
  const args = ["run", "--cached-only", "--allow-net", "--allow-env", "src/app/healthcheck.ts"];
  await promisify(execFile)("deno", args, { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } });
}

it("passes while the process is ready, and says why it is not", async () => {
  const env = { ARBOR_HOST: "0.0.0.0", ARBOR_HEALTH_PORT: String(listener.port) };
  await run(env);
  check = { ready: false, why: "the database is away" };
  await new Promise((resolve) => setTimeout(resolve, 250));
  await expect(run(env)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("the database is away") });
});

it("fails without a process and without a port", async () => {
  const free = await serve(new OpenAPIHono(), { host: "127.0.0.1", port: 0 });
  await free.stop();
  await expect(run({ ARBOR_HEALTH_PORT: String(free.port) })).rejects.toMatchObject({ code: 1 });
  await expect(run({})).rejects.toMatchObject({ code: 1, stderr: "ARBOR_HEALTH_PORT is not set\n" });
});
