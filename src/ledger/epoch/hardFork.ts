/** A hard fork within the Conway era (rule HARDFORK): other parameters from an epoch on, and what they take once. */
import { each, type Steps } from "#src/base/steps.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { mainnetParametersAt, type Major, MAJORS } from "#src/ledger/parameters.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { type Account, type DRep, eachRow } from "#src/ledger/state.ts";

/** From the first block of an epoch on these parameters hold; others stay as they are by then. */
export interface HardFork {
  readonly epoch: number;
  readonly parameters: Pick<Parameters, "protocolVersion"> & Partial<Parameters>;
}

/** Newest major protocol version that there are rules and cost models for. */
export const NEWEST_MAJOR: Major = 11;

/** Parameters after the hard fork to the next major version: that version, with mainnet's cost models of it. Undefined after the newest one. */
export function afterHardFork(parameters: Parameters): Parameters | undefined {
  const major = MAJORS.find((one) => one === parameters.protocolVersion.major + 1);
  if (major === undefined) return undefined;
  const { protocolVersion, costModels } = mainnetParametersAt(major);
  return { ...parameters, protocolVersion, costModels };
}

/**
 * The parameters of an epoch that begins: with those of a hard fork that is planned for it, unless votes have brought a later
 * version than the plan.
 */
export function withPlanned(parameters: Parameters, planned: HardFork | undefined, epoch: number): Parameters {
  if (planned?.epoch !== epoch) return parameters;
  const [to, from] = [planned.parameters.protocolVersion, parameters.protocolVersion];
  const isBefore = to.major < from.major || to.major === from.major && to.minor < from.minor;
  return isBefore ? parameters : { ...parameters, ...planned.parameters };
}

/**
 * What a hard fork changes beside parameters (ledger: `hardforkTransition`). With version 10 delegations of votes end whose
 * representative is not registered, which 9 allowed, and representatives forget the accounts that have left them; 11 counts
 * VRF keys of pools, which here are read from the pools themselves.
 */
export function* enterVersion(major: number, { accounts, dreps }: Registry): Steps<void> {
  if (major !== 10) return;
  const isRegistered = (drep: string) =>
    drep === "abstain" || drep === "no confidence" || dreps.get(drep) !== undefined;
  const ended: [string, Account][] = [];
  yield* eachRow(accounts, ([key, account]) => {
    if (account.drep !== undefined && !isRegistered(account.drep)) ended.push([key, account]);
  });
  yield* each(ended, ([key, { drep: _, ...account }]) => accounts.set(key, account));
  const counting: [string, DRep][] = [];
  yield* eachRow(dreps, ([key, drep]) => {
    if (drep.delegators) counting.push([key, drep]);
  });
  yield* each(counting, ([key, { delegators: _, ...drep }]) => dreps.set(key, drep));
}
