/** What a transaction does, over HTTP: any transaction, also one that was not built here; what is not known of it is said. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { explainBody, summary } from "#src/api/summary.ts";
import { fromHex } from "#src/base/bytes.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { readCaged } from "#src/cage/index/outputs.ts";
import { readable, refsOf } from "#src/cage/summary/explain.ts";
import { askOutputs, readOutputs } from "#src/chain/outputs.ts";
import { endpoint } from "#src/edge/route.ts";
import { type Desk, timeHeader as headers, timeOf } from "#src/edge/tokens/desk.ts";
import { refusal } from "#src/edge/tokens/status.ts";

/** How long the network may take to say what it knows of outputs, in milliseconds. */
const ASK_MS = 5_000;

/** Adds `/transaction/explain`. */
export function explainRoutes(app: OpenAPIHono, desk: Desk): void {
  endpoint(app, {
    method: "post",
    path: "/transaction/explain",
    summary: "What a transaction does, signed or not",
    body: explainBody,
    headers,
    answer: summary,
    refusals: {
      400: "`bad_request`, `malformed_json`, `bad_address`, `undecodable`",
      503: "`overloaded`, `deadline`, `crashed`",
    },
  }, async ({ body, context }) => {
    const deadline = Date.now() + timeOf(context);
    const viewer = body.address === undefined ? undefined : parseAddress(body.address, desk.networkId);
    if (viewer?.ok === false) throw refusal(viewer.error);
    const transaction = fromHex(body.transaction);
    const read = readable(transaction);
    if (!read.ok) throw refusal(read.error);
    const [known, { slots }] = await Promise.all([found(desk, refsOf(read.value), deadline), desk.port.network()]);
    const outputs = [...known].map(([ref, { raw }]) => [ref, raw] as const);
    const input = { transaction, outputs, address: viewer?.value.hex, slots };
    const told = await desk.builders.run("explain", input, { deadline });
    if (!told.ok) throw refusal(told.error);
    return told.value;
  });
}

async function found(
  { store, port }: Desk,
  refs: readonly OutRef[],
  deadline: number,
): Promise<ReadonlyMap<string, Output>> {
  const [rows, caged] = await Promise.all([readOutputs(store.sql, refs), readCaged(store.sql, refs)]);
  const known = new Map([...rows, ...caged]);
  const missing = refs.filter((ref) => !known.has(refKey(ref)));
  const asked = await askOutputs(port, missing, Math.max(0, Math.min(ASK_MS, deadline - Date.now())));
  return new Map([...known, ...asked]);
}
