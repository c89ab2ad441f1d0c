/**
 * Transitions recorded from the Haskell ledger, as files: `[config, state before, state after, events, title]`, events
 * `[0, transaction, accepted, slot]`, `[1, ticks]` and `[2, epochs]`. States are `NewEpochState`; the state after is
 * that after the last transaction, without the ticks that follow. An epoch that passes is recorded twice: by its ticks,
 * and as an epoch.
 */
import { readdirSync, readFileSync } from "node:fs";
import { toHex } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { Vote } from "#src/cardano/conway/governance.ts";
import { as, asInt, asSet, decode, encode, Encoded, type Item, raw } from "#src/cardano/cbor.ts";
import { type Output, readOutput, readRef, refKey } from "#src/cardano/output.ts";
import type { Parameters, ProtocolParameters, Ratio, Units } from "#src/cardano/parameters.ts";
import type { EpochTerms } from "#src/ledger/epoch/rewards.ts";
import { poolStake, snapshotOf } from "#src/ledger/epoch/snapshot.ts";
import { GOVERNANCE, governanceOf, voteKey, voterKey } from "#src/ledger/governance/actions.ts";
import { PURPOSES } from "#src/ledger/governance/types.ts";
import { votingOf, votingStake } from "#src/ledger/governance/voting.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import {
  blocksKey,
  credentialKey,
  type MutableLedgerState,
  newState,
  RANKING,
  type VotingSnapshot,
} from "#src/ledger/state.ts";

/** An event of the ledger. */
export type Event =
  | { readonly kind: "transaction"; readonly cbor: Uint8Array; readonly accepted: boolean; readonly slot: number }
  | { readonly kind: "ticks" | "epochs"; readonly count: number };

/** A state, and the map of its unspent outputs. */
export interface Snapshot {
  readonly state: MutableLedgerState;
  readonly outputs: Map<string, Output>;
}

/** A transition. */
export interface Transition {
  /** Folder and title of the file: `conway/pass-deleg-…`. */
  readonly name: string;
  /** The slot in which the transition begins, and what applies to every epoch. */
  readonly slot: number;
  readonly terms: EpochTerms;
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly events: readonly Event[];
}

/** Transitions of a folder, by name: all, or one of every so many. */
export function* transitions(folder: string, every = 1): Generator<Transition> {
  const paths = readdirSync(`${folder}/eras`).flatMap((era) =>
    readdirSync(`${folder}/eras/${era}`).map((title) => `${era}/${title}`)
  ).sort();
  for (const name of paths.filter((_, i) => i % every === 0)) {
    for (const part of readdirSync(`${folder}/eras/${name}`)) {
      const [config, before, after, events] = list(decode(readFileSync(`${folder}/eras/${name}/${part}`)));
      const parameters = (hash: string) => readParameters(decode(readFileSync(`${folder}/pparams/${hash}`)));
      yield {
        name: part === "0" ? name : `${name}/${part}`,
        slot: number(list(config)[0]),
        terms: {
          epochLength: number(list(config)[2]),
          maxSupply: asInt(list(config)[9]),
          activeSlots: ratio(list(config)[10]),
        },
        before: readState(before!, parameters),
        after: readState(after!, parameters),
        events: list(events).map(readEvent),
      };
    }
  }
}

const list = (item: Item | undefined) => as(item, "array").value;
const pairs = (item: Item | undefined) => as(item, "map").value;
const number = (item: Item | undefined) => Number(asInt(item));
const hex = (item: Item | undefined) => toHex(as(item, "bytes").value);
const ratio = (item: Item | undefined): Ratio => {
  const [numerator, denominator] = list(as(item, "tag").value);
  return { numerator: asInt(numerator), denominator: asInt(denominator) };
};
const units = (item: Item | undefined): Units => {
  const [memory, steps] = list(item);
  return { memory: asInt(memory), steps: asInt(steps) };
};

function readEvent(item: Item): Event {
  const [kind, first, accepted, slot] = list(item);
  if (number(kind) > 0) return { kind: number(kind) === 1 ? "ticks" : "epochs", count: number(first) };
  return {
    kind: "transaction",
    cbor: as(first, "bytes").value,
    accepted: as(accepted, "bool").value,
    slot: number(slot),
  };
}

