/** Plans of migrations of which further parts will be asked for: whoever made one need not make it again for each. */
import { joined } from "#src/base/bytes.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { MigrationPart } from "#src/wallet/build/types.ts";

/** A migration of a wallet as it was planned at a slot. */
export interface MigrationPlan {
  readonly wallet: string;
  readonly slot: number;
  /** CBOR of each transaction, without signatures. */
  readonly transactions: readonly Uint8Array[];
}

/** Transactions of a part: 16 kB each at the most, twice as much in hexadecimal. */
const PART = 16;
/** Plans that are remembered, of a wallet with 20,000 outputs 3 MB each; the next one drives out the oldest. */
const MOST = 8;

/** A part of a plan. */
export function partOf({ slot, transactions }: MigrationPlan, part: number): MigrationPart {
  return {
    transactions: transactions.slice(part * PART, (part + 1) * PART),
    parts: Math.ceil(transactions.length / PART),
    plan: hash256(joined(transactions)),
    slot,
  };
}

/** A memory of plans with more than one part, each until its last part was asked for. Losing one costs the time to make it again. */
export class MigrationPlans {
  private readonly plans = new Map<string, MigrationPlan>();

  /** The first part of a plan; what it takes to tell the others is remembered. */
  begin(plan: MigrationPlan): MigrationPart {
    const first = partOf(plan, 0);
    if (first.parts > 1) {
      this.plans.delete(first.plan);
      this.plans.set(first.plan, plan);
      for (const oldest of this.plans.keys()) {
        if (this.plans.size <= MOST) break;
        this.plans.delete(oldest);
      }
    }
    return first;
  }

  /** A further part of a wallet's plan, where that is remembered. */
  next(wallet: string, name: string, part: number): MigrationPart | undefined {
    const plan = this.plans.get(name);
    if (!plan || plan.wallet !== wallet) return undefined;
    const next = partOf(plan, part);
    if (part >= next.parts - 1) this.plans.delete(name);
    return next;
  }
}
