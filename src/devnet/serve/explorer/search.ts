/** Finds what a text names on the devnet. */
import type { z } from "zod";
import { fromHex, fromUtf8 } from "#src/base/bytes.ts";
import { isObject, parseJson } from "#src/base/json.ts";
import type { searchHit } from "#src/devnet/api/explorer.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { addressText, hexAddressText, rewardAddress } from "#src/cardano/address.ts";
import { actionText } from "#src/cardano/governanceId.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { isAccount } from "#src/devnet/index/reads/accounts.ts";
import { isUsed } from "#src/devnet/index/reads/addresses.ts";
import { readAssetsByFingerprint, readMintedAsset, readMintedAssets } from "#src/devnet/index/reads/assets.ts";
import {
  beginningWith,
  readAddressesWithin,
  readAssetsWithin,
  readDatumsWithin,
  readPoliciesWithin,
  readPoolsWithin,
  readScriptsWithin,
  readStakesWithin,
} from "#src/devnet/index/reads/beginnings.ts";
import { epochExists } from "#src/devnet/index/reads/epochs.ts";
import { readAction, readRepresentative } from "#src/devnet/index/reads/governance.ts";
import { poolExists } from "#src/devnet/index/reads/pools.ts";
import { readDatum, readScriptRow } from "#src/devnet/index/reads/scripts.ts";
import { epochOf } from "#src/devnet/ledger/epoch.ts";
import { readBlocks, readHashes, readHeightAt, readNewest } from "#src/devnet/blocks/rows.ts";
import { readHolder } from "#src/devnet/serve/blockfrost/addresses.ts";
import { textOfPool, textOfRepresentative } from "#src/devnet/serve/blockfrost/documents.ts";
import { findTransaction } from "#src/devnet/serve/explorer/state.ts";
import { type SearchTerm, searchTerms } from "#src/devnet/serve/explorer/searchTerms.ts";
import { credentialKey } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

type Hit = z.infer<typeof searchHit>;

interface SearchContext {
  readonly sql: Queries;
  readonly devnet: Devnet;
}

/** Most hits of one kind by a name or by a beginning. */
const LISTED = 10;

/** What is there of all that a text may name. */
export async function search(context: SearchContext, text: string) {
  const { understood, terms } = searchTerms(text, context.devnet.network.id);
  const hits: Hit[] = [];
  for (const term of terms) hits.push(...await find(context, term));
  return { understood, hits };
}

async function find({ sql, devnet }: SearchContext, term: SearchTerm): Promise<Hit[]> {
  switch (term.kind) {
    case "height": {
      const { blocks: [block] } = await readBlocks(sql, term.number, 1);
      return block?.height === term.number
        ? [{ kind: "block", id: block.hash, note: `Block ${block.height}, slot ${block.slot}` }]
        : [];
    }
    case "slot": {
      const height = await readHeightAt(sql, term.number);
      const { blocks: [block] } = height < 0 ? { blocks: [] } : await readBlocks(sql, height, 1);
      if (!block || term.number > Math.max(devnet.slot(), block.slot)) return [];
      const at = block.slot === term.number ? `of slot ${term.number}` : `the last block up to slot ${term.number}`;
      return [{ kind: "block", id: block.hash, note: `Block ${block.height}, ${at}` }];
    }
    case "epoch": {
      const current = epochOf(Math.max(0, devnet.tip().slot), devnet.genesis.terms.epochLength);
      if (term.number > current || !await epochExists(sql, term.number)) return [];
      return [{ kind: "epoch", id: String(term.number), note: `Epoch ${term.number}` }];
    }
    case "block": {
      const { found } = await readNewest(sql, [term.hash]);
      return found ? [{ kind: "block", id: found.hash, note: `Block ${found.height}` }] : [];
    }
    case "transaction": {
      const found = await findTransaction(sql, devnet, term.hash);
      if (!found) return [];
      return [{ kind: "transaction", id: term.hash, note: `Transaction ${found.status.replace("_", " ")}` }];
    }
    case "beginning":
      return await beginning({ sql, devnet }, term.hash, term.end);
    case "datum":
      return await readDatum(sql, term.hash) ? [{ kind: "datum", id: term.hash, note: "Datum" }] : [];
    case "pool":
      return await poolExists(sql, term.hash) ? [poolHit(devnet, term.hash)] : [];
    case "policy": {
      const minted = await readMintedAssets(sql, { limit: 1, offset: 0, order: "asc" }, term.hash);
      return minted.length > 0 ? [{ kind: "policy", id: term.hash, note: "Policy" }] : [];
    }
    case "script":
      return await readScriptRow(sql, term.hash) ? [{ kind: "script", id: term.hash, note: "Script" }] : [];
    case "address": {
      if (await isUsed(sql, readHolder(term.text, devnet.network.id).holder)) {
        return [{ kind: "address", id: term.text, note: "Address" }];
      }
      // of a hash it is only a guess that it is a payment credential
      const isWhole = parseAddress(term.text).ok;
      return isWhole ? [{ kind: "address", id: term.text, note: "Address that has no transaction yet" }] : [];
    }
    case "account":
      return await accountHits({ sql, devnet }, term.text);
    case "unit":
      return await readMintedAsset(sql, term.unit) ? [{ kind: "asset", id: term.unit, note: "Asset" }] : [];
    case "fingerprint":
      return (await readAssetsByFingerprint(sql, term.text)).map((unit) => ({
        kind: "asset",
        id: unit,
        note: "Asset",
      }));
    case "drep": {
      const found = await readRepresentative(sql, term.key);
      return found ? [{ kind: "drep", id: textOfRepresentative(term.key), note: "Representative (DRep)" }] : [];
    }
    case "action": {
      const found = await readAction(sql, term.action);
      return found ? [{ kind: "action", id: actionText(term.action), note: "Governance action" }] : [];
    }
    case "asset name":
      return (await readAssetsWithin(
        sql,
        // the name itself is the first of those that begin with it
        term.begins ? beginningWith(term.name) : { from: term.name, to: `${term.name}0` },
        LISTED,
      )).map(assetHit);
    case "pool name": {
      const wanted = term.text.toLowerCase();
      const fits = (name: string) => term.begins ? name.startsWith(wanted) : name === wanted;
      return devnet.genesis.pools.filter(({ metadata }) => namesIn(metadata).some(fits)).slice(0, LISTED)
        .map(({ id }) => poolHit(devnet, id));
    }
    case "pool beginning":
      return (await readPoolsWithin(sql, term.range, LISTED)).map((id) => poolHit(devnet, id)).filter(isIn(term));
    case "account beginning":
    case "address beginning":
      return await addressesOf({ sql, devnet }, term);
  }
}