function readParameters(item: Item): ProtocolParameters {
  const field = list(item);
  const [major, minor] = list(field[12]);
  const [memory, steps] = list(field[16]);
  const pools = list(field[22]).map(ratio);
  const dreps = list(field[23]).map(ratio);
  return {
    protocolVersion: { major: number(major), minor: number(minor) },
    feePerByte: asInt(field[0]),
    feeFixed: asInt(field[1]),
    maxBlockBodySize: number(field[2]),
    maxTxSize: number(field[3]),
    maxBlockHeaderSize: number(field[4]),
    keyDeposit: asInt(field[5]),
    poolDeposit: asInt(field[6]),
    poolRetirementBound: number(field[7]),
    desiredPools: number(field[8]),
    pledgeInfluence: ratio(field[9]),
    monetaryExpansion: ratio(field[10]),
    treasuryGrowth: ratio(field[11]),
    minPoolCost: asInt(field[13]),
    utxoCostPerByte: asInt(field[14]),
    costModels: new Map(pairs(field[15]).map(([language, model]) => [number(language), list(model).map(asInt)])),
    prices: { memory: ratio(memory), steps: ratio(steps) },
    maxTxUnits: units(field[17]),
    maxBlockUnits: units(field[18]),
    maxValueSize: number(field[19]),
    collateralPercentage: number(field[20]),
    maxCollateralInputs: number(field[21]),
    govActionDeposit: asInt(field[27]),
    drepDeposit: asInt(field[28]),
    refScriptCostPerByte: ratio(field[30]),
    poolThresholds: {
      noConfidence: pools[0]!,
      committee: pools[1]!,
      committeeNoConfidence: pools[2]!,
      hardFork: pools[3]!,
      securityParameters: pools[4]!,
    },
    drepThresholds: {
      noConfidence: dreps[0]!,
      committee: dreps[1]!,
      committeeNoConfidence: dreps[2]!,
      constitution: dreps[3]!,
      hardFork: dreps[4]!,
      networkParameters: dreps[5]!,
      economicParameters: dreps[6]!,
      technicalParameters: dreps[7]!,
      governanceParameters: dreps[8]!,
      treasuryWithdrawal: dreps[9]!,
    },
    committeeMinSize: number(field[24]),
    committeeMaxTerm: number(field[25]),
    govActionLifetime: number(field[26]),
    drepActivity: number(field[29]),
  };
}

function readCredential(item: Item | undefined): Credential {
  const [kind, hash] = list(item);
  return { kind: number(kind) === 1 ? "script" : "key", hash: hex(hash) };
}

const keyOf = (item: Item | undefined) => credentialKey(readCredential(item));

function readDRep(item: Item): string {
  const kind = number(list(item)[0]);
  return kind === 2 ? "abstain" : kind === 3 ? "no confidence" : keyOf(item);
}

function readState(item: Item, parameters: (hash: string) => Parameters): Snapshot {
  const [epoch, blocksBefore, blocksNow, epochState] = list(item);
  const [account, ledger, snapshots, ranking] = list(epochState);
  const [treasury, reserves] = list(account);
  const [certificates, utxo] = list(ledger);
  const [votes, pools, stake] = list(certificates);
  const [outputs, deposits, fees, governance, , donations] = list(utxo);
  const [proposals, committee, constitution, current, , , pulser] = list(governance);
  const unspent = new Map<string, Output>();
  for (const [ref, output] of pairs(outputs)) unspent.set(refKey(readRef(ref)), readOutput(output));
  const state = newState({ parameters: parameters(hex(current)), epoch: number(epoch), outputs: unspent });
  Object.assign(state.pots, {
    treasury: asInt(treasury),
    reserves: asInt(reserves),
    fees: asInt(fees),
    deposits: asInt(deposits),
    donations: asInt(donations),
  });
  const [dreps, seats, dormant] = list(votes);
  for (const [drep, of] of pairs(dreps)) {
    state.dreps.set(keyOf(drep), { deposit: asInt(list(of)[2]), expiry: number(list(of)[0]) });
  }
  readGovernance(state, { proposals: proposals!, committee: committee!, constitution: constitution!, pulser: pulser! });
  state.governance.set(GOVERNANCE, { ...governanceOf(state), dormant: number(dormant) });
  readCommittee(state, committee!, proposals!, seats!);
  readPools(state, pools!);
  readSnapshots(state, snapshots!);
  readVoting(state, pulser!);
  for (const [made, of] of [[blocksBefore, state.epoch - 1], [blocksNow, state.epoch]] as const) {
    for (const [pool, count] of pairs(made)) state.blocks.set(blocksKey(of, hex(pool)), number(count));
  }
  const [likelihoods, rewardPot] = list(ranking);
  state.ranking.set(RANKING, {
    rewardPot: asInt(rewardPot),
    likelihoods: new Map(
      pairs(likelihoods).map(([pool, of]) => [hex(pool), list(of).map((x) => as(x, "float").value)]),
    ),
  });
  for (const [credential, of] of pairs(list(list(stake)[0])[0])) {
    const [reward, , pool, drep] = list(of).map((part) => part.type === "array" ? list(part) : []);
    const [balance, deposit] = list(reward![0]);
    state.accounts.set(keyOf(credential), {
      balance: asInt(balance),
      deposit: asInt(deposit),
      ...(pool![0] ? { pool: hex(pool![0]) } : {}),
      ...(drep![0] ? { drep: readDRep(drep![0]) } : {}),
    });
  }
  return { state, outputs: unspent };
}

