/** The index's events as subscribers get them, and the balances that a replica has after them. */
import { expect } from "vitest";
import { z } from "zod";
import { delegationContent, delegationInputs } from "#machines/delegation.ts";
import { walletContent, walletInputs } from "#machines/wallet.ts";
import { toJson } from "#src/base/json.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import type { BalanceReplica, ContentEvent } from "#src/client/balances.ts";

/** Most bytes of an event and of its content. */
const MOST_BYTES = 8_000;

const schemas: Readonly<Record<string, z.ZodObject>> = { ...walletContent };
const ofDelegations: Readonly<Record<string, z.ZodObject>> = { ...delegationContent };

/** Turns the index's events into those that actors publish: each with a CREATE before the first of its wallet. */
export class Publisher {
  private readonly versions = new Map<string, number>();
  private readonly states = new Map<string, string>();

  events({ entity, event }: Touched): ContentEvent[] {
    expect(toJson(event).length).toBeLessThanOrEqual(MOST_BYTES);
    const accepted = entity.kind === "delegation" ? delegationInputs : walletInputs;
    expect(accepted.safeParse(event)).toMatchObject({ success: true });
    const schema = (entity.kind === "delegation" ? ofDelegations : schemas)[event.type]!;
    const content = z.record(z.string(), z.unknown()).parse(schema.parse(event));
    const first = entity.kind !== "delegation" && !this.versions.has(entity.id);
    if (event.type === "RESTORED") this.states.set(entity.id, "live");
    return [
      ...(first ? [this.event(entity, "create", { name: entity.id }, "beginning")] : []),
      this.event(
        entity,
        event.type.toLowerCase().replace("_", "-"),
        content,
        this.states.get(entity.id) ?? "restoring",
      ),
    ];
  }

  private event(entity: Touched["entity"], transition: string, content: ContentEvent["data"]["content"], to: string) {
    const version = (this.versions.get(entity.id) ?? 0) + 1;
    this.versions.set(entity.id, version);
    return { type: `arbor.${entity.kind}.${transition}`, data: { entity, version, to, content } };
  }
}

/** Lovelace (as '') and assets of a wallet by a replica; `undefined` where they are not exact. */
export function heldBy(replica: BalanceReplica, wallet: string): Readonly<Record<string, bigint>> | undefined {
  const balance = replica.balance(wallet);
  return balance?.exact ? { "": balance.lovelace, ...Object.fromEntries(balance.assets) } : undefined;
}
