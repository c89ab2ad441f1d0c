/** A chain in memory behind a node's socket, with connections that break in the middle of messages. */
import { rm } from "node:fs/promises";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import { refKey } from "#src/cardano/output.ts";
import { type NodePort, nodePort } from "#src/chain/provider/node/port.ts";
import { answerQuery } from "#src/node/queries/answering.ts";
import { systemStart } from "#src/node/queries/history.ts";
import { serveNode } from "#src/node/server/server.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { type ChainFaults, type MemoryChain, memoryPort } from "./memoryChain.ts";
import { fragment, socketPath } from "./nodeChain.ts";

/**
 * The port to such a node, and its end. `breakAfter` returns how many bytes the next connection may carry from the
 * node.
 */
export async function nodeOf(
  chain: MemoryChain,
  moods: ChainFaults,
  breakAfter: () => number,
): Promise<{ port: NodePort; connections: () => number; stop: () => Promise<void> }> {
  const { follow } = memoryPort(chain, moods);
  const path = socketPath();
  const served = await serveNode({ path }, {
    magic: 42,
    follow,
    acquire: () => {
      const { slot, hash, height } = chain.tip;
      const live = chain.utxos();
      const answers = {
        era: CONWAY,
        systemStart: () => systemStart(0),
        point: () => ({ slot, hash }),
        height: () => slot < 0 ? undefined : height,
        utxoByAddress: ({ addresses }: { addresses: readonly string[] }) =>
          [...live.values()].filter(({ output }) => addresses.includes(output.address)),
        utxoByInput: ({ inputs }: { inputs: readonly { txHash: string; index: number }[] }) =>
          inputs.flatMap((ref) => live.get(refKey(ref)) ?? []),
      };
      return Promise.resolve(ok({ query: (query, version, signal) => answerQuery(answers, query, version, signal) }));
    },
  });
  if (!served.ok) throw new Error(served.error.message);
  const relay = await fragment(path, moods.random);
  relay.breakAfter = breakAfter();
  const varying = setInterval(() => relay.breakAfter = breakAfter(), 10);
  const port = nodePort({ address: { path: relay.path }, magic: 42, log: silentLog, firstWaitMs: 5 });
  return {
    port,
    connections: () => relay.connections,
    stop: async () => {
      clearInterval(varying);
      port.close();
      await relay.close();
      await served.value.close();
      await rm(relay.path, { force: true });
    },
  };
}
