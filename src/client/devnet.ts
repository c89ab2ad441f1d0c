/** The typed client of the devnet: faucet, blocks, time, epochs, rollbacks and snapshots. */
import type { z } from "zod";
import type * as api from "#src/devnet/api/devnet.ts";
import type * as governance from "#src/devnet/api/governance.ts";
import type * as explorer from "#src/devnet/api/explorer.ts";
import { call } from "#src/client/http.ts";

export type DevnetTip = z.output<typeof api.tip>;
export type DevnetSnapshot = z.output<typeof api.snapshot>;
export type DevnetNetwork = z.output<typeof api.network>;
/** The devnet's clock. */
export type DevnetTime = z.output<typeof api.clock>;
/** The newest block after a call that may have made some. */
export type MadeBlocks = z.output<typeof api.madeBlocks>;
/** Where a jump in time goes: exactly one member. Times are milliseconds since 1970. */
export type TimeTarget = Omit<z.input<typeof api.advanceBody>, "blocks">;
/** Which blocks a jump makes beside those of the target slot and of the first slot of each epoch. */
export type JumpBlocks = z.output<typeof api.advanceBody>["blocks"];
/** An action of governance, its votes, and what became of it. */
export type GovernanceAction = z.output<typeof explorer.governanceAction>;
/** A governance action to propose. Stake addresses, ids of members and parameters are as the HTTP API names them. */
export type ProposedAction = z.input<typeof governance.proposedAction>;
/** A voter whose key the devnet has. */
export type OwnVoter = z.output<typeof governance.voter>;
/** When blocks are made without a request. */
export type MiningMode = z.output<typeof api.miningBody>["mode"];

/**
 * The devnet over HTTP.
 *
 * @throws {ApiError} by every method, where the devnet refuses or does not respond.
 *
 * @example
 * ```ts
 * import { DevnetClient } from "./src/client/devnet.ts";
 *
 * const client = new DevnetClient("http://127.0.0.1:10000");
 * console.log(await client.tip().catch((error) => error.code));
 * ```
 */
export class DevnetClient {
  /** `base` is the URL of the devnet, such as `http://127.0.0.1:10000`. */
  constructor(readonly base: string) {}

  /** The newest block and the network. */
  tip(): Promise<DevnetNetwork> {
    return call(this.base, "GET", "/tip");
  }

  /** Sends lovelace from the faucet to an address; gives the transaction's hash. */
  async fund(address: string, lovelace: bigint): Promise<string> {
    return (await call<{ txHash: string }>(this.base, "POST", "/faucet", { address, lovelace })).txHash;
  }

  /**
   * Produces blocks now, in the next slots, `gap` slots from each to the next (1 by default); `empty` leaves the mempool as
   * it is.
   */
  blocks(
    count = 1,
    options: { readonly gap?: number; readonly empty?: boolean } = {},
  ): Promise<MadeBlocks & { readonly tip: DevnetTip; readonly made: number }> {
    return call(this.base, "POST", "/blocks", { count, ...options });
  }

  /** The current slot, its time, and the slot of the next block. */
  time(): Promise<DevnetTime> {
    return call(this.base, "GET", "/time");
  }

  /**
   * Moves the devnet's clock at once. There is a block in the target slot, one in the first slot of each epoch before it,
   * and those of `blocks`.
   */
  advance(to: TimeTarget, blocks: JumpBlocks = "one"): Promise<MadeBlocks> {
    return call(this.base, "POST", "/time/advance", { ...to, blocks });
  }

  /** Moves the devnet to the machine's clock, with the blocks of `advance`. Refused as `clock_ahead` where it is ahead. */
  sync(blocks: JumpBlocks = "one"): Promise<MadeBlocks> {
    return call(this.base, "POST", "/time/sync", { blocks });
  }

  /** Sets the slot of the next block, or its time in milliseconds since 1970. */
  setNext(next: { readonly slot: number } | { readonly time: number }): Promise<MadeBlocks> {
    return call(this.base, "POST", "/time/next", next);
  }

  /** Changes when blocks are made: `interval` at a pace, `submit` with each transaction, `manual` on request only. */
  setMining(mode: MiningMode, blockMs?: number): Promise<MadeBlocks> {
    return call(this.base, "PUT", "/mining", blockMs === undefined ? { mode } : { mode, blockMs });
  }

