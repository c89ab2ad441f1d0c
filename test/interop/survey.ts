/** What a node supports, in any implementation; nothing is changed on its network. */
import type { Credential } from "#src/cardano/address.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { sendQuery } from "#src/node/queries/sendQuery.ts";
import type { EraQuery, NodeQuery } from "#src/node/queries/query.ts";
import { decodeRejection } from "#src/node/rejections/rejections.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { spend } from "../support/devnet/devnet.ts";
import { coin, person } from "../support/wallets/person.ts";

/** The findings about a node. */
export interface Survey {
  /** The negotiated version of the protocol. */
  readonly version: number;
  /** Blocks that were followed from the origin on, each linked to the previous one. */
  readonly blocks: number;
  /** By query: "answers", or the code of the failure. */
  readonly queries: Readonly<Record<string, string>>;
  /** Names of the failures for a transaction without inputs on the chain. */
  readonly refusal: readonly string[];
}

const unusedCredential: Credential = { kind: "key", hash: "00".repeat(28) };

/** Every typed query except those of whole states. */
function questions(era: number): readonly NodeQuery[] {
  const ofEra: readonly EraQuery[] = [
    { kind: "ledgerTip", era },
    { kind: "epoch", era },
    { kind: "parameters", era },
    { kind: "genesis", era },
    { kind: "utxoByAddress", era, addresses: [person("nobody").enterprise] },
    { kind: "utxoByInput", era, inputs: [{ txHash: "00".repeat(32), index: 0 }] },
    { kind: "delegations", era, credentials: [unusedCredential] },
    { kind: "stakeDeposits", era, credentials: [unusedCredential] },
    { kind: "voteDelegatees", era, credentials: [unusedCredential] },
    { kind: "stakePools", era },
    { kind: "poolParameters", era, pools: [unusedCredential.hash] },
    { kind: "poolState", era, pools: undefined },
    { kind: "stakeDistribution", era },
    { kind: "stakeSnapshots", era, pools: undefined },
    { kind: "nonMyopicRewards", era, stakes: [1_000_000n] },
    { kind: "accountState", era },
  ];
  const plain: readonly NodeQuery[] = [
    { kind: "systemStart" },
    { kind: "height" },
    { kind: "point" },
    { kind: "currentEra" },
    { kind: "eraHistory" },
  ];
  return [...plain, ...ofEra];
}

/** Surveys a node that has at least one block; `most` blocks of its chain are read. */
export async function survey(path: string, magic: number, most = 100): Promise<Survey> {
  const using = async <T>(work: (connection: NodeConnection) => Promise<T>): Promise<T> => {
    const connection = valueOf(await connectNode({ path }, { magic }));
    try {
      return await work(connection);
    } finally {
      connection.close();
    }
  };
  const first = await using(async (connection) => {
    const session = valueOf(await connection.acquire("tip"));
    return { version: connection.version, era: valueOf(await sendQuery(session, { kind: "currentEra" })) };
  });
  const queries: Record<string, string> = {};
  for (const query of questions(first.era)) {
    // on a connection of its own: a node closes it on an unsupported query
    queries[query.kind] = await using(async (connection) => {
      const session = valueOf(await connection.acquire("tip"));
      const answer = await sendQuery(session, query, AbortSignal.timeout(60_000));
      return answer.ok ? "answers" : answer.error.code;
    });
  }
  const blocks = await using(async (connection) => {
    let last: string | undefined;
    let count = 0;
    for await (const step of connection.follow([])) {
      if (step.type === "backward") continue;
      const { hash, height, previous } = scanBlock(step.block);
      if (last !== undefined && previous !== last) throw new Error(`the block ${hash} does not follow ${last}`);
      last = hash;
      if (++count === most || height >= step.tip.height) break;
    }
    return count;
  });
  const refusal = await using(async (connection) => {
    const alice = person("alice");
    const made = spend({ from: alice, inputs: [coin(alice.enterprise, 2n)], outputs: [[alice.enterprise, 1n]] });
    const verdict = valueOf(await connection.submit(made.cbor, { era: CONWAY }));
    return verdict.accepted ? [] : decodeRejection(verdict.reason, made.cbor).map(({ name }) => name);
  });
  return { version: first.version, blocks, queries, refusal };
}