const actionId = (item: Item | undefined) => refKey(readRef(item!));
const optional = (item: Item | undefined) => list(item)[0];

/** Actions that are voted on, the votes, what is in force, and what is decided. */
function readGovernance(
  state: MutableLedgerState,
  { proposals, committee, constitution, pulser }: Record<"proposals" | "committee" | "constitution" | "pulser", Item>,
): void {
  const [roots, actions] = list(proposals);
  const enacted = Object.fromEntries(
    list(roots).flatMap((root, i) => optional(root) ? [[PURPOSES[i]!, actionId(optional(root))]] : []),
  );
  for (const [order, action] of list(actions).entries()) {
    const [id, , , , procedure, proposedIn, expiresAfter] = list(action);
    state.proposals.set(actionId(id), {
      cbor: raw(procedure!),
      order,
      proposedIn: number(proposedIn),
      expiresAfter: number(expiresAfter),
    });
  }
  for (const [key, vote] of readVotes(actions!)) state.votes.set(key, vote);
  const [anchor, script] = list(constitution);
  const [url, hash] = list(anchor);
  const [, ratified] = list(pulser);
  const [, taking, ending] = list(ratified);
  const held = optional(committee);
  state.governance.set(GOVERNANCE, {
    constitution: {
      anchor: { url: as(url, "text").value, hash: hex(hash) },
      ...(script!.type === "null" ? {} : { script: hex(script) }),
    },
    ...(held ? { quorum: ratio(list(held)[1]) } : {}),
    enacted,
    dormant: 0,
    next: list(actions).length,
    decided: {
      enacted: list(taking).map((action) => actionId(list(action)[0])),
      expired: asSet(ending).map(actionId),
    },
  });
}

/** The votes on some actions, by `voteKey`. */
function readVotes(actions: Item): Map<string, Vote["vote"]> {
  const found = new Map<string, Vote["vote"]>();
  for (const action of list(actions)) {
    const [id, byCommittee, byDreps, byPools] = list(action);
    for (const [role, votes] of [["committee", byCommittee], ["drep", byDreps], ["pool", byPools]] as const) {
      for (const [voter, vote] of pairs(votes)) {
        const credential = role === "pool" ? { kind: "key", hash: hex(voter) } as const : readCredential(voter);
        const choice = (["no", "yes", "abstain"] as const)[number(vote)]!;
        found.set(voteKey(actionId(id), voterKey({ role, credential })), choice);
      }
    }
  }
  return found;
}

/** What was counted when the epoch began. Stake is there by representative only: it is put under one account. */
function readVoting(state: MutableLedgerState, pulser: Item): void {
  const [snapshot] = list(pulser);
  const [actions, dreps, states, pools] = list(snapshot);
  const taken = snapshotOf(state, state.epoch);
  const voting: VotingSnapshot = {
    votes: readVotes(actions!),
    dreps: new Map(
      pairs(states).map(([key, of]) => [keyOf(key), { deposit: asInt(list(of)[2]), expiry: number(list(of)[0]) }]),
    ),
    delegators: new Map(pairs(dreps).map(([drep, lovelace]) => [readDRep(drep), new Map([["", asInt(lovelace)]])])),
    poolDeposits: new Map(
      pairs(pools).map(([key, lovelace]) => {
        const pool = taken.pools.get(hex(key));
        return [hex(key), asInt(lovelace) - (pool ? poolStake(pool) : 0n)];
      }),
    ),
  };
  state.snapshots.set(String(state.epoch), { ...taken, voting });
}

