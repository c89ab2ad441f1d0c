/** Tokens as builds see them: the ledger's state and what pending transactions make of it, read at one point. */
import { created } from "#src/cardano/block.ts";
import { parseRefKey, refKey } from "#src/cardano/output.ts";
import { type Chainable, chainable, PENDING_SLOT, type PendingToken, pendingToken } from "#src/cage/index/pending.ts";
import { cageProjection, requestsIn, scriptOf } from "#src/cage/index/projection.ts";
import { contractRefs, readToken } from "#src/cage/index/read.ts";
import { cageScripts } from "#src/cage/script.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { foldPending, readPendingCbor, readPendingChain, readRowsFor } from "#src/chain/pending/chains.ts";
import type { Queries } from "#src/store/store.ts";

const scripts = new Set(cageScripts.map(({ hash }) => hash));

/** Whether an output is at the contract. */
const isContract = ({ address }: { readonly address: string }): boolean => scripts.has(scriptOf(address) ?? "");

/** A token after its pending transactions. */
export interface NewestToken extends PendingToken, Pick<Chainable, "conflict"> {}

/** Reads a token with its pending transactions. `sql` must see one point of the index; `network` is the network id. */
export async function readNewestToken(sql: Queries, token: string, network: 0 | 1): Promise<NewestToken> {
  const [ledger, pending] = await Promise.all([
    readToken(sql, token),
    readPendingChain(sql, { containing: token, follows: isContract, spending: contractRefs(sql, token) }),
  ]);
  if (pending.length === 0) return { standing: ledger, changes: [], requests: [], spent: new Map() };
  const projection = cageProjection({ scripts: [...scripts], network, facts: false });
  const before = await readRowsFor(sql, projection, pending, PENDING_SLOT);
  const { transactions, conflict } = chainable(
    pending,
    before,
    (one) => created(one).filter(({ output }) => isContract(output)).map(({ ref }) => refKey(ref)),
  );
  const rows = transactions.length === pending.length
    ? before
    : await readRowsFor(sql, projection, transactions, PENDING_SLOT);
  const folded = await foldPending(sql, projection, transactions, PENDING_SLOT, rows);
  return { ...pendingToken(token, ledger, rows, folded), ...(conflict ? { conflict } : {}) };
}

/** The token of a request (`refKey`) that a pending transaction makes; `undefined` where none does. */
export async function readPendingRequestToken(sql: Queries, request: string): Promise<string | undefined> {
  const cbor = await readPendingCbor(sql, parseRefKey(request).txHash);
  if (cbor === undefined) return undefined;
  return [...requestsIn(scanTransaction(cbor), scripts)].find(({ ref }) => refKey(ref) === request)?.request.name;
}
