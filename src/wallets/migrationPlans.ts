/**
 * Keeps plans of wallet migrations in memory while their parts are requested, so that they are not computed for each
 * part.
 */
import { joined } from "#src/base/bytes.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { MigrationPart } from "#src/wallets/builds/types.ts";

/** A wallet migration, planned at a slot. */
export interface MigrationPlan {
  readonly wallet: string;
  readonly slot: number;
  /** CBOR of each transaction, without signatures. */
  readonly transactions: readonly Uint8Array[];
}

/** Transactions in a part; each has at most 16 kB, twice as much in hexadecimal. */
const PART = 16;
/** Most plans in memory; the plan of a wallet with 20,000 outputs has 3 MB. A new plan evicts the oldest. */
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

/** Plans with more than one part, each until its last part is requested. A lost plan is computed again. */
export class MigrationPlans {
  private readonly plans = new Map<string, MigrationPlan>();

  /** The first part of a plan; the plan is kept for the others. */
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

  /** Another part of a wallet's plan; `undefined` when the plan is not in memory. */
  next(wallet: string, name: string, part: number): MigrationPart | undefined {
    const plan = this.plans.get(name);
    if (!plan || plan.wallet !== wallet) return undefined;
    const next = partOf(plan, part);
    if (part >= next.parts - 1) this.plans.delete(name);
    return next;
  }
}
