/** `/health` and `/metrics`: the state of the devnet, and what the server counts. */
import process from "node:process";
import { toJson } from "#src/base/json.ts";
import { VERSION } from "#src/base/version.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { SessionCounts } from "#src/devnet/serve/ogmios/session.ts";
import type { OgmiosVersion } from "#src/ogmios/form.ts";
import { tipJson } from "#src/ogmios/values.ts";

/** Names of networks by their magic. */
const NETWORKS: Readonly<Record<number, string>> = {
  764824073: "mainnet",
  1: "preprod",
  2: "preview",
  4: "sanchonet",
};

/** Releases whose forms are served. */
const RELEASES = { 6: "v6.14.0", 7: "v7.0.0" } as const;

/** Counts of a server. */
export class ServerCounts implements SessionCounts {
  activeConnections = 0;
  totalConnections = 0;
  totalMessages = 0;
  totalUnrouted = 0;
  #ended = 0;
  #durations = { sum: 0, min: Infinity, max: 0 };

  /** Counts a connection; call the result when it ends. */
  begin(): () => void {
    const begun = performance.now();
    this.activeConnections++;
    this.totalConnections++;
    return () => {
      const duration = performance.now() - begun;
      this.activeConnections--;
      this.#ended++;
      const { sum, min, max } = this.#durations;
      this.#durations = { sum: sum + duration, min: Math.min(min, duration), max: Math.max(max, duration) };
    };
  }

  /** Milliseconds of the connections that have ended; 0 while there are none. */
  get sessionDurations(): { readonly mean: number; readonly min: number; readonly max: number } {
    const { sum, min, max } = this.#durations;
    return this.#ended === 0 ? { mean: 0, min: 0, max: 0 } : { mean: sum / this.#ended, min, max };
  }
}

/** What health is about. */
interface HealthSources {
  readonly devnet: Pick<Devnet, "genesis" | "network" | "tip" | "runs">;
  readonly version: OgmiosVersion;
  readonly counts: ServerCounts;
}

/** Looks at the health of a devnet, and remembers when it changed. */
export class ServerHealth {
  readonly #startTime = new Date();
  #lastTipUpdate = this.#startTime;
  #maxHeap = 0;

  constructor(private readonly sources: HealthSources) {}

  /** Notes a new tip. */
  update(): void {
    this.#lastTipUpdate = new Date();
  }

  /** Whether the devnet runs in this process. */
  get connected(): boolean {
    return this.sources.devnet.runs();
  }

  /**
   * The document of `/health`. A devnet is all of its network, so that it is never behind, however old its newest block is
   * or however far its clock runs ahead.
   */
  document(): string {
    const { devnet, version } = this.sources;
    const { connected } = this;
    const { epoch, slotInEpoch } = this.#place();
    const document = toJson({
      startTime: this.#startTime.toISOString(),
      lastKnownTip: tipJson(devnet.tip()),
      lastTipUpdate: this.#lastTipUpdate.toISOString(),
      networkSynchronization: connected ? SYNCHRONIZATION : null,
      currentEra: connected ? "conway" : null,
      metrics: this.#metrics(),
      connectionStatus: connected ? "connected" : "disconnected",
      currentEpoch: epoch,
      slotInEpoch,
      version: `${RELEASES[version]} (arbor ${VERSION})`,
      network: NETWORKS[devnet.network.magic] ?? `unknown (${devnet.network.magic})`,
    });
    // a number with five decimals
    return document.replace(`"${SYNCHRONIZATION}"`, SYNCHRONIZATION);
  }

  /** The document of `/metrics`: the same numbers for Prometheus. */
  metricsText(): string {
    const { tip } = this.sources.devnet;
    const { slot, height } = tip();
    const { runtimeStats, sessionDurations, ...counts } = this.#metrics();
    const { epoch, slotInEpoch } = this.#place();
    const gauges: [name: string, value: number][] = [
      ["connected", this.connected ? 1 : 0],
      ...(this.connected ? [["network_synchronization", 1] as [string, number]] : []),
      ["active_connections", counts.activeConnections],
      ["session_duration_mean", sessionDurations.mean],
      ["session_duration_min", sessionDurations.min],
      ["session_duration_max", sessionDurations.max],
      ["max_heap_size", runtimeStats.maxHeapSize],
      ["current_heap_size", runtimeStats.currentHeapSize],
      ...(height < 0 ? [["tip_at_genesis", 1] as [string, number]] : []),
    ];
    const counters: [name: string, value: number][] = [
      ["current_epoch", epoch],
      ["slot_in_epoch", slotInEpoch],
      ["total_connections", counts.totalConnections],
      ["total_messages", counts.totalMessages],
      ["total_unrouted", counts.totalUnrouted],
      ["cpu_time", runtimeStats.cpuTime],
      ["gc_cpu_time", runtimeStats.gcCpuTime],
      ...(height < 0 ? [] : [["tip_block", height], ["tip_slot", slot]] as [string, number][]),
    ];
    const lines = (type: string) => ([name, value]: [string, number]) =>
      `# TYPE ogmios_${name} ${type}\nogmios_${name} ${value}\n`;
    return [...gauges.map(lines("gauge")), ...counters.map(lines("counter"))].join("");
  }

  #place(): { readonly epoch: number; readonly slotInEpoch: number } {
    const { devnet: { tip, genesis: { terms: { epochLength } } } } = this.sources;
    const slot = Math.max(0, tip().slot);
    return { epoch: Math.floor(slot / epochLength), slotInEpoch: slot % epochLength };
  }

  #metrics() {
    const { activeConnections, totalConnections, sessionDurations, totalMessages, totalUnrouted } = this.sources.counts;
    const heap = Math.round(process.memoryUsage().heapUsed / 1_024);
    this.#maxHeap = Math.max(this.#maxHeap, heap);
    const { user, system } = process.cpuUsage();
    return {
      // the time of collecting garbage is not known apart
      runtimeStats: {
        maxHeapSize: this.#maxHeap,
        currentHeapSize: heap,
        cpuTime: (user + system) * 1_000,
        gcCpuTime: 0,
      },
      activeConnections,
      totalConnections,
      sessionDurations,
      totalMessages,
      totalUnrouted,
    };
  }
}

const SYNCHRONIZATION = "1.00000";
