/** Metrics in Prometheus's form: each line follows the grammar of the text format. */
import { describe, expect, it } from "vitest";
import { Metrics, MOST_SERIES } from "#src/base/metrics.ts";
import { exposition } from "../../support/runtime/prometheusText.ts";

describe("metrics", () => {
  it("are text that follows the format", async () => {
    const metrics = new Metrics();
    const turns = metrics.counter("arbor_turns_total", 'Turns "written", by\nkind \\ machine.', ["kind"]);
    const waiting = metrics.gauge("arbor_waiting", "Commands that wait.");
    turns.of("token").inc();
    turns.of("token").inc(2);
    turns.of('a"b\\c\nd').inc();
    waiting.of().set(-1.5);
    expect(await metrics.text()).toBe(
      [
        '# HELP arbor_turns_total Turns "written", by\\nkind \\\\ machine.',
        "# TYPE arbor_turns_total counter",
        'arbor_turns_total{kind="token"} 3',
        'arbor_turns_total{kind="a\\"b\\\\c\\nd"} 1',
        "",
        "# HELP arbor_waiting Commands that wait.",
        "# TYPE arbor_waiting gauge",
        "arbor_waiting -1.5",
        "",
      ].join("\n"),
    );
    const read = exposition(await metrics.text());
    expect(read.get("arbor_turns_total")?.samples).toEqual([
      { name: "arbor_turns_total", labels: { kind: "token" }, value: 3 },
      { name: "arbor_turns_total", labels: { kind: 'a"b\\c\nd' }, value: 1 },
    ]);
  });

  it("count a histogram's values up to and including each bound", async () => {
    const metrics = new Metrics();
    const seconds = metrics.histogram("arbor_work_seconds", "Work.", ["kind", "step"], [0.1, 1]);
    for (const value of [0.05, 0.1, 0.100001, 1, 7]) seconds.of("a", "b").observe(value);
    const { samples } = exposition(await metrics.text()).get("arbor_work_seconds")!;
    const of = (name: string, le?: string) =>
      samples.find((one) => one.name === name && one.labels.le === le && one.labels.kind === "a")?.value;
    expect(of("arbor_work_seconds_bucket", "0.1")).toBe(2);
    expect(of("arbor_work_seconds_bucket", "1")).toBe(4);
    expect(of("arbor_work_seconds_bucket", "+Inf")).toBe(5);
    expect(of("arbor_work_seconds_count")).toBe(5);
    expect(of("arbor_work_seconds_sum")).toBeCloseTo(8.250001, 9);
  });

  it("sum a gauge's sources and release them", async () => {
    const metrics = new Metrics();
    const resident = metrics.gauge("arbor_resident", "Actors in memory.").of();
    const ends = [resident.from(() => 3), resident.from(() => 4)];
    const read = async () => exposition(await metrics.text()).get("arbor_resident")!.samples[0]!.value;
    expect(await read()).toBe(7);
    ends[0]!();
    expect(await read()).toBe(4);
    ends[1]!();
    expect(await read()).toBe(0);
  });

  it("combine labels beyond a limit into one series", async () => {
    const metrics = new Metrics();
    const counter = metrics.counter("arbor_asked_total", "Asked.", ["who", "what"]);
    for (let i = 0; i < MOST_SERIES + 50; i++) counter.of(`w${i}`, "x").inc();
    counter.of("w1", "x").inc();
    const { samples } = exposition(await metrics.text()).get("arbor_asked_total")!;
    expect(samples.length).toBe(MOST_SERIES + 1);
    expect(samples.find(({ labels }) => labels.who === "other")).toMatchObject({
      labels: { what: "other" },
      value: 50,
    });
    expect(samples.find(({ labels }) => labels.who === "w1")?.value).toBe(2);
  });

  it("refuse names that Prometheus would reject or misread", () => {
    const metrics = new Metrics();
    metrics.counter("arbor_a_total", "A.");
    expect(() => metrics.counter("arbor_a_total", "Again.")).toThrow(/already been registered/);
    expect(() => metrics.counter("arbor_b", "B.")).toThrow(/_total/);
    expect(() => metrics.gauge("arbor_c_total", "C.")).toThrow(/_total/);
    expect(() => metrics.gauge("Arbor-c", "C.")).toThrow(/Invalid metric name/);
    expect(() => metrics.histogram("arbor_d", "D.", ["le"])).toThrow(/le is a reserved/);
  });
});
