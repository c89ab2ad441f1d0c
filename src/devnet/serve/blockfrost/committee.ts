/** Operations of the group Governance about the constitutional committee: who is in office, and its votes. */
import { walkCertificate } from "#src/cardano/certificates.ts";
import { actionText, committeeText, parseCommitteeText } from "#src/cardano/governanceId.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { type CastVote, readAuthorizations, readVotes } from "#src/devnet/index/reads/governance.ts";
import { secondsOf } from "#src/devnet/serve/blockfrost/documents.ts";
import { malformed } from "#src/devnet/serve/blockfrost/failures.ts";
import { voterText } from "#src/devnet/serve/blockfrost/governance.ts";
import { get, list, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import { ACTION_TYPES } from "#src/devnet/serve/blockfrost/proposalDocuments.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { governanceOf } from "#src/ledger/governance/actions.ts";
import { type CommitteeMember, credentialKey, type LedgerState, parseCredentialKey } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

/** The operations about the constitutional committee. */
export function committeeOperations({ devnet, store: { sql } }: BlockfrostService): Operation[] {
  const { genesis } = devnet;
  const committeeVote = (vote: CastVote) => ({
    tx_hash: vote.tx_hash,
    voter_hot_id: voterText(vote),
    proposal_id: actionText({ txHash: vote.action_tx, index: vote.action_index }),
    proposal_tx_hash: vote.action_tx,
    proposal_index: vote.action_index,
    governance_type: ACTION_TYPES[vote.kind ?? ""] ?? ACTION_TYPES.info,
    vote: vote.vote,
    metadata_url: vote.url,
    metadata_hash: vote.url_hash,
    block_height: Number(vote.height),
    block_time: secondsOf(genesis, vote.slot),
  });

  return [
    get("/governance/committee", async () => await devnet.query(committeeDocument)),
    list(
      "/governance/committee/votes",
      "ordered",
      async (_, { page }) => (await readVotes(sql, { role: "committee" }, page)).map(committeeVote),
    ),
    list("/governance/committee/{cc_id}/votes", "ordered", async ({ cc_id }, { page }) => {
      const read = parseCommitteeText(cc_id);
      if (!read) throw malformed.committee();
      const key = credentialKey(read.credential);
      const voters = read.of === "hot" ? [key] : await hotKeysOf(devnet, sql, key);
      return (await readVotes(sql, { role: "committee", voters }, page)).map(committeeVote);
    }),
  ];
}

/** Hot keys that a member of the committee has authorized over time; the one of now may be the genesis's. */
async function hotKeysOf(devnet: Pick<Devnet, "query">, sql: Queries, cold: string): Promise<string[]> {
  const now = await devnet.query(({ committee }) => committee.get(cold)?.hot);
  const before = (await readAuthorizations(sql, cold)).flatMap((cbor) => {
    const certificate = walkCertificate(new Walk(new Uint8Array(cbor)));
    return certificate.kind === "authorize" ? [credentialKey(certificate.hot)] : [];
  });
  return [...new Set([...before, ...now === undefined ? [] : [now]])];
}

/** The committee in office. Members of one that was dismissed are not known any longer. */
function committeeDocument(state: LedgerState) {
  const { enacted, quorum } = governanceOf(state);
  const seated = quorum === undefined ? undefined : enacted.committee;
  const action = seated === undefined ? undefined : parseRefKey(seated);
  const members = [...state.committee.entries()].filter(([, { elected }]) => elected).sort(([a], [b]) =>
    a < b ? -1 : 1
  );
  return {
    gov_action_id: action ? actionText(action) : null,
    proposal_tx_hash: action?.txHash ?? null,
    proposal_index: action?.index ?? null,
    is_dissolved: quorum === undefined,
    quorum: { numerator: Number(quorum?.numerator ?? 0n), denominator: Number(quorum?.denominator ?? 1n) },
    members: members.map(([key, member]) => memberDocument(key, member)),
  };
}

function memberDocument(key: string, { hot, resigned, until = 0 }: CommitteeMember) {
  const cold = parseCredentialKey(key);
  const authorized = hot === undefined || resigned ? undefined : parseCredentialKey(hot);
  return {
    cc_cold_id: committeeText("cold", cold),
    cc_cold_hex: cold.hash,
    cc_cold_has_script: cold.kind === "script",
    cc_hot_id: authorized ? committeeText("hot", authorized) : null,
    cc_hot_hex: authorized?.hash ?? null,
    cc_hot_has_script: authorized ? authorized.kind === "script" : null,
    status: resigned ? "resigned" : authorized ? "authorized" : "not_authorized",
    expiration_epoch: until,
  };
}