/** What counts for actions in this epoch. Pools without stake are in no distribution. */
function votingText(state: MutableLedgerState): string[] {
  const snapshot = snapshotOf(state, state.epoch);
  const voting = votingOf(snapshot);
  const { dreps, pools } = votingStake(snapshot);
  return [
    ...[...voting.votes].map(([key, vote]) => `counted vote ${key} ${vote}`),
    ...[...voting.dreps].map(([drep, { deposit, expiry }]) => `counted drep ${drep} ${deposit} ${expiry}`),
    ...[...dreps].map(([drep, lovelace]) => `counted stake of drep ${drep} ${lovelace}`),
    ...[...pools].flatMap(([pool, lovelace]) => lovelace === 0n ? [] : [`counted stake of pool ${pool} ${lovelace}`]),
  ];
}

/** Elected members, proposed members, and the votes of each. */
function readCommittee(state: MutableLedgerState, committee: Item, proposals: Item, seats: Item): void {
  const [elected] = list(committee);
  for (const [cold, until] of elected ? pairs(list(elected)[0]) : []) {
    state.committee.set(keyOf(cold), { elected: true, until: number(until) });
  }
  for (const proposal of list(list(proposals)[1])) {
    const procedure = list(proposal)[4];
    const [kind, , , added] = list(list(procedure)[2]);
    if (!kind || number(kind) !== 4) continue;
    for (const [cold] of pairs(added)) {
      if (!state.committee.get(keyOf(cold))) state.committee.set(keyOf(cold), {});
    }
  }
  for (const [cold, answer] of pairs(seats)) {
    const [kind, hot] = list(answer);
    const seat = number(kind) === 0 ? { hot: keyOf(hot) } : { resigned: true };
    state.committee.set(keyOf(cold), { ...state.committee.get(keyOf(cold)), ...seat });
  }
}

/** A pool's parameters, in the form of the certificate that registers it. */
function certificate(parameters: Item): Uint8Array {
  return encode([3, ...list(parameters).map((part) => new Encoded(raw(part)))]);
}

function readPools(state: MutableLedgerState, item: Item): void {
  const [registered, future, retiring, deposits] = list(item);
  const later = new Map(pairs(future).map(([pool, of]) => [hex(pool), certificate(of)]));
  const ends = new Map(pairs(retiring).map(([pool, epoch]) => [hex(pool), number(epoch)]));
  const paid = new Map(pairs(deposits).map(([pool, deposit]) => [hex(pool), asInt(deposit)]));
  for (const [key, of] of pairs(registered)) {
    const pool = hex(key);
    state.pools.set(pool, {
      certificate: certificate(of),
      deposit: paid.get(pool) ?? 0n,
      ...(later.has(pool) ? { future: later.get(pool)! } : {}),
      ...(ends.has(pool) ? { retiring: ends.get(pool)! } : {}),
    });
  }
}

/** Mark, set and go: the snapshots of this epoch and of the two before it. */
function readSnapshots(state: MutableLedgerState, item: Item): void {
  const parts = list(item);
  const fees = asInt(parts[3]);
  for (const ago of [0, 1, 2]) {
    const [stake, delegations, pools] = list(parts[ago]);
    const members = new Map(
      pairs(pools).map((
        [pool, of],
      ) => [hex(pool), { certificate: certificate(of), members: new Map<string, bigint>() }]),
    );
    const delegated = new Map(pairs(delegations).map(([account, pool]) => [keyOf(account), hex(pool)]));
    for (const [account, lovelace] of pairs(stake)) {
      const key = keyOf(account);
      members.get(delegated.get(key)!)?.members.set(key, asInt(lovelace));
    }
    state.snapshots.set(String(state.epoch - ago), { pools: members, fees: ago === 0 ? fees : 0n });
  }
}

