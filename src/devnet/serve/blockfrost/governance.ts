/**
 * Operations of the group Governance.
 *
 * `ratified_epoch` and `expired_epoch` are those at whose beginning that was decided; in the next one an action is enacted or
 * dropped. The devnet reads no documents from the internet.
 */
import { isHex, toHex } from "#src/base/bytes.ts";
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { decodeAll } from "#src/cardano/cbor.ts";
import { walkCertificate } from "#src/cardano/certificates.ts";
import { type ActionId, type Proposal, readProposal } from "#src/cardano/conway/governance.ts";
import { actionText, committeeText, parseActionText } from "#src/cardano/governanceId.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import {
  type ActionRow,
  type CastVote,
  readAction,
  readActions,
  readRepresentative,
  readRepresentatives,
  readRepresentativeUpdates,
  readVotes,
  readVotingAccounts,
  type RepresentativeRow,
  type RepresentativeUpdate,
} from "#src/devnet/index/reads/governance.ts";
import { atOneState, type Page } from "#src/devnet/index/reads/page.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import {
  representativeOf,
  textOfAccount,
  textOfPool,
  textOfRepresentative,
} from "#src/devnet/serve/blockfrost/documents.ts";
import { malformed } from "#src/devnet/serve/blockfrost/failures.ts";
import { get, list, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import {
  ACTION_TYPES,
  actionDescription,
  parametersDocument,
  treasuryPayments,
} from "#src/devnet/serve/blockfrost/proposalDocuments.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { parseCredentialKey } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

/** Documents of others are not read. */
const UNREAD = { code: "CONNECTION_ERROR", message: "The devnet reads no documents from the internet." };
const ROLES = { committee: "constitutional_committee", drep: "drep", pool: "spo" } as const;
const BOOLEANS = ["true", "false"];

/** The operations about representatives. */
export function representativeOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  /** Reads a part of a representative; undefined where the chain does not know it. */
  const ofDrep = <T>(text: string, read: (sql: Queries, row: RepresentativeRow) => Promise<T>) => {
    const drep = representativeOf(text);
    if (drep === undefined) throw malformed.representative();
    return atOneState(store, async (sql) => {
      const row = await readRepresentative(sql, drep) ?? alwaysThere(drep);
      return row && await read(sql, row);
    });
  };

  return [
    list(
      "/governance/dreps",
      "ordered",
      async (_, { page, chosen: { order_by, retired, expired } }) => {
        const by = order_by === "amount" ? order_by : undefined;
        const flag = (text: string | undefined) => text === undefined ? undefined : text === "true";
        const filter = { by, retired: flag(retired), expired: flag(expired) } as const;
        return (await readRepresentatives(store.sql, filter, page)).map((row) => {
          const link = anchorOf(row);
          return {
            ...drepMembers(row),
            metadata: link ? { url: link.url, hash: link.hash, json_metadata: null, bytes: null, error: UNREAD } : null,
          };
        });
      },
      { order_by: ["amount"], retired: BOOLEANS, expired: BOOLEANS },
    ),
    get(
      "/governance/dreps/{drep_id}",
      ({ drep_id }) =>
        ofDrep(drep_id, async (_, row) => ({ ...drepMembers(row), active: !row.retired, active_epoch: row.since })),
    ),
    list(
      "/governance/dreps/{drep_id}/delegators",
      "ordered",
      ({ drep_id }, { page }) =>
        ofDrep(
          drep_id,
          async (sql, { drep }) =>
            (await readVotingAccounts(sql, drep, page)).map(({ credential, lovelace }) => ({
              address: textOfAccount(genesis.network.id, credential),
              amount: lovelace,
            })),
        ),
    ),
    get("/governance/dreps/{drep_id}/metadata", ({ drep_id }) =>
      ofDrep(drep_id, async (_, row) => {
        const link = anchorOf(row);
        const { drep_id, hex } = drepMembers(row);
        return link &&
          { drep_id, hex, url: link.url, hash: link.hash, json_metadata: null, bytes: null, error: UNREAD };
      })),
    list(
      "/governance/dreps/{drep_id}/updates",
      "ordered",
      ({ drep_id }, { page }) =>
        ofDrep(
          drep_id,
          async (sql, { drep }) => (await readRepresentativeUpdates(sql, drep, page)).map(updateDocument),
        ),
    ),
    list(
      "/governance/dreps/{drep_id}/votes",
      "ordered",
      ({ drep_id }, { page }) =>
        ofDrep(
          drep_id,
          async (sql, { drep }) =>
            (await readVotes(sql, { role: "drep", voters: [drep] }, page)).map(representativeVote),
        ),
    ),
  ];
}

/** The two votes that need no representative, before an account delegates to them. */
function alwaysThere(drep: string): RepresentativeRow | undefined {
  if (drep !== "abstain" && drep !== "no confidence") return undefined;
  return { drep, retired: false, expired: false, lovelace: "0", since: null, active: null, cbor: null };
}

