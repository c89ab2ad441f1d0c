/** Votes, proposals, and certificates of representatives and of the committee, as the API shows them. */
import type { Messaged } from "#src/base/json.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { actionText, committeeText } from "#src/cardano/governanceId.ts";
import { pathText } from "#src/cardano/keys/paths.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { BuiltCertificate, DecodedProposal, DecodedVoter } from "#src/wallets/builds/types.ts";
import { addressView, lovelace } from "#src/wallets/http/amountViews.ts";
import { poolText } from "#src/wallets/http/delegationView.ts";

/** A document and its hash. */
export function anchorView(anchor: { readonly url: string; readonly hash: string } | undefined) {
  return anchor && { url: anchor.url, data_hash: anchor.hash };
}

const actionView = ({ txHash, index }: Messaged<OutRef>) => actionText({ txHash, index: Number(index) });
const pathView = (path: Messaged<readonly number[]> | undefined) => path && pathText(path.map(Number));

/** Votes, one after the other; undefined where there are none. */
export function votesView(voters: readonly Messaged<DecodedVoter>[] | undefined) {
  if (voters === undefined || voters.length === 0) return undefined;
  return voters.flatMap(({ role, credential, votes, path }) =>
    votes.map(({ action, vote, anchor }) => ({
      voter_role: role,
      voter: role === "drep"
        ? drepId(credential)
        : role === "pool"
        ? poolText(credential.hash)
        : committeeText("hot", credential),
      derivation_path: pathView(path),
      action: actionView(action),
      vote,
      anchor: anchorView(anchor),
    }))
  );
}

/** What a transaction proposes; undefined where that is nothing. */
export function proposalsView(proposals: readonly Messaged<DecodedProposal>[]) {
  if (proposals.length === 0) return undefined;
  return proposals.map(({ id, kind, deposit, account, path, anchor }) => ({
    id: actionView(id),
    action: kind.replace(" ", "_"),
    deposit: lovelace(deposit),
    return_account: addressView(account),
    return_account_path: pathView(path),
    anchor: anchorView(anchor),
  }));
}

/** A certificate of a representative or of a member of the committee. */
export function governanceCertificateView(
  { certificate, path }: Messaged<Extract<BuiltCertificate, { readonly type: "governance" }>>,
) {
  const certificate_type = certificate.kind.replaceAll(" ", "_");
  switch (certificate.kind) {
    case "authorize": {
      const { cold, hot } = certificate;
      return {
        certificate_type,
        committee_cold: committeeText("cold", cold),
        committee_hot: committeeText("hot", hot),
      };
    }
    case "resign": {
      const { cold, anchor } = certificate;
      return { certificate_type, committee_cold: committeeText("cold", cold), anchor: anchorView(anchor) };
    }
    default:
      return {
        certificate_type,
        drep: drepId(certificate.credential),
        drep_path: pathView(path),
        deposit: certificate.kind === "register drep"
          ? lovelace(certificate.deposit)
          : certificate.kind === "unregister drep"
          ? lovelace(certificate.refund)
          : undefined,
        anchor: "anchor" in certificate ? anchorView(certificate.anchor) : undefined,
      };
  }
}
