/** The port on a node that closes the connection when queried for one transaction of its mempool. */
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import { encode } from "#src/cardano/cbor.ts";
import { nodePort } from "#src/chain/provider/node/port.ts";
import { answerQuery } from "#src/node/queries/answering.ts";
import { serveNode } from "#src/node/server/server.ts";
import type { ServedTransaction } from "#src/node/server/handlers.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { spend } from "../../../../support/devnet/devnet.ts";
import { socketPath } from "../../../../support/chain/nodeChain.ts";
import { coin, person } from "../../../../support/wallets/person.ts";

const alice = person("alice");

/** A valid transaction; the server fails at its hash. */
const unnamed = (bytes: Uint8Array): ServedTransaction => ({
  era: CONWAY,
  bytes,
  get hash(): string {
    throw new Error("no such question here");
  },
});

test("its whole mempool is read instead, before and after a refusal", async () => {
  const pay = (lovelace: bigint) =>
    spend({ from: alice, inputs: [coin(alice.enterprise, lovelace)], outputs: [[alice.enterprise, 1_000_000n]] });
  const waiting = pay(2_000_000n), absent = pay(3_000_000n);
  const path = socketPath();
  let connections = 0;
  const answers = { era: CONWAY, point: () => ({ slot: -1, hash: "" }), utxoByInput: () => [] };
  const served = await serveNode({ path }, {
    magic: 42,
    submit: () => Promise.resolve(encode("no")),
    mempool: () => Promise.resolve({ slot: 1, capacity: 1_000, transactions: [unnamed(waiting.cbor)] }),
    acquire: () =>
      Promise.resolve(ok({ query: (query, version, signal) => answerQuery(answers, query, version, signal) })),
  }, { onEnd: () => connections++ });
  if (!served.ok) throw new Error(served.error.message);
  const port = nodePort({ address: { path }, magic: 42, log: silentLog, firstWaitMs: 5 });
  try {
    expect(await port.submit(waiting.cbor)).toEqual(ok({ outcome: "accepted" }));
    expect(connections).toBe(1);
    expect(await port.inMempool(waiting.hash)).toEqual(ok(true));
    expect(await port.inMempool(absent.hash)).toEqual(ok(false));
    expect(await port.submit(absent.cbor)).toEqual(
      ok({ outcome: "refused", failures: [{ name: "ConwayMempoolFailure", message: "no" }] }),
    );
    // a transaction that the node does not have is queried once
    expect(connections).toBe(1);
  } finally {
    port.close();
    await served.value.close();
  }
});
