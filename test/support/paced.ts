/** A devnet that makes a block only when a scenario asks for one: what holds at its tip holds until then. Start it with `blockMs: 0`. */
import { expect } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { type Scenario, type Sent } from "./scenario.ts";
import { until } from "./until.ts";
import { http } from "./user.ts";

/** Milliseconds between the blocks of an epoch that passes. */
const PACE_MS = 100;

export class Paced {
  /** `epochSlots` is the length of an epoch, as the devnet was started with it. */
  constructor(private readonly scenario: Scenario, private readonly epochSlots: number) {}

  /** Makes a block; gives its height and its epoch. */
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

  /** Makes blocks until one of them is in the epoch, or in a later one; gives it. */
  async enter(epoch: number): Promise<{ readonly height: number; readonly epoch: number }> {
    for (;;) {
      const made = await this.block();
      if (made.epoch >= epoch) return made;
      await sleep(PACE_MS);
    }
  }

  /** Pays a wallet coins, as `Scenario.fund` does. */
  async fund(id: string, coins: readonly bigint[]): Promise<void> {
    const addresses = await this.scenario.client.addresses(id);
    for (const [i, coin] of coins.entries()) await this.scenario.faucet(addresses[i]!.id, coin);
    await this.block();
    await this.scenario.untilAvailable(id, coins.reduce((sum, coin) => sum + coin, 0n));
  }

  /** Waits until the service has read all blocks. */
  async read(): Promise<void> {
    const { hash } = await this.scenario.tip();
    await until("all blocks are read", async () => {
      const header = await this.scenario.client.latestHeader().catch(() => undefined);
      return header?.header_hash === hash;
    }, 60_000);
  }

  /** `constructSignSubmit`, and then a block with it. */
  async land(id: string, body: Parameters<Scenario["constructSignSubmit"]>[1]): Promise<Landed> {
    const sent = await this.scenario.constructSignSubmit(id, body);
    await this.block();
    return { ...sent, told: await this.scenario.untilInLedger(id, sent.id) };
  }
}

export type Landed = Sent & { readonly told: Awaited<ReturnType<Scenario["untilInLedger"]>> };
