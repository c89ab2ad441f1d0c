/** Random choices, the same for the same seed. */
import { seeded } from "../../base/seededRandom.ts";

export class Dice {
  private readonly next: () => number;
  constructor(seed: number) {
    this.next = seeded(seed);
  }

  /** Whether something of this likelihood happens. */
  chance(likelihood: number): boolean {
    return this.next() < likelihood;
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** @throws {RangeError} if there is nothing to pick from */
  pick<T>(of: readonly T[]): T {
    if (of.length === 0) throw new RangeError("nothing to pick from");
    return of[this.between(0, of.length - 1)]!;
  }

  /** One of them; undefined where there is none. */
  maybe<T>(of: readonly T[]): T | undefined {
    return of.length === 0 ? undefined : this.pick(of);
  }

  /** One of several, by weight. */
  weighted<T>(of: readonly (readonly [weight: number, T])[]): T {
    let at = this.next() * of.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of of) if ((at -= weight) < 0) return value;
    return of.at(-1)![1];
  }

  shuffle<T>(of: readonly T[]): T[] {
    const left = [...of];
    return of.map(() => left.splice(this.between(0, left.length - 1), 1)[0]!);
  }
}