async function accountHits({ sql, devnet }: SearchContext, text: string): Promise<Hit[]> {
  const address = parseAddress(text, devnet.network.id);
  if (!address.ok || address.value.kind !== "reward") return [];
  const known = await isAccount(sql, credentialKey(address.value.stake));
  const id = addressText(rewardAddress(devnet.network.id, address.value.stake));
  return [{ kind: "account", id, note: known ? "Stake account" : "Stake address that has no transaction yet" }];
}

/** Whether an id in bech32 has the beginning and the end of a term. */
const isIn = ({ text, end }: { readonly text: string; readonly end: string }) => ({ id }: Hit) =>
  id.startsWith(text) && id.endsWith(end);

/** Addresses with outputs, or accounts of such addresses, by the beginning of their bytes. */
async function addressesOf(
  { sql, devnet }: SearchContext,
  term: Extract<SearchTerm, { range: unknown }>,
): Promise<Hit[]> {
  const { from, to } = term.range;
  // the first digit is the address's type (CIP-19), of which a bit says that the hash is a script's
  const type = parseInt(from.charAt(0), 16);
  const isAccount = term.kind === "account beginning";
  const script = isAccount ? type === 0xf : (type & 1) === 1;
  const key = script ? "s" : "k";
  const credentials = { from: key + from.slice(2), to: key + to.slice(2) };
  if (isAccount) {
    return (await readStakesWithin(sql, credentials, LISTED)).map((stake): Hit => {
      const credential = { kind: script ? "script" : "key", hash: stake.slice(1) } as const;
      return { kind: "account", id: addressText(rewardAddress(devnet.network.id, credential)), note: "Stake account" };
    }).filter(isIn(term));
  }
  const addresses = await readAddressesWithin(sql, credentials, LISTED);
  return addresses.map((hex): Hit => ({ kind: "address", id: hexAddressText(hex) ?? hex, note: "Address" }))
    .filter(isIn(term)).slice(0, LISTED);
}

function assetHit(unit: string): Hit {
  const name = fromUtf8(fromHex(unit.slice(56)));
  const shown = name !== undefined && /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(name) ? `Asset ${name}` : "Asset";
  return { kind: "asset", id: unit, note: `${shown} of policy ${unit.slice(0, 8)}…` };
}

/** What has a hash with a beginning and an end: blocks and transactions, those of the mempool, pools, policies, scripts, datums. */
async function beginning({ sql, devnet }: SearchContext, hash: string, end: string): Promise<Hit[]> {
  const found = (await readHashes(sql, hash, LISTED, end)).map(({ kind, hash, height }): Hit => ({
    kind,
    id: hash,
    note: kind === "block" ? `Block ${height}` : `Transaction in block ${height}`,
  }));
  const waiting = devnet.mempool().map(({ transaction }) => transaction.hash)
    .filter((one) => one.startsWith(hash) && one.endsWith(end));
  const hits = waiting.map((id): Hit => ({ kind: "transaction", id, note: "Transaction in mempool" }));
  const range = beginningWith(hash);
  const listed = await Promise.all([
    readPoolsWithin(sql, range, LISTED).then((ids) => ids.map((id) => ({ hash: id, hit: poolHit(devnet, id) }))),
    readPoliciesWithin(sql, range, LISTED).then((ids) => ids.map(hashHit("policy", "Policy"))),
    readScriptsWithin(sql, range, LISTED).then((ids) => ids.map(hashHit("script", "Script"))),
    readDatumsWithin(sql, range, LISTED).then((ids) => ids.map(hashHit("datum", "Datum"))),
  ]);
  const others = listed.flat().filter((one) => one.hash.endsWith(end)).map(({ hit }) => hit);
  return [...found, ...hits.slice(0, LISTED), ...others];
}

const hashHit = (kind: Hit["kind"], note: string) => (id: string) => ({ hash: id, hit: { kind, id, note } });

function poolHit({ genesis }: Devnet, id: string): Hit {
  const metadata = genesis.pools.find((pool) => pool.id === id)?.metadata;
  const [, name] = namesIn(metadata);
  return { kind: "pool", id: textOfPool(id), note: name === undefined ? "Stake pool" : `Stake pool ${name}` };
}

/** Ticker and name of a pool's metadata, in lower case. */
function namesIn(metadata: string | undefined): string[] {
  const json = metadata === undefined ? undefined : parseJson(metadata);
  if (!isObject(json)) return [];
  return [json.ticker, json.name].flatMap((name) => typeof name === "string" ? [name.toLowerCase()] : []);
}
