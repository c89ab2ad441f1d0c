/** What a transaction does with a wallet's DRep key, read from its bytes: certificates of its representative, and votes. */
import type { Credential } from "#src/cardano/address.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Anchor, Certificate } from "#src/cardano/certificates.ts";
import { votersIn } from "#src/cardano/governed.ts";
import { actionText } from "#src/cardano/governanceId.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Described } from "#src/pages/wallet/described.ts";

/** What the user wants of the wallet as a representative. */
export interface RequestedGovernance {
  readonly drep?: { readonly action: "register" | "update" | "deregister"; readonly anchor?: Anchor | undefined };
  /** On actions as `<transaction>#<index>`. */
  readonly votes?: readonly { readonly action: string; readonly vote: "yes" | "no" | "abstain" }[];
}

export type DrepCertificate = Extract<Certificate, { kind: "register drep" | "update drep" | "unregister drep" }>;

const ACTIONS = { "register drep": "register", "update drep": "update", "unregister drep": "deregister" } as const;

const TEXTS = {
  register: "Registers this wallet as a representative, for a deposit",
  update: "Replaces the metadata of this wallet as a representative",
  deregister: "Ends the registration of this wallet as a representative, and returns the deposit",
} as const;

const isSame = (a: Credential, b: Credential | undefined) => a.kind === b?.kind && a.hash === b.hash;

/** A certificate of a representative. */
export function describeDrep(certificate: DrepCertificate, drep: Credential | undefined): Described {
  const action = ACTIONS[certificate.kind];
  const anchor = "anchor" in certificate ? certificate.anchor : undefined;
  return {
    text: [TEXTS[action], ...(anchor ? [`Names ${anchor.url} as its metadata`] : [])],
    does: [drepDoes(action, anchor)],
    deposit: certificate.kind === "register drep" ? certificate.deposit : undefined,
    refund: certificate.kind === "unregister drep" ? certificate.refund : undefined,
    ...(isSame(certificate.credential, drep) ? {} : { problem: "It has a certificate of another representative." }),
  };
}

/** The votes of a transaction. @throws {CborError} */
export function describeVotes(scanned: ScannedTransaction, drep: Credential | undefined): Described[] {
  return votersIn(scanned).flatMap(({ role, credential, votes }) =>
    votes.map(({ action, vote, anchor }): Described => ({
      text: [
        `Votes ${VOTES[vote]} on ${actionText(action)}`,
        ...(anchor ? [`Names ${anchor.url} as the reasons for this vote`] : []),
      ],
      does: [voteDoes(refKey(action), vote) + (anchor ? ` with the reasons ${anchor.url}` : "")],
      ...(role !== "drep" || !isSame(credential, drep) ? { problem: "It has a vote of another voter." } : {}),
    }))
  );
}

const VOTES = { yes: "Yes", no: "No", abstain: "Abstain" } as const;

/** What must happen in a transaction with a request, in the words of `Described`. */
export function neededOf({ drep, votes = [] }: RequestedGovernance): string[] {
  return [
    ...(drep ? [drepDoes(drep.action, drep.anchor)] : []),
    ...votes.map(({ action, vote }) => voteDoes(action, vote)),
  ];
}

const drepDoes = (action: "register" | "update" | "deregister", anchor: Anchor | undefined) =>
  `${action} as a representative ${anchor ? `with the metadata ${anchor.url} (${anchor.hash})` : "without metadata"}`;

const voteDoes = (action: string, vote: "yes" | "no" | "abstain") => `vote ${vote} on ${action}`;
