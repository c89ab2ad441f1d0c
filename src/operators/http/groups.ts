/** Groups of the operator service's operations. */
import { type Group, HEALTH_GROUP } from "#src/http/groups.ts";

export const OPERATOR_GROUPS: readonly Group[] = [
  [
    "Actors",
    /^\/(actors|kinds|search|overview|attention)/,
    "State, machine and history of each actor, and what needs attention.",
  ],
  ["Transitions", /^\/(transitions|activity|events$|asyncapi)/, "Every transition as it happens."],
  ["Events on NATS", /^\/events\//, "The stream of events, rebuilt from the database."],
  ["Workers", /^\/(workers|partitions|leases|limits|lags)/, "Who owns which partition, rates and delays."],
  ["Dead letters", /^\/dead-letters/, "Commands and effects that failed for good."],
  ["Webhooks", /^\/webhooks/, "Deliveries of events over HTTP."],
  ["Tokens", /^\/(tokens|log)/, "Tokens in quarantine, and the log of roots."],
  ["Devnet", /^\/devnet/, "The devnet of this deployment."],
  HEALTH_GROUP,
];
