/** Arbitrary states of governance, for property tests of their encodings. */
import fc from "fast-check";
import type { Action } from "#src/cardano/conway/governance.ts";
import { compareAccounts } from "#src/cardano/conway/strict.ts";
import type { ProtocolParameters } from "#src/cardano/parameters.ts";
import { compareCredentials, compareDreps, compareHex } from "#src/node/queries/vocabulary.ts";
import {
  anchor,
  credential,
  drep,
  hash28,
  lovelace,
  natural,
  opt,
  ratio,
  ref,
  refs,
  rows,
  small,
  sorted,
} from "./arbitraryValues.ts";

const account = fc.record({ network: fc.constantFrom(0 as const, 1 as const), credential })
  .map(({ network, credential }) => ({
    hex: (0xe0 + (credential.kind === "script" ? 0x10 : 0) + network).toString(16) + credential.hash,
    network,
    credential,
  }));
/** A fraction in lowest terms, as the ledger keeps it. */
const share = fc.integer({ min: 1, max: 100 }).map((numerator) => ({
  numerator: BigInt(numerator),
  denominator: 101n,
}));
/** Members that an action leaves out where it has no value for them. */
const given = <T extends object>(of: fc.Arbitrary<T>) =>
  of.map((value) => Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)));

const changes = fc.record({
  0: lovelace,
  2: small.map(BigInt),
  9: share,
  18: fc.constant(new Map([[0n, Array.from({ length: 30 }, (_, i) => BigInt(-i))], [2n, []]])),
  20: fc.constant([5n, 6n]),
  25: fc.tuple(share, share, share, share, share),
}, { requiredKeys: [] }).map((of) => new Map(Object.entries(of).map(([key, value]) => [Number(key), value])));

const previous = opt(ref);
/** An action of governance. */
export const action = fc.oneof(
  given(fc.record({ kind: fc.constant("parameters"), previous, changes, policy: opt(hash28) })),
  given(fc.record({
    kind: fc.constant("hard fork"),
    previous,
    version: fc.record({ major: lovelace, minor: lovelace }),
  })),
  given(fc.record({
    kind: fc.constant("treasury"),
    payments: rows(fc.tuple(account, lovelace), ([account]) => account, compareAccounts),
    policy: opt(hash28),
  })),
  given(fc.record({ kind: fc.constant("no confidence"), previous })),
  given(fc.record({
    kind: fc.constant("committee"),
    previous,
    removed: sorted(credential, compareCredentials),
    added: rows(fc.record({ member: credential, until: lovelace }), ({ member }) => member, compareCredentials),
    quorum: share,
  })),
  given(fc.record({ kind: fc.constant("constitution"), previous, script: opt(hash28), anchor })),
  fc.constant({ kind: "info" }),
).map((action) => action as Action);

const vote = fc.constantFrom("no", "yes", "abstain");
const votesBy = <K>(voter: fc.Arbitrary<K>, order: (a: K, b: K) => number) =>
  rows(fc.record({ voter, vote }), ({ voter }) => voter, order);
const actionState = fc.record({
  id: ref,
  committeeVotes: votesBy(credential, compareCredentials),
  drepVotes: votesBy(credential, compareCredentials),
  poolVotes: votesBy(hash28, compareHex),
  proposal: fc.record({ deposit: lovelace, account, action, anchor }),
  proposedIn: natural,
  expiresAfter: natural,
});
const actions = fc.array(actionState, { maxLength: 3 });
const credentials = sorted(credential, compareCredentials);

const constitution = fc.record({ anchor, script: opt(hash28) });
const committee = opt(fc.record({
  members: rows(fc.record({ member: credential, until: natural }), ({ member }) => member, compareCredentials),
  threshold: ratio,
}));
const roots = fc.record({ parameters: previous, hardFork: previous, committee: previous, constitution: previous });

const dreps = rows(
  fc.record({ credential, expiry: natural, anchor: opt(anchor), deposit: lovelace, delegators: credentials }),
  (row) => row.credential,
  compareCredentials,
);
const drepStake = rows(fc.record({ drep, lovelace }), ({ drep }) => drep, compareDreps);
const poolStake = rows(fc.record({ pool: hash28, lovelace }), ({ pool }) => pool, compareHex);

const hot = fc.oneof(
  fc.record({ kind: fc.constant("authorized"), credential }),
  fc.constant({ kind: "not authorized" }),
  fc.record({ kind: fc.constant("resigned"), anchor: opt(anchor) }),
);
const next = fc.oneof(
  fc.constantFrom({ kind: "enacted" }, { kind: "removed" }, { kind: "none" }, { kind: "expired" }),
  fc.record({ kind: fc.constant("term"), until: natural }),
);
const members = fc.record({
  members: rows(
    fc.record({
      cold: credential,
      hot,
      status: fc.constantFrom("active", "expired", "unrecognized"),
      until: opt(natural),
      next,
    }),
    ({ cold }) => cold,
    compareCredentials,
  ),
  threshold: opt(ratio),
  epoch: natural,
});

/** Parts of the state of governance, with these parameters. */
export function governance(parameters: fc.Arbitrary<ProtocolParameters>) {
  const ratify = fc.record({
    state: fc.record({
      committee,
      constitution,
      current: parameters,
      previous: parameters,
      treasury: lovelace,
      withdrawals: rows(fc.record({ credential, lovelace }), (row) => row.credential, compareCredentials),
      roots,
    }),
    enacted: actions,
    expired: sorted(ref, refs),
    delayed: fc.boolean(),
  });
  const future = fc.oneof(
    fc.constant({ kind: "none" }),
    fc.record({ kind: fc.constant("definite"), parameters }),
    fc.record({ kind: fc.constant("potential"), parameters: opt(parameters) }),
  );
  const state = fc.record({
    proposals: fc.record({ roots, actions }),
    committee,
    constitution,
    current: parameters,
    previous: parameters,
    future,
    pulsing: fc.record({ snapshot: fc.record({ actions, drepStake, dreps, poolStake }), ratify }),
  });
  const delegations = rows(fc.record({ drep, delegators: credentials }), (row) => row.drep, compareDreps);
  return { constitution, state, dreps, drepStake, members, actions, ratify, delegations };
}