/** Content of a pool's certificate, independent of its encoding. */
function termsText(of: Uint8Array): string {
  const { vrf, pledge, cost, margin, account, owners } = poolTerms(of);
  const share = Number(margin.numerator) / Number(margin.denominator);
  return [vrf, pledge, cost, share, account.hex, ...[...owners].sort()].join(" ");
}

/** What is proposed, voted and in force; not what is decided at the next boundary, which a node computes later. */
function governanceText(state: MutableLedgerState): string[] {
  const { constitution: { anchor, script }, quorum, enacted, dormant } = governanceOf(state);
  const plain = (value: unknown) => JSON.stringify(value, (_, of) => typeof of === "bigint" ? String(of) : of);
  const parameters = { ...state.parameters, costModels: [...state.parameters.costModels] };
  return [
    `constitution ${anchor.url} ${anchor.hash} ${script ?? ""}`,
    `quorum ${quorum ? Number(quorum.numerator) / Number(quorum.denominator) : "none"}`,
    `dormant ${dormant}`,
    ...PURPOSES.map((purpose) => `enacted ${purpose} ${enacted[purpose] ?? ""}`),
    ...[...state.proposals.entries()].map(([key, { cbor, proposedIn, expiresAfter }]) =>
      `proposal ${key} ${proposedIn} ${expiresAfter} ${toHex(cbor)}`
    ),
    ...[...state.votes.entries()].map(([key, vote]) => `vote ${key} ${vote}`),
    ...Object.entries(parameters).map(([name, value]) => `parameter ${name} ${plain(value)}`),
  ];
}

/** All of a state as plain text, by which two states can be compared. */
export function stateText({ state, outputs }: Snapshot): string[] {
  const { accounts, pools, dreps, committee, pots, snapshots, blocks, ranking } = state;
  const rows: string[] = [];
  const asset = ([id, quantity]: readonly [string, bigint]) => `${id}:${quantity}`;
  for (const [ref, { address, value, datumHash, datum, script }] of outputs) {
    const held = [...value.assets].map(asset).sort().join(" ");
    const rest = [datumHash ?? "", datum ? toHex(datum) : "", script ? toHex(script) : ""].join(" ");
    rows.push(`output ${ref} ${address} ${value.lovelace} ${held} ${rest}`);
  }
  for (const [key, { balance, deposit, pool, drep }] of accounts.entries()) {
    rows.push(`account ${key} ${balance} ${deposit} ${pool ?? ""} ${drep ?? ""}`);
  }
  for (const [pool, { certificate, future, deposit, retiring }] of pools.entries()) {
    rows.push(`pool ${pool} ${deposit} ${retiring ?? ""} ${termsText(certificate)}`);
    if (future) rows.push(`pool ${pool} later ${termsText(future)}`);
  }
  for (const [drep, { deposit, expiry }] of dreps.entries()) rows.push(`drep ${drep} ${deposit} ${expiry}`);
  for (const [cold, { hot, resigned, elected, until }] of committee.entries()) {
    if (hot || resigned) rows.push(`committee ${cold} ${hot ?? "resigned"}`);
    if (elected) rows.push(`committee ${cold} until ${until}`);
  }
  rows.push(...governanceText(state), ...votingText(state));
  for (const [pot, lovelace] of Object.entries(pots)) rows.push(`pot ${pot} ${lovelace}`);
  rows.push(`epoch ${state.epoch}`, `fees shared out next ${snapshotOf(state, state.epoch).fees}`);
  for (const [epoch, { pools }] of snapshots.entries()) {
    for (const [pool, { certificate, members }] of pools) {
      rows.push(`snapshot ${epoch} ${pool} ${termsText(certificate)}`);
      for (const [account, lovelace] of members) rows.push(`snapshot ${epoch} ${pool} ${account} ${lovelace}`);
    }
  }
  for (const [key, count] of blocks.entries()) rows.push(`blocks ${key} ${count}`);
  for (const [, { rewardPot, likelihoods }] of ranking.entries()) {
    rows.push(`ranking ${rewardPot}`);
    for (const [pool, values] of likelihoods) {
      rows.push(`ranking ${pool} ${values.map((x) => x.toPrecision(7)).join(" ")}`);
    }
  }
  return rows.sort();
}
