/** What rows of the ledger state hold, by kind, and the check of a value that was read. */
import type { Vote } from "#src/cardano/conway/governance.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Governance, Proposed } from "#src/ledger/governance/types.ts";
import type { Account, CommitteeMember, DRep, Pool, Pots, Ranking, StakeSnapshot } from "#src/ledger/state.ts";

/** The pots, the epoch number and the parameters are one row each, with an empty key; parameters have none before they first change. */
export interface RowValues {
  readonly accounts: Account;
  readonly pools: Pool;
  readonly dreps: DRep;
  readonly committee: CommitteeMember;
  readonly proposals: Proposed;
  readonly votes: Vote["vote"];
  readonly governance: Governance;
  readonly snapshots: StakeSnapshot;
  readonly blocks: number;
  readonly ranking: Ranking;
  readonly pots: Pots;
  readonly epoch: number;
  readonly parameters: Parameters;
}

/** Kinds of rows. */
export type EntryKind = keyof RowValues;

/** Whether a value is an object whose member passes a check. */
function has(value: unknown, name: string, check: (member: unknown) => boolean): boolean {
  return typeof value === "object" && value !== null && check(Reflect.get(value, name));
}

const isObject = (value: unknown) => typeof value === "object" && value !== null;
const isNumber = (value: unknown): value is number => typeof value === "number";
const isBigint = (value: unknown) => typeof value === "bigint";
const isMap = (value: unknown) => value instanceof Map;

/**
 * Only this program writes the rows, so a check recognises the kind by one member: it does not read lists of delegators.
 */
const CHECKS: { readonly [Kind in EntryKind]: (value: unknown) => value is RowValues[Kind] } = {
  accounts: (value): value is Account => has(value, "deposit", isBigint),
  pools: (value): value is Pool => has(value, "certificate", (member) => member instanceof Uint8Array),
  dreps: (value): value is DRep => has(value, "deposit", isBigint),
  committee: (value): value is CommitteeMember => isObject(value),
  proposals: (value): value is Proposed => has(value, "cbor", (member) => member instanceof Uint8Array),
  votes: (value): value is Vote["vote"] => value === "no" || value === "yes" || value === "abstain",
  governance: (value): value is Governance => has(value, "constitution", isObject),
  snapshots: (value): value is StakeSnapshot => has(value, "pools", isMap),
  blocks: isNumber,
  ranking: (value): value is Ranking => has(value, "likelihoods", isMap),
  pots: (value): value is Pots => has(value, "treasury", isBigint),
  epoch: isNumber,
  parameters: (value): value is Parameters => has(value, "costModels", isMap),
};

/** The value of a row of this kind. @throws {TypeError} if it is the value of another kind */
export function rowValue<Kind extends EntryKind>(kind: Kind, value: unknown): RowValues[Kind] {
  const isValue: (value: unknown) => value is RowValues[Kind] = CHECKS[kind];
  if (!isValue(value)) throw new TypeError(`a row of ${kind} holds something else`);
  return value;
}

/** Whether a text is the kind of a row. */
export function isEntryKind(kind: unknown): kind is EntryKind {
  return typeof kind === "string" && Object.hasOwn(CHECKS, kind);
}
