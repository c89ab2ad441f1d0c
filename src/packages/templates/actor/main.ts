/** Starts the actors with HTTP and the operator pages. Data are in DATABASE_URL, or in the folder .arbor-runtime. */
import process from "node:process";
import { startRuntime } from "@arbor-cardano/runtime";
import { seat } from "./seat.ts";

const { DATABASE_URL, PORT = "7070", OPERATOR_PORT = "7071" } = process.env;

const runtime = await startRuntime({
  databaseUrl: DATABASE_URL,
  actors: [seat],
  http: { port: Number(PORT) },
  operators: { port: Number(OPERATOR_PORT) },
});
console.log(`seats at ${runtime.urls.http}/seat, operators at ${runtime.urls.operators}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void runtime.stop());
