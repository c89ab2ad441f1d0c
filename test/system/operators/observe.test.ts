/** One request as seen by an operator: its trace through two processes down to SQL, its log lines, and the metrics. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Arbor } from "../../support/service/arbor.ts";
import { exposition } from "../../support/runtime/prometheusText.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { type ReceivedSpan, type Receiver, receiveTraces } from "../../support/runtime/otlpReceiver.ts";
import { fund, http, User } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

const EDGE = "edge";
const WORKER = "worker";
const CHAIN = "chain";
const REQUEST = "a-request-of-the-test";

describe("a request", () => {
  let infra: Infra;
  let receiver: Receiver;
  let edge: Arbor;
  let rest: Arbor;
  let chain: Arbor;
  const owner = new User();
  let signed: string;
  let hash: string;

  const spans = (name: string, traceId?: string) =>
    receiver.spans.filter((span) => span.name === name && (traceId === undefined || span.traceId === traceId));
  const parentOf = (span: ReceivedSpan) => receiver.spans.find(({ spanId }) => spanId === span.parentSpanId);
  const lines = (arbor: Arbor) =>
    arbor.printed.split("\n").filter((line) => line.startsWith("{")).map((line) =>
      JSON.parse(line) as Record<string, unknown>
    );

  beforeAll(async () => {
    [infra, receiver] = await Promise.all([sharedInfra(), receiveTraces()]);
    const env = { ARBOR_LOG_LEVEL: "debug" };
    chain = await Arbor.start({
      ownProcess: true,
      infra,
      roles: "devnet,follower",
      env: { ...env, ...receiver.env(CHAIN) },
    });
    rest = await Arbor.start({
      ownProcess: true,
      infra,
      roles: "worker",
      env: { ...env, ...receiver.env(WORKER) },
    });
    edge = await Arbor.start({ infra, ownProcess: true, roles: "edge", env: { ...env, ...receiver.env(EDGE) } });
    await fund(chain.devnet, edge.tokens, owner);
    const built = await http(edge.tokens, "GET", `/transaction/${owner.address}/boot-token`);
    signed = owner.sign(built.body.unsignedTransaction);
    const answer = await fetch(edge.tokens + "/transaction", {
      method: "POST",
      body: JSON.stringify({ signedTransaction: signed }),
      headers: { "content-type": "application/json", "X-Request-Id": REQUEST },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-request-id")).toBe(REQUEST);
    hash = (await answer.json()).txHash;
    await until(
      "the transaction",
      async () => (await http(edge.tokens, "GET", `/transaction?txHash=${hash}`)).status === 200,
    );
  });
  afterAll(async () => {
    await edge?.end();
    await rest?.end();
    await chain?.end();
    await receiver?.stop();
    await infra?.stop();
  });

  it("is one trace from HTTP over the bus through turns and effects to SQL", async () => {
    const whole = () => {
      const served = spans("POST /transaction").find(({ attributes }) => attributes["arbor.request"] === REQUEST);
      if (served === undefined) return undefined;
      const of = (name: string) => spans(name, served.traceId);
      const turns = of("turn transaction");
      return of("publish").length > 0 && turns.length > 1 && of("write turns").length > 1
        ? { served, turns, of }
        : undefined;
    };
    const { served, turns, of } = await until("the spans", async () => whole());
    // OpenTelemetry's conventions omit the attribute if a request has no query.
    expect(served.attributes["url.query"]).toBeUndefined();
    expect(served).toMatchObject({
      service: EDGE,
      attributes: { "http.route": "/transaction", "http.request.method": "POST", "arbor.service": "tokens" },
    });
    const [ask] = of("ask transaction");
    expect(ask).toMatchObject({
      service: EDGE,
      parentSpanId: served.spanId,
      attributes: { "arbor.entity": hash, "arbor.what": "SUBMIT", "arbor.request": REQUEST },
    });
    // The turn of the command, the effect that it requested, and the turn of the outcome.
    const first = turns.find(({ parentSpanId }) => parentSpanId === ask!.spanId)!;
    expect(first).toMatchObject({ service: WORKER, attributes: { "arbor.kind": "transaction", "arbor.entity": hash } });
    const [effect] = of("effect submit");
    expect(effect).toMatchObject({
      service: WORKER,
      parentSpanId: first.spanId,
      attributes: { "arbor.effect.attempt": 1 },
    });
    // The submission, and its reception in the process of the devnet.
    const [submitted] = of("chain submit");
    expect(submitted).toMatchObject({
      service: WORKER,
      parentSpanId: effect!.spanId,
      attributes: { "arbor.provider": "devnet", "arbor.outcome": "accepted" },
    });
    const [received] = of("devnet submit");
    expect(received).toMatchObject({ service: CHAIN, parentSpanId: submitted!.spanId, failed: false });
    const second = turns.find(({ parentSpanId }) => parentSpanId === effect!.spanId)!;
    expect(second).toMatchObject({ service: WORKER });
    for (const statement of of("write turns")) {
      expect(statement).toMatchObject({
        service: WORKER,
        attributes: { "db.system.name": "postgresql" },
        failed: false,
      });
      expect(parentOf(statement)?.name).toBe("turn transaction");
    }
    expect(of("write turns").map(({ parentSpanId }) => parentSpanId)).toEqual(
      expect.arrayContaining([first.spanId, second.spanId]),
    );
    for (const published of of("publish")) expect(parentOf(published)?.name).toBe("turn transaction");
  });

  it("is followed by traces of the follower, one for each write of blocks", async () => {
    const span = await until("the span", async () => spans("index blocks")[0]);
    expect(span).toMatchObject({ service: CHAIN, parentSpanId: "", attributes: { "arbor.cursor": "main" } });
    expect(receiver.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId).map(({ name }) => name)).toContain(
      "sql transaction",
    );
  });

  it("for a build is traced into the builders' threads", async () => {
    const token = await until(
      "the token",
      async () => (await http(edge.tokens, "GET", "/tokens")).body.tokens[0]?.tokenId,
    );
    const body = { key: "k", newValue: "v" };
    const request = await http(edge.tokens, "POST", `/transaction/${owner.address}/request-insert/${token}`, body);
    expect(request.status).toBe(200);
    const chain = (span: ReceivedSpan | undefined): ReceivedSpan[] => span ? [span, ...chain(parentOf(span))] : [];
    const [job, build, ask, served] = await until("the spans", async () => {
      const found = chain(spans("builder request")[0]);
      return found.length >= 4 && found as [ReceivedSpan, ReceivedSpan, ReceivedSpan, ReceivedSpan];
    });
    expect([job.service, build.service, ask.service]).toEqual([WORKER, WORKER, EDGE]);
    expect([build.name, ask.name, served.attributes["http.route"]]).toEqual([
      "build token",
      "ask token",
      "/transaction/:address/request-insert/:tokenId",
    ]);
  });

  it("leaves lines with its id in both processes", () => {
    expect(lines(edge)).toContainEqual(expect.objectContaining({
      message: "request completed",
      service: "tokens",
      request: REQUEST,
      route: "/transaction",
      status: 200,
    }));
    const [line] = lines(rest).filter(({ message, request }) => message === "command completed" && request === REQUEST);
    expect(line).toMatchObject({ entity: `transaction/${hash}`, event: "SUBMIT", outcome: "ok" });
    expect(line!.command).toEqual(expect.any(String));
  });

  it("leaves nothing of its body or its query in lines and spans", async () => {
    await http(edge.tokens, "GET", "/tokens?passphrase=something-secret");
    await until("its span", async () => spans("GET /tokens").length > 0);
    for (const text of [edge.printed, rest.printed, receiver.raw]) {
      expect(text.length).toBeGreaterThan(100);
      expect(text).not.toContain(signed.slice(200, 300));
      expect(text).not.toContain("something-secret");
    }
  });

  it("is counted, and so are waiting rows", async () => {
    const response = await fetch(edge.places.get("operator service")! + "/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const read = exposition(await response.text());
    const value = (name: string, labels: Record<string, string> = {}) =>
      read.get(name.replace(/_(count|sum|bucket)$/, ""))?.samples.find((sample) =>
        sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text)
      )?.value;
    const submitted = { service: "tokens", method: "POST", route: "/transaction", status: "200" };
    expect(value("arbor_http_requests_total", submitted)).toBe(1);
    expect(value("arbor_http_request_seconds_count", { route: "/transaction", method: "POST" })).toBe(1);
    expect(value("arbor_ask_seconds_count", { kind: "transaction", ask: "command" })).toBe(1);
    expect(value("arbor_database_reachable")).toBe(1);
    expect(value("arbor_follower_slot")).toBeGreaterThan(0);
    expect(value("arbor_partitions_unserved")).toBe(0);
    expect(value("arbor_dead_letters")).toBe(0);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(value("process_start_time_seconds")).toBeGreaterThan(1.6e9);
  });
});
