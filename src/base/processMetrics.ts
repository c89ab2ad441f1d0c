/** Metrics of the process itself: release, CPU time, memory, start time, and how late its event loop runs timers. */
import process from "node:process";
import { metrics } from "#src/base/metrics.ts";
import { VERSION } from "#src/base/version.ts";

const build = metrics.gauge("arbor_build_info", "1, with the release, the revision of an image, and the runtime.", [
  "version",
  "revision",
  "runtime",
]);

const cpu = metrics.counter("process_cpu_seconds_total", "Processor time used, in seconds.", ["mode"]);
const memory = metrics.gauge("process_resident_memory_bytes", "Resident memory, in bytes.");
const heap = metrics.gauge("process_heap_bytes", "Heap of the JavaScript engine in use, in bytes.");
const started = metrics.gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.");
const loopDelay = metrics.histogram(
  "arbor_loop_delay_seconds",
  "Delay of a 100 ms timer of the event loop, in seconds.",
  [],
  [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
);
const EVERY_MS = 100;

/** Measures until the returned function is called. Call it once in a process. */
export function measureProcess(): () => void {
  const { memoryUsage } = process;
  const { deno, node } = process.versions;
  const runtime = deno === undefined ? `node ${node}` : `deno ${deno}`;
  build.of(VERSION, process.env.ARBOR_REVISION || "unknown", runtime).set(1);
  started.of().set(Math.round(performance.timeOrigin) / 1_000);
  const stops = [
    memory.of().from(() => memoryUsage().rss),
    heap.of().from(() => memoryUsage().heapUsed),
  ];
  let last = performance.now();
  let usage = { user: 0, system: 0 };
  const timer = setInterval(() => {
    const now = performance.now();
    loopDelay.of().observe(Math.max(0, now - last - EVERY_MS) / 1_000);
    last = now;
    const { user, system } = process.cpuUsage();
    cpu.of("user").inc((user - usage.user) / 1e6);
    cpu.of("system").inc((system - usage.system) / 1e6);
    usage = { user, system };
  }, EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    for (const stop of stops) stop();
  };
}
