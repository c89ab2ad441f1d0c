/**
 * Answers that prove that nothing was left out, against the root of all unspent outputs. All parts of an answer are read in
 * one transaction. What is proven is read from the outputs; of the index only facts, and where a token's state is.
 */
import { toHex } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import type { BlockRoot, EncodedOutput, Proved, UtxoRootReads } from "#src/chain/utxoRoot/reads.ts";
import { cageScripts } from "#src/contract/script.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endOfBlock, type FactRow, readFactPage, readTokenPoint } from "#src/tokens/index/factPages.ts";
import { PAGE } from "#src/tokens/http/facts.ts";
import { factsQuarantined, tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { answered, refusal } from "#src/tokens/http/status.ts";
import type { Queries } from "#src/store/store.ts";

/** Refusals of every endpoint that can prove its answer. */
export const PROVING = {
  413: "`answer_too_large`: what would have to be proven is more than one response may have",
  501: "`no_utxo_root`: this instance keeps no root of all unspent outputs, so it proves no answers",
  503: "`utxo_root_unavailable`, `index_behind`: with `proof`, while the root or the index catches up",
};

/** Facts of one answer at most; more are verified by pages against the root of a proven state. */
const MOST_FACTS = 50_000;
/** Bytes of outputs, or of keys and values, of one answer at most. */
const MOST_BYTES = 16_000_000;

/** How often, and how long apart in milliseconds, an index that is behind the root is read. */
const ATTEMPTS = 20;
const AGAIN_MS = 50;

type Service = Pick<TokenService, "networkId" | "utxoRoot">;

type PointReads = Parameters<Parameters<UtxoRootReads["together"]>[0]>[0];

/** The proof of the list of tokens. */
export async function provedTokens(service: Service) {
  const { snapshot, sets } = await contractSets(service);
  return { snapshot, tokens: sets };
}

/** The proof of the open requests of a token: of all outputs of the contract, as requests of all tokens are together. */
export async function provedRequests(service: Service) {
  const { snapshot, sets } = await contractSets(service);
  return { snapshot, request_set: sets };
}

/** The proof of a token's state. */
export async function provedToken(service: Service, token: string) {
  return await atState(
    service,
    token,
    false,
    ({ at }, { utxo }) => Promise.resolve({ ...snapshotView(at), state: { utxo } }),
  );
}

/** All facts of a token with the proof of the state that has their root. */
export async function provedFacts(service: Service, token: string) {
  return await atState(service, token, true, async ({ at, sql }, { utxo, slot }) => {
    const facts = await allFacts(sql, token, slot);
    const views = facts.map(({ key, value }) => ({ key: toHex(key), value: toHex(value) }));
    return { ...snapshotView(at), state: { utxo }, facts: views };
  });
}

async function contractSets({ networkId, utxoRoot }: Service) {
  const addresses = cageScripts.map(({ hash }) => scriptAddress(networkId, hash).hex);
  const read = await reads(utxoRoot).together(async ({ at, address }) => {
    const sets: (readonly [string, Proved<readonly EncodedOutput[]>])[] = [];
    for (const hex of addresses) {
      const set = await address(hex);
      if (!set) throw tooLarge("The contract has too many outputs");
      sets.push([hex, set]);
    }
    return { at, sets };
  });
  const { at, sets } = answered(read);
  const bytes = sets.flatMap(([, { value }]) => value).reduce((sum, { cbor }) => sum + cbor.length, 0);
  if (bytes > MOST_BYTES) throw tooLarge("The outputs of the contract have too many bytes");
  return {
    ...snapshotView(at),
    sets: sets.map(([address, { value, proof }]) => ({
      address,
      entries: value.map(({ ref, cbor }) => ({ ref: refView(ref), txout_cbor: toHex(cbor) })),
      completeness_proof: toHex(proof),
    })),
  };
}

/** An answer about a token's state, once the index knows the state that is unspent. */
async function atState<T>(
  { utxoRoot }: Service,
  token: string,
  withFacts: boolean,
  view: (reads: PointReads, state: { readonly utxo: ReturnType<typeof utxoView>; readonly slot: number }) => Promise<T>,
): Promise<T> {
  for (let attempt = 1;; attempt++) {
    const found = answered(
      await reads(utxoRoot).together(async (point) => {
        const now = await readTokenPoint(point.sql, token);
        if (now.status === "unknown" || now.status === "ended") return tokenGone(token, now.status);
        if (withFacts && now.status === "quarantined") return factsQuarantined(now.reason);
        const proved = await point.output(parseRefKey(now.state.ref));
        return proved && { view: await view(point, { utxo: utxoView(proved), slot: now.state.slot }) };
      }),
    );
    if (found && "view" in found) return found.view;
    // a token that is unknown may be in a block that the index has not read
    if (found instanceof HttpFailure && (found.code === "token_quarantined" || attempt > 1)) throw found;
    if (attempt === ATTEMPTS) {
      throw refusal({
        code: "index_behind",
        message: "The index of tokens is behind the root of the unspent outputs.",
      });
    }
    await sleep(AGAIN_MS);
  }
}

async function allFacts(sql: Queries, token: string, slot: number): Promise<readonly FactRow[]> {
  const facts: FactRow[] = [];
  let bytes = 0;
  let after: string | undefined;
  for (;;) {
    const page = await readFactPage(sql, { token, at: endOfBlock(slot), order: "digest" }, after, PAGE);
    if (!page) throw new Error("a page of facts is gone within a transaction");
    for (const fact of page.facts) bytes += fact.key.length + fact.value.length;
    facts.push(...page.facts);
    if (facts.length > MOST_FACTS || bytes > MOST_BYTES) {
      throw tooLarge("The facts are too many; read them by pages and verify them against the root of the proven state");
    }
    if (page.next === undefined) return facts;
    after = page.next;
  }
}

function reads(utxoRoot: UtxoRootReads | undefined): UtxoRootReads {
  if (utxoRoot) return utxoRoot;
  throw new HttpFailure(
    501,
    "no_utxo_root",
    "This instance keeps no root of all unspent outputs, so it proves no answers.",
  );
}

function tooLarge(why: string): HttpFailure {
  return new HttpFailure(413, "answer_too_large", `${why} for one response.`);
}

function snapshotView({ slot, hash, root }: BlockRoot) {
  return { snapshot: { utxo_root: root && toHex(root), chainpoint: { slot, block_id: hash } } };
}

function refView({ txHash, index }: EncodedOutput["ref"]) {
  return { tx_id: txHash, tx_ix: index };
}

function utxoView({ value, proof }: Proved<EncodedOutput>) {
  return { tx_in: refView(value.ref), tx_out: toHex(value.cbor), utxo_proof: toHex(proof) };
}
