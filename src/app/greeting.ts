/** What a start prints beside its addresses: whether it continues earlier work, and what a newcomer can do next. */
import { existsSync } from "node:fs";
import { programLine } from "#src/base/program.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { isLoopback } from "#src/http/sites.ts";
import { countActors } from "#src/runtime/operations/counts.ts";
import { databaseHosts } from "#src/store/databaseUrl.ts";
import type { AppContext, Listening } from "#src/app/context.ts";
import { GUIDE } from "#src/app/pages.ts";

/** Actors are counted up to here, so that a start with millions of them is not slower. */
const MOST_COUNTED = 100_000;

/** A line for a start on a database that has been in use; `undefined` for a new one. */
export async function continuation({ store, options }: AppContext): Promise<string | undefined> {
  const [{ at }, actors] = await Promise.all([readCursor(store.sql), countActors(store, MOST_COUNTED)]);
  if (actors === 0 && at.slot < 0) return undefined;
  const data = options.databaseUrl === undefined ? options.folder : databaseHosts(options.databaseUrl);
  const counted = `${actors.toLocaleString("en")}${actors < MOST_COUNTED ? "" : " or more"} actors`;
  return `Continues with the data in ${data}: block ${Math.max(0, at.height).toLocaleString("en")}, ${counted}`;
}

/** Lines after a start; none unless the token, operator and devnet services run in this process. */
export function nextSteps(listening: readonly Listening[]): readonly string[] {
  const listened = (name: string) => listening.find((one) => one.name === name)?.at;
  // an address of all interfaces is none to open
  const openable = (at: string) => at.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, "//localhost");
  const [tokens, operator, devnet] = ["token service", "operator service", "devnet and faucet"].map(listened);
  if (tokens === undefined || operator === undefined || devnet === undefined) return [];
  const wallets = listened("wallet service");
  // the demo's last line has the address of the operator service
  const demoEnvironment = tokens.endsWith(":3000") && devnet.endsWith(":10000") && operator.endsWith(":8091")
    ? ""
    : `ARBOR_TOKENS_URL=${openable(tokens)} ARBOR_DEVNET_URL=${openable(devnet)} ARBOR_OPERATOR_URL=${
      openable(operator)
    } `;
  const pages = [
    { at: operator, what: "its actor" },
    { at: tokens, what: "its facts" },
    ...(wallets === undefined ? [] : [{ at: new URL("/", wallets).origin, what: "wallets" }]),
    { at: devnet, what: "blocks" },
  ];
  // from outside a container, those of its loopback cannot be opened
  const outside = pages.filter(({ at }) => !isLoopback(new URL(at).hostname));
  const opened = (outside.length > 0 ? outside : pages).map(({ at, what }) => `${openable(at)} (${what})`);
  const guide = existsSync(GUIDE)
    ? `the guide, with concepts, tutorials and a search: ${openable(tokens)}/docs/guide/`
    : "the tour in README.md";
  return [
    "Next:",
    `  1. In another terminal, make a token with facts: ${demoEnvironment}${programLine("demo")}`,
    `  2. Open the pages: ${opened.join(", ")}`,
    `  3. Read ${guide}`,
  ];
}
