/**
 * A devnet that makes a block only on a scenario's request: the state of its tip stays until then. Start it with
 * `blockMs: 0`.
 */
import { expect } from "vitest";
import { sleep } from "#src/base/clock.ts";
import type { Scenario } from "./scenario.ts";
import { until } from "../base/until.ts";
import { http } from "./user.ts";

/** Milliseconds between the blocks of an epoch that passes. */
const PACE_MS = 100;

export class Paced {
  /** `epochSlots` is the length of an epoch that the devnet was started with. */
  constructor(private readonly scenario: Scenario, private readonly epochSlots: number) {}

  /** Makes a block; returns its height and its epoch. */
  async block(): Promise<{ readonly height: number; readonly epoch: number }> {
    const { status, body } = await http(this.scenario.devnet, "POST", "/blocks", { count: 1 });
    expect(status, JSON.stringify(body)).toBe(200);
    return { height: body.tip.height, epoch: this.epochOf(body.tip.slot) };
  }

  epochOf(slot: number): number {
    return Math.floor(slot / this.epochSlots);
  }

  /** The epoch of the newest block. */
  async epoch(): Promise<number> {
    return this.epochOf((await this.scenario.tip()).slot);
  }

  /** Makes blocks until one of them is in the epoch, or in a later one; returns it. */
  async enter(epoch: number): Promise<{ readonly height: number; readonly epoch: number }> {
    for (;;) {
      const made = await this.block();
      if (made.epoch >= epoch) return made;
      await sleep(PACE_MS);
    }
  }

  /**
   * Waits until the service has read all blocks; also before a rollback, since the service may still be reading the
   * blocks that it removes.
   */
  async read(): Promise<void> {
    const { hash } = await this.scenario.tip();
    await until("all blocks are read", async () => {
      const header = await this.scenario.client.latestHeader().catch(() => undefined);
      return header?.header_hash === hash;
    }, 60_000);
  }
}
