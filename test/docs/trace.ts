/**
 * Makes docs/images/trace.svg: the spans of one payment on processes of four roles, and the trace of the block that has it,
 * as a collector received them.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { call } from "#src/client/http.ts";
import { root } from "../support/docs/pages.ts";
import { until } from "../support/base/until.ts";
import { type ReceivedSpan, receiveTraces } from "../support/runtime/otlpReceiver.ts";
import { Arbor } from "../support/service/arbor.ts";
import { withServers } from "./service.ts";

/** Example mnemonic. Never use it with real funds. */
const MNEMONIC = "tank still night soap affair climb now song magic soldier dynamic dragon fiction actual female".split(
  " ",
);
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const COLOURS: Readonly<Record<string, string>> = {
  edge: "#15633c",
  worker: "#2b5c8a",
  devnet: "#8a5a1f",
  follower: "#6d4a86",
};

/** Of the picture: where bars begin, their width, the height of a row. */
const [LEFT, WIDTH, ROW] = [260, 540, 21];

await withServers(async (infra) => {
  const receiver = await receiveTraces();
  const arbors: Arbor[] = [];
  try {
    for (const role of ["devnet", "follower", "worker", "edge"]) {
      arbors.push(
        await Arbor.start({ infra, ownProcess: true, roles: role, blockMs: 1_000, env: receiver.env(role) }),
      );
    }
    const [devnet, , , edge] = arbors as [Arbor, Arbor, Arbor, Arbor];
    await pay(edge.wallets, devnet.devnet);
    const payment = () => receiver.spans.filter(({ traceId }) => traceId === TRACE);
    await until("the trace", async () => payment().some(({ name }) => name === "devnet submit"));
    const submitted = payment().find(({ name }) => name === "devnet submit")!;
    const block = await until(
      "the block",
      async () => receiver.spans.find(({ name, start }) => name === "index blocks" && start > submitted.end),
    );
    // spans are sent in batches
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const later = receiver.spans.filter(({ traceId }) => traceId === block.traceId);
    writeFileSync(
      path.join(root, "docs/images/trace.svg"),
      picture([["One payment", payment()], ["The next block", later]]),
    );
  } finally {
    for (const arbor of arbors.reverse()) await arbor.end();
    await receiver.stop();
  }
});
process.exit(0);

/** Pays from a new wallet, in a trace that the client names; a first payment has loaded the code before. */
async function pay(wallets: string, devnet: string): Promise<void> {
  const passphrase = "correct horse";
  const wallet = { name: "Savings", passphrase, mnemonic_sentence: MNEMONIC };
  const { id } = await call<{ id: string }>(wallets, "POST", "/wallets", wallet);
  const [first] = await call<{ id: string }[]>(wallets, "GET", `/wallets/${id}/addresses`);
  const address = first!.id;
  await call(devnet, "POST", "/faucet", { address, lovelace: 100_000_000 });
  const available = async () =>
    (await call<{ balance: { available: { quantity: number } } }>(wallets, "GET", `/wallets/${id}`)).balance.available
      .quantity > 50_000_000;
  const payments = [{ address, amount: { quantity: 5_000_000, unit: "lovelace" } }];
  for (const headers of [{}, { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }]) {
    await until("the coins", available);
    const key = { "idempotency-key": crypto.randomUUID() };
    const path = `/wallets/${id}/transactions`;
    await call(wallets, "POST", path, { passphrase, payments }, undefined, { ...key, ...headers });
  }
}

/** A span with those below it, by their start. */
interface Node {
  readonly span: ReceivedSpan;
  readonly depth: number;
}

/** The spans of a trace from the root down, without statements and the runtime's own. */
function rowsOf(spans: readonly ReceivedSpan[]): Node[] {
  const own = spans.filter(({ scope, name }) => scope === "arbor" && !name.startsWith("sql "));
  const ids = new Set(own.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, depth: number): Node[] =>
    own.filter(({ parentSpanId }) => parent === undefined ? !ids.has(parentSpanId) : parentSpanId === parent)
      .sort((a, b) => a.start - b.start)
      .flatMap((span) => [{ span, depth }, ...below(span.spanId, depth + 1)]);
  return below(undefined, 0);
}

function picture(traces: readonly (readonly [string, readonly ReceivedSpan[]])[]): string {
  const lines: string[] = [];
  let y = 14;
  for (const [title, spans] of traces) {
    const rows = rowsOf(spans);
    const begin = Math.min(...rows.map(({ span }) => span.start));
    const length = Math.max(...rows.map(({ span }) => span.end)) - begin;
    const x = (at: number) => Math.round((LEFT + WIDTH * (at - begin) / length) * 10) / 10;
    lines.push(`<text x="12" y="${y + 8}" class="h">${title}, ${length.toFixed(0)} ms</text>`);
    y += 20;
    for (const { span, depth } of rows) {
      const colour = COLOURS[span.service] ?? "#555";
      const width = Math.max(1.5, x(span.end) - x(span.start));
      lines.push(
        `<text x="${12 + depth * 14}" y="${y + 13}" class="n">${escaped(span.name)}</text>`,
        `<rect x="${x(span.start)}" y="${y + 3}" width="${width.toFixed(1)}" height="12" rx="2" fill="${colour}"/>`,
      );
      // statements of the span, within its bar
      for (const { start, end, name, parentSpanId } of spans) {
        if (!name.startsWith("sql ") || parentSpanId !== span.spanId) continue;
        const wide = Math.max(1, x(end) - x(start)).toFixed(1);
        lines.push(`<rect x="${x(start)}" y="${y + 8}" width="${wide}" height="4" fill="#fff" fill-opacity=".65"/>`);
      }
      const time = `${span.service} ${(span.end - span.start).toFixed(1)} ms`;
      lines.push(`<text x="${LEFT + WIDTH + 130}" y="${y + 13}" class="m">${time}</text>`);
      y += ROW;
    }
    y += 18;
  }
  const legend = Object.entries(COLOURS).map(([role, colour], i) =>
    `<rect x="${LEFT + i * 90}" y="${y - 6}" width="12" height="12" rx="2" fill="${colour}"/>` +
    `<text x="${LEFT + 17 + i * 90}" y="${y + 4}" class="n">${role}</text>`
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 142} ${
      y + 20
    }" role="img" aria-labelledby="title">`,
    `<title id="title">Spans of one payment: HTTP and questions in an edge, build, turns and effects in a worker, the submission in the devnet; then the block in the follower</title>`,
    `<style>text { font-family: system-ui, sans-serif; font-size: 12px; fill: #7a7a7a } .h { font-weight: 600; font-size: 13px } .m { text-anchor: end; font-size: 11px }</style>`,
    ...lines,
    ...legend,
    `<text x="${LEFT + 4 * 90}" y="${y + 4}" class="n">light: statements</text>`,
    "</svg>\n",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
