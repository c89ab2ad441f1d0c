/** Tokens as builds see them: the ledger's state and what pending transactions make of it, read at one point. */
import { created, type ScannedTransaction } from "#src/cardano/block.ts";
import { parseRefKey, refKey } from "#src/cardano/output.ts";
import { policyOf } from "#src/cardano/value.ts";
import { type Chainable, chainable, PENDING_SLOT, type PendingToken, pendingToken } from "#src/tokens/index/pending.ts";
import { cageProjection, requestsIn, scriptOf } from "#src/tokens/index/projection.ts";
import { contractRefs, readSpentAt, readToken, type TokenLookup } from "#src/tokens/index/read.ts";
import { spendRedeemers } from "#src/tokens/index/redeemers.ts";
import { cageScripts } from "#src/contract/script.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { foldPending, readPendingCbor, readPendingChain, readRowsFor } from "#src/chain/pending/chains.ts";
import { openInputs, readOvertaken } from "#src/chain/pending/lost.ts";
import type { Queries } from "#src/store/store.ts";

const scripts = new Set(cageScripts.map(({ hash }) => hash));

/** Whether an output is at the contract. */
const isContract = ({ address }: { readonly address: string }): boolean => scripts.has(scriptOf(address) ?? "");

/** Whether a transaction makes outputs of the contract, mints its tokens, or spends outputs by a script. */
export function concernsTokens(transaction: ScannedTransaction): boolean {
  return transaction.outputs.some(isContract) || spendRedeemers(transaction).size > 0 ||
    [...transaction.mint.keys()].some((asset) => scripts.has(policyOf(asset)));
}

/** A token after its pending transactions. */
export interface NewestToken extends PendingToken, Pick<Chainable, "conflict"> {
  /** Hashes of the pending transactions on which builds stand, in the order in which a block can hold them. */
  readonly chain: readonly string[];
  /** The status on the ledger. */
  readonly ledger: TokenLookup;
}

/** Reads a token with its pending transactions. `sql` must see one point of the index; `network` is the network id. */
export async function readNewestToken(sql: Queries, token: string, network: 0 | 1): Promise<NewestToken> {
  const [ledger, pending] = await Promise.all([
    readToken(sql, token),
    readPendingChain(sql, { containing: token, follows: isContract, spending: contractRefs(sql, token) }),
  ]);
  if (pending.length === 0) {
    return { after: ledger, ledger, changes: [], requests: [], spent: new Map(), chain: [] };
  }
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
  const chain = transactions.map(({ hash }) => hash);
  return { ...pendingToken(token, ledger, rows, folded), ledger, chain, ...(conflict ? { conflict } : {}) };
}

/**
 * Hashes of the pending transactions that a block has overtaken: another one has spent an output that they need. Of a
 * chain, only those that need an output of the ledger.
 */
export async function readOvertakenByBlocks(sql: Queries): Promise<readonly string[]> {
  const [coins, outputs] = await Promise.all([readOvertaken(sql), readSpentAt(sql, openInputs(sql))]);
  return [...new Set([...coins, ...outputs])];
}

/** The token of a request (`refKey`) that a pending transaction makes; `undefined` where none does. */
export async function readPendingRequestToken(sql: Queries, request: string): Promise<string | undefined> {
  const cbor = await readPendingCbor(sql, parseRefKey(request).txHash);
  if (cbor === undefined) return undefined;
  return [...requestsIn(scanTransaction(cbor), scripts)].find(({ ref }) => refKey(ref) === request)?.request.name;
}
