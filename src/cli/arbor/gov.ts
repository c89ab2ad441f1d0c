/** `arbor gov`: governance actions of the devnet, their votes and what became of them; proposals and votes by its own keys. */
import type { Command } from "commander";
import type { GovernanceAction } from "#src/client/devnet.ts";
import { type Context, define, first, limitOption, pageSize } from "#src/cli/arbor/command.ts";
import { proposeCommands } from "#src/cli/arbor/govPropose.ts";
import { CliError } from "#src/cli/error.ts";
import { short } from "#src/cli/output.ts";

/** Greatest `--limit`. */
const MOST = 100_000;
/** Most entries of one page of the devnet. */
const PAGE = 100;

/** The state of an action, as text. */
function stateOf({ ratified, enacted, expired, dropped, lastEpoch }: GovernanceAction): string {
  if (enacted !== undefined) return `in force since epoch ${enacted}`;
  if (dropped !== undefined) return `${expired === undefined ? "dropped" : "expired"} in epoch ${dropped}`;
  if (ratified !== undefined) return `ratified, in force in epoch ${ratified + 1}`;
  return expired === undefined ? `open until epoch ${lastEpoch}` : "expired";
}

const tally = ({ yes, no, abstain }: GovernanceAction["votes"]["drep"]) => `${yes} yes, ${no} no, ${abstain} abstain`;

const NEXT = {
  enacted: "it takes force",
  dropped: "it ends",
  ratified: "it is ratified",
  expired: "it expires",
  open: "nothing",
} as const;

/** How an open action stands: what agrees against what is needed, and what the next boundary brings. */
function standingLines(standing: GovernanceAction["standing"]): [string, string][] {
  if (!standing) return [];
  const line = ({ yes, all, threshold, reached }: typeof standing.drep, unit: (amount: number | bigint) => string) => {
    if (threshold === "none") return "no say";
    const needed = threshold === "never" ? "cannot pass" : `needs ${threshold.numerator}/${threshold.denominator}`;
    return `${unit(yes)} of ${unit(all)}, ${needed}: ${reached ? "reached" : "not reached"}`;
  };
  const ada = (lovelace: number | bigint) => `${BigInt(lovelace) / 1_000_000n} ada`;
  return [
    ["stake of representatives", line(standing.drep, ada)],
    ["stake of pools", line(standing.pool, ada)],
    ["members", line(standing.committee, String)],
    ["at the next boundary", NEXT[standing.next]],
  ];
}

/** Adds `arbor gov` with all of its commands. */
export function govCommands(program: Command): void {
  const parent = program.command("gov").description("governance actions of the devnet")
    .addHelpText("after", "\nExample:\n  $ arbor gov list");

  define(parent, {
    usage: "list",
    description: "governance actions, newest first, and where they stand",
    example: "gov list --limit 10",
  }, async ({ devnet, output, options: { limit } }: Context<{ limit?: number }>) => {
    const actions = await first(devnet.governanceActions(pageSize(limit, PAGE)), limit, output);
    output.list(
      actions,
      ["action", "kind", "proposed in epoch", "state", "representatives", "pools", "committee"],
      actions.map((one) => [
        one.id,
        one.kind,
        one.epoch,
        stateOf(one),
        ...[one.votes.drep, one.votes.pool, one.votes.committee].map(({ yes, no }) => `${yes} : ${no}`),
      ]),
    );
  }).addOption(limitOption(MOST));

  define(parent, {
    usage: "show <action>",
    description: "a governance action, by gov_action1… or transaction#index",
    example: "gov show gov_action1…",
  }, async ({ devnet, output }, id) => {
    const action = await devnet.governanceAction(id);
    output.record(action, [
      ["action", action.id],
      ["transaction", `${action.txHash}#${action.index}`],
      ["kind", action.kind],
      ["state", stateOf(action)],
      ["proposed in epoch", action.epoch],
      ["deposit", `${action.deposit} lovelace, for ${short(action.account)}`],
      ["representatives", tally(action.votes.drep)],
      ["pools", tally(action.votes.pool)],
      ["committee", tally(action.votes.committee)],
      ["document", action.anchor.url],
      ...standingLines(action.standing),
    ]);
  });

  proposeCommands(parent);

  define(parent, {
    usage: "voters",
    description: "voters whose keys the devnet has, which may vote now",
    example: "gov voters",
  }, async ({ devnet, output }) => {
    const voters = await devnet.ownVoters();
    output.list({ voters }, ["role", "id"], voters.map(({ role, id }) => [role, id]));
  });

  define(parent, {
    usage: "vote <action> <vote>",
    description: "vote yes, no or abstain on an action with the devnet's own keys, print the voters",
    example: "gov vote gov_action1… yes --as drep pool",
  }, async ({ devnet, output, options: { as } }: Context<{ as?: string[] }>, action, vote) => {
    if (vote !== "yes" && vote !== "no" && vote !== "abstain") {
      throw new CliError(`${vote} is none of yes, no and abstain.`, "bad_vote");
    }
    const cast = await devnet.vote(action, vote, as ? { as } : {});
    output.list(cast, ["role", "voter"], cast.voters.map(({ role, id }) => [role, id]));
  }).option("--as <voters...>", "roles (drep, committee, pool) or ids of voters; all that have a say by default");
}
