/** What a transaction of a history does in governance, in sentences. */
import type { Transaction } from "./service.ts";

const VOTES = { yes: "Yes", no: "No", abstain: "Abstain" } as const;
const VOTERS = { committee: "the committee member", drep: "the representative", pool: "the pool" } as const;
const PROPOSALS = {
  parameters: "a change of the protocol's parameters",
  hard_fork: "a new version of the protocol",
  treasury: "payments from the treasury",
  no_confidence: "a motion of no confidence",
  committee: "another committee",
  constitution: "another constitution",
  info: "an opinion",
} as const;
type Certificate = Transaction["certificates"][number];
/** What a certificate does, and to whom it does it where that is not this wallet. */
const CERTIFICATES: Readonly<Record<string, readonly [own: string, other: string]>> = {
  register_drep: ["Registers this wallet as a representative", "Registers the representative"],
  update_drep: ["Replaces this wallet's metadata as a representative", "Replaces the metadata of the representative"],
  unregister_drep: ["Ends this wallet's registration as a representative", "Ends the registration of"],
  authorize: ["", "Names the voting key of the committee member"],
  resign: ["", "Ends the office of the committee member"],
};

/** Sentences about certificates, votes and proposals; none where the transaction has no part in governance. */
export function governanceWords({ certificates, votes = [], proposals = [] }: Transaction): readonly string[] {
  return [
    ...certificates.flatMap(certificateWords),
    ...votes.map(({ voter_role: role, voter, derivation_path: own, action, vote }) =>
      `${own ? "" : `As ${VOTERS[role]} ${voter}: `}${VOTES[vote]} on ${action}`
    ),
    ...proposals.map(({ id, action, return_account_path: own, return_account: account }) =>
      `Proposes ${PROPOSALS[action]} (${id}); the deposit returns to ${own ? "this wallet's rewards" : account}`
    ),
  ];
}

function certificateWords(certificate: Certificate): string[] {
  const words = CERTIFICATES[certificate.certificate_type];
  if (words === undefined) return [];
  const { drep, drep_path: own, committee_cold: member } = certificate as Extract<Certificate, { drep?: unknown }>;
  return [own ? words[0] : `${words[1]} ${drep ?? member ?? ""}`.trim()];
}

/** What it is for, in a word; undefined where it has no part in governance. */
export function governancePurpose({ certificates, votes = [], proposals = [] }: Transaction): string | undefined {
  const types = new Set<string>(certificates.map(({ certificate_type: type }) => type));
  if (proposals.length > 0) return "Proposed a governance action";
  if (votes.length > 0) return "Voted";
  if (types.has("register_drep")) return "Became a representative";
  if (types.has("unregister_drep")) return "Ended being a representative";
  if (types.has("update_drep")) return "Changed a representative's metadata";
  return types.has("authorize") || types.has("resign") ? "Changed the committee" : undefined;
}
