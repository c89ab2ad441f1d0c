/** What goes wrong in a simulation, and how often. */
import type { World } from "./world.ts";

/** Bugs that a test plants in the parts around the product's code, to see that they are found. */
export type Bug =
  | "a fence without its lock"
  | "a reply before the commit"
  | "a due time by the worker's clock"
  | "a row marked as published before its confirmation"
  | "a connection reused after a failed row";

export class Faults {
  /** How often faults are, 0 to 1. */
  level: number;

  constructor(private readonly world: World, readonly bug?: Bug) {
    this.level = world.pick([0.2, 1, 1, 3]);
  }

  /** Whether a fault of a probability occurs now. */
  occurs(probability: number): boolean {
    return this.level > 0 && this.world.chance(probability * this.level);
  }

  /** The duration of a step over the network or in a server, in milliseconds: mostly short, sometimes seconds. */
  delay(): number {
    const { world } = this;
    const kind = this.level === 0 ? 0 : world.random();
    if (kind < 0.8) return world.between(0, 5);
    if (kind < 0.95) return world.between(5, 60);
    return kind < 0.99 ? world.between(60, 600) : world.between(600, 4_000);
  }
}