  /**
   * Enters the next epochs now. `blocks` are made in the rest of each epoch that ends; rewards are in proportion to
   * them.
   */
  epochs(count = 1, blocks?: number): Promise<z.output<typeof api.epochsAnswer>> {
    return call(this.base, "POST", "/epochs", blocks === undefined ? { count } : { count, blocks });
  }

  /** Goes back to the genesis; gives the tip, which is before the first block. */
  async reset(): Promise<DevnetTip> {
    return (await call<{ tip: DevnetTip }>(this.base, "POST", "/reset")).tip;
  }

  /**
   * Rolls back a number of blocks, or every block after a slot. Their transactions return to the mempool, or are
   * discarded where `drop` is set.
   */
  async rollback(
    to: { readonly blocks: number } | { readonly slot: number },
    { drop = false }: { readonly drop?: boolean } = {},
  ): Promise<DevnetTip> {
    return (await call<{ tip: DevnetTip }>(this.base, "POST", "/rollback", { ...to, drop })).tip;
  }

  /** Saves the newest block and the mempool under a name. */
  saveSnapshot(name: string, { replace = false }: { readonly replace?: boolean } = {}): Promise<DevnetSnapshot> {
    return call(this.base, "POST", "/snapshots", { name, replace });
  }

  /** All snapshots, oldest first. */
  async snapshots(): Promise<readonly DevnetSnapshot[]> {
    return (await call<{ snapshots: DevnetSnapshot[] }>(this.base, "GET", "/snapshots")).snapshots;
  }

  /** Goes to the block of a snapshot and restores its mempool; followers see a rollback and the blocks after it. */
  async restoreSnapshot(name: string): Promise<DevnetTip> {
    const path = `/snapshots/${encodeURIComponent(name)}/restore`;
    return (await call<{ tip: DevnetTip }>(this.base, "POST", path)).tip;
  }

  /** Deletes a snapshot. */
  async deleteSnapshot(name: string): Promise<void> {
    await call(this.base, "DELETE", `/snapshots/${encodeURIComponent(name)}`);
  }

  /** Voters whose keys the devnet has and that may vote now. */
  async ownVoters(): Promise<OwnVoter[]> {
    const { voters }: z.output<typeof governance.voters> = await call(this.base, "GET", "/governance/voters");
    return voters;
  }

  /**
   * Proposes a governance action, whose deposit the faucet pays; gives its id. What it follows is filled in.
   *
   * @throws {ApiError} `not_accepted` with the ledger's `failures`, `bad_parameters`, `bad_id`, `bad_address`
   */
  propose(
    action: ProposedAction,
    options: Omit<z.input<typeof governance.proposalBody>, "action"> = {},
  ): Promise<z.output<typeof governance.proposalAnswer>> {
    return call(this.base, "POST", "/governance/actions", { action, ...options });
  }

  /**
   * Votes on a governance action with the devnet's own keys: those of `as` (roles or ids), by default all that have a say.
   *
   * @throws {ApiError} `action_unknown`, `no_voter`, `voter_without_key`, `not_accepted`
   */
  vote(
    action: string,
    vote: "yes" | "no" | "abstain",
    options: Pick<z.input<typeof governance.voteBody>, "as" | "anchor"> = {},
  ): Promise<z.output<typeof governance.voteAnswer>> {
    return call(this.base, "POST", "/governance/votes", { action, vote, ...options });
  }

  /** Actions of governance, newest first; `count` (1 to 100) is the size of a page. */
  async *governanceActions(count = 20): AsyncGenerator<GovernanceAction, void> {
    type Page = z.output<typeof explorer.governanceActions>;
    for (let page: number | undefined = 1; page !== undefined;) {
      const answer: Page = await call(this.base, "GET", `/governance/actions?count=${count}&page=${page}`);
      yield* answer.actions;
      page = answer.next;
    }
  }

  /** An action of governance: `gov_action1…`, or the hash of its transaction, `#` and the index. */
  governanceAction(id: string): Promise<GovernanceAction> {
    return call(this.base, "GET", `/governance/actions/${encodeURIComponent(id)}`);
  }
}
