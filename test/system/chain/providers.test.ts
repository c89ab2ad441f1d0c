/**
 * The services over the devnet's own Blockfrost API, and over a Yaci Store in front of it: a token's life and a wallet's,
 * through a rollback, and what the provider says of itself. The chapters of `test/system/scenarios` run over each with
 * `ARBOR_SCENARIO_PROVIDER`.
 */
import { describe } from "vitest";
import { providerLife } from "../../support/service/providerLife.ts";

describe("over a blockfrost", () => {
  providerLife("blockfrost", { holds: "at the tip", unanswered: ["mempool", "poolRanking", "dreps"] });
});

describe("over a yaci", () => {
  const unanswered = ["mempool", "pools", "poolRanking", "dreps", "drepStatus", "actions"];
  providerLife("yaci", { holds: "at the tip", unanswered });
});