/** The operations about governance actions. */
export function proposalOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  /** Reads a part of an action; undefined where the chain does not know it. */
  const ofAction = <T>(id: ActionId, read: (row: ActionRow, proposal: Proposal, sql: Queries) => Promise<T> | T) =>
    atOneState(store, async (sql) => {
      const row = await readAction(sql, id);
      return row && await read(row, proposalOf(row), sql);
    });
  const views = {
    "": (id: ActionId) => ofAction(id, (row, proposal) => proposalDocument(genesis, row, proposal)),
    "/parameters": (id: ActionId) =>
      ofAction(
        id,
        (row, { action }) =>
          action.kind === "parameters"
            ? { ...idMembers(row), parameters: parametersDocument(action.changes) }
            : undefined,
      ),
  };
  const lists = {
    "/withdrawals": (id: ActionId, { offset, limit, order }: Page) =>
      ofAction(id, (_, { action }) => {
        const payments = treasuryPayments(action);
        return (order === "desc" ? payments.reverse() : payments).slice(offset, offset + limit);
      }),
    "/votes": (id: ActionId, page: Page) =>
      ofAction(id, async (_row, _proposal, sql) =>
        (await readVotes(sql, { action: id }, page)).map((vote) => ({
          tx_hash: vote.tx_hash,
          cert_index: vote.vote_index,
          voter_role: ROLES[vote.role],
          voter: voterText(vote),
          vote: vote.vote,
          counted: vote.counted,
        }))),
  };
  const metadata = (id: ActionId, more: object) =>
    ofAction(id, (row, { anchor: { url, hash } }) => ({
      ...idMembers(row),
      url,
      hash,
      json_metadata: null,
      bytes: "\\x",
      ...more,
    }));

  return [
    list(
      "/governance/proposals",
      "ordered",
      async (_, { page }) =>
        (await readActions(store.sql, page)).map((row) => ({
          ...idMembers(row),
          governance_type: ACTION_TYPES[row.kind],
        })),
    ),
    ...(["", "/parameters"] as const).flatMap((part) => [
      get(`/governance/proposals/{tx_hash}/{cert_index}${part}`, (id) => views[part](placeOf(id))),
      get(`/governance/proposals/{gov_action_id}${part}`, ({ gov_action_id }) => views[part](actionOf(gov_action_id))),
    ]),
    ...(["/withdrawals", "/votes"] as const).flatMap((part) => [
      list(
        `/governance/proposals/{tx_hash}/{cert_index}${part}`,
        "ordered",
        (id, { page }) => lists[part](placeOf(id), page),
      ),
      list(
        `/governance/proposals/{gov_action_id}${part}`,
        "ordered",
        ({ gov_action_id }, { page }) => lists[part](actionOf(gov_action_id), page),
      ),
    ]),
    get("/governance/proposals/{tx_hash}/{cert_index}/metadata", (id) => metadata(placeOf(id), {})),
    get(
      "/governance/proposals/{gov_action_id}/metadata",
      ({ gov_action_id }) => metadata(actionOf(gov_action_id), { bytes: null, error: UNREAD }),
    ),
  ];
}

/** The id in a path. @throws {HttpFailure} 400 where it is none */
function actionOf(text: string): ActionId {
  const id = parseActionText(text);
  if (!id) throw malformed.action();
  return id;
}

function placeOf({ tx_hash, cert_index }: { readonly tx_hash: string; readonly cert_index: number }): ActionId {
  if (!isHex(tx_hash, 32) || cert_index < 0 || cert_index > 65_535) throw malformed.action();
  return { txHash: tx_hash.toLowerCase(), index: cert_index };
}

/** The proposal of an action. */
export const proposalOf = ({ cbor }: Pick<ActionRow, "cbor">): Proposal =>
  readProposal(decodeAll(new Uint8Array(cbor)));

/** Last epoch in which an action could be voted on. */
export function lastEpoch(
  { parameters }: Pick<Genesis, "parameters">,
  { epoch, lifetime }: Pick<ActionRow, "epoch" | "lifetime">,
): number {
  return epoch + (lifetime ?? protocolParameters(parameters).govActionLifetime);
}

function idMembers({ tx_hash, index }: ActionRow) {
  return { id: actionText({ txHash: tx_hash, index }), tx_hash, cert_index: index };
}

function proposalDocument(genesis: Genesis, row: ActionRow, { deposit, account, action }: Proposal) {
  return {
    ...idMembers(row),
    governance_type: ACTION_TYPES[row.kind],
    governance_description: actionDescription(action),
    deposit: String(deposit),
    return_address: addressText(rewardAddress(account.network, account.credential)),
    ratified_epoch: row.ratified,
    enacted_epoch: row.enacted,
    dropped_epoch: row.dropped,
    expired_epoch: row.expired,
    expiration: lastEpoch(genesis, row),
  };
}

/** Text of a voter. */
export function voterText({ role, voter }: Pick<CastVote, "role" | "voter">): string {
  const credential = parseCredentialKey(voter);
  if (role === "pool") return textOfPool(credential.hash);
  return role === "drep" ? textOfRepresentative(voter) : committeeText("hot", credential);
}

function drepMembers({ drep, retired, expired, lovelace, active }: RepresentativeRow) {
  const id = textOfRepresentative(drep);
  const read = fromBech32(id);
  return {
    drep_id: id,
    hex: read ? toHex(read.bytes) : "",
    amount: lovelace,
    has_script: drep.startsWith("s"),
    retired,
    expired,
    last_active_epoch: active,
  };
}

function updateDocument({ tx_hash, cert_index, kind, deposit }: RepresentativeUpdate) {
  return {
    tx_hash,
    cert_index,
    action: ({ drep_register: "registered", drep_update: "updated", drep_deregister: "deregistered" })[kind],
    deposit: deposit === null ? null : String(deposit),
  };
}

/** A vote in the list of the representative who cast it. */
function representativeVote(vote: CastVote) {
  return {
    tx_hash: vote.tx_hash,
    cert_index: vote.vote_index,
    proposal_id: actionText({ txHash: vote.action_tx, index: vote.action_index }),
    proposal_tx_hash: vote.action_tx,
    proposal_cert_index: vote.action_index,
    vote: vote.vote,
  };
}

/** The document that the last registration or update of a representative names. */
function anchorOf({ cbor }: RepresentativeRow) {
  if (cbor === null) return undefined;
  const certificate = walkCertificate(new Walk(new Uint8Array(cbor)));
  return "anchor" in certificate ? certificate.anchor : undefined;
}
