/** The ledger and the plain model as text, line by line, so that they can be compared. */
import { toHex } from "#src/base/bytes.ts";
import type { ProtocolParameters } from "#src/cardano/parameters.ts";
import { governanceOf, inOrder, proposalOf } from "#src/ledger/governance/actions.ts";
import { PURPOSES } from "#src/ledger/governance/types.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { credentialKey, type MutableLedgerState } from "#src/ledger/state.ts";
import { ratify } from "../plainGovernance/elections.ts";
import type { PlainState, Poll, Value } from "../plainGovernance/types.ts";
import { numbered } from "./parameters.ts";

const text = (value: Value | undefined) => String(value);

/** All that both have to agree on, of the ledger. */
export function pictureOfLedger(state: MutableLedgerState): string[] {
  const { pots, parameters } = state;
  const { constitution, quorum, enacted, dormant, decided } = governanceOf(state);
  const { major, minor } = parameters.protocolVersion;
  const account = (certificate: Uint8Array) => credentialKey(poolTerms(certificate).account.credential);
  const lines = [
    `epoch ${state.epoch} version ${major}.${minor} dormant ${dormant}`,
    `pots ${pots.treasury} ${pots.deposits} ${pots.donations} ${pots.fees}`,
    `constitution ${constitution.anchor.url} ${constitution.script ?? ""}`,
    `quorum ${quorum ? [quorum.numerator, quorum.denominator] : "none"}`,
    `enacted next ${decided.enacted}`,
    `expiring next ${[...decided.expired].sort()}`,
    ...PURPOSES.map((purpose) => `root ${purpose} ${enacted[purpose] ?? ""}`),
  ];
  for (const [number, value] of numbered(parameters as ProtocolParameters)) {
    lines.push(`parameter ${number} ${text(value)}`);
  }
  for (const [key, { deposit, balance, pool, drep }] of state.accounts.entries()) {
    lines.push(`account ${key} ${deposit} ${balance} ${pool ?? ""} ${drep ?? ""}`);
  }
  for (const [key, { deposit, certificate, future, retiring }] of state.pools.entries()) {
    lines.push(`pool ${key} ${deposit} ${account(certificate)} ${future ? account(future) : ""} ${retiring ?? ""}`);
  }
  for (const [key, { deposit, expiry, anchor }] of state.dreps.entries()) {
    lines.push(`drep ${key} ${deposit} ${expiry} ${anchor?.url ?? ""}`);
  }
  for (const [cold, { elected, until, hot, resigned }] of state.committee.entries()) {
    if (elected) lines.push(`member ${cold} ${until}`);
    if (hot || resigned) lines.push(`hot ${cold} ${resigned ? "resigned" : hot}`);
  }
  for (const [place, [id, proposed]] of inOrder(state.proposals).entries()) {
    const { deposit, account, action: { kind } } = proposalOf(proposed);
    const { proposedIn, expiresAfter } = proposed;
    const returned = credentialKey(account.credential);
    lines.push(`action ${place} ${id} ${kind} ${proposedIn} ${expiresAfter} ${deposit} ${returned}`);
  }
  for (const [key, vote] of state.votes.entries()) lines.push(`vote ${key} ${vote}`);
  return lines.sort();
}

const decided = new WeakMap<Poll, { readonly enacted: readonly string[]; readonly expired: readonly string[] }>();

/** What a poll decides, once for each. */
function decidedBy(poll: Poll | undefined) {
  if (!poll) return { enacted: [], expired: [] };
  const { verdicts } = decided.has(poll) ? { verdicts: [] } : ratify(poll);
  const ids = (of: string) => verdicts.filter(({ outcome }) => outcome === of).map(({ proposal }) => proposal.id);
  const known = decided.get(poll) ?? { enacted: ids("enacted"), expired: ids("expired").sort() };
  decided.set(poll, known);
  return known;
}

/** The same of the plain model. */
export function pictureOfPlain(plain: PlainState): string[] {
  const { version, constitution, committee } = plain;
  const { enacted, expired } = decidedBy(plain.poll);
  const lines = [
    `epoch ${plain.epoch} version ${version.join(".")} dormant ${plain.dormant}`,
    `pots ${plain.treasury} ${plain.deposits} ${plain.donations} ${plain.fees}`,
    `constitution ${constitution.url} ${constitution.script ?? ""}`,
    `quorum ${committee ? committee.quorum : "none"}`,
    `enacted next ${enacted}`,
    `expiring next ${expired}`,
    ...PURPOSES.map((purpose) => `root ${purpose} ${plain.roots[purpose] ?? ""}`),
  ];
  for (const [number, value] of plain.parameters) lines.push(`parameter ${number} ${text(value)}`);
  for (const [key, { deposit, balance, pool, drep }] of plain.accounts) {
    lines.push(`account ${key} ${deposit} ${balance} ${pool ?? ""} ${drep ?? ""}`);
  }
  for (const [key, { deposit, account, nextAccount, retiring }] of plain.pools) {
    lines.push(`pool ${key} ${deposit} ${account} ${nextAccount ?? ""} ${retiring ?? ""}`);
  }
  for (const [key, { deposit, expiry, url }] of plain.dreps) {
    lines.push(`drep ${key} ${deposit} ${expiry} ${url ?? ""}`);
  }
  for (const [cold, until] of committee?.members ?? []) lines.push(`member ${cold} ${until}`);
  for (const [cold, hot] of plain.hot) lines.push(`hot ${cold} ${hot}`);
  for (const [place, { id, action, proposedIn, expiresAfter, deposit, account, votes }] of plain.proposals.entries()) {
    lines.push(
      `action ${place} ${id} ${action.kind} ${proposedIn} ${expiresAfter} ${deposit} ${account.credential}`,
      ...[...votes].map(([voter, vote]) => `vote ${id} ${voter} ${vote}`),
    );
  }
  return lines.sort();
}

/** Everything in the ledger's state, snapshots and outputs included: undoing restores all of it. */
export function wholeLedger(state: MutableLedgerState): string {
  const { utxo, epoch, parameters, pots, ...tables } = state;
  const plain = (_: string, value: unknown): unknown =>
    typeof value === "bigint"
      ? `${value}n`
      : value instanceof Uint8Array
      ? toHex(value)
      : value instanceof Map
      ? [...value].sort(([a], [b]) => String(a) < String(b) ? -1 : 1)
      : value;
  const outputs = [...utxo.outputs()].map(({ raw }) => toHex(raw)).sort();
  return JSON.stringify({ outputs, epoch, parameters, pots, tables }, plain);
}
