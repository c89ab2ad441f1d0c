/** A devnet's settings as text: for the output of a start, and for a start with other options. */
import { toJson } from "#src/base/json.ts";
import { ACCOUNTS_MNEMONIC } from "#src/devnet/genesis/accounts.ts";
import type { Genesis, GenesisOptions } from "#src/devnet/genesis/genesis.ts";
import { type GenesisGovernance, withDefaultVoters } from "#src/devnet/genesis/governance.ts";
import { sameGovernance } from "#src/devnet/genesis/governanceJson.ts";
import { parametersFromJson, parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import type { Parameters } from "#src/cardano/parameters.ts";

/** An amount of lovelace in ada, with thousands separators. */
export function ada(lovelace: bigint): string {
  const [whole, rest] = [lovelace / 1_000_000n, lovelace % 1_000_000n];
  const decimals = rest === 0n ? "" : "." + String(rest).padStart(6, "0").replace(/0+$/, "");
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ",") + decimals;
}

/** A devnet's settings, in two lines, and one each about its governance and its default accounts. */
export function settingsLines(
  { network, terms, parameters, pools, pledge, reserves, treasury, faucet, accounts, accountFunds, like, governance }:
    Genesis,
): string[] {
  const { slots: { slotLength }, securityParameter } = network;
  const version = ({ protocolVersion: { major, minor } }: Pick<Parameters, "protocolVersion">) => `${major}.${minor}`;
  const { hardFork } = terms;
  const forks = hardFork ? `, ${version(hardFork.parameters)} from epoch ${hardFork.epoch} on` : "";
  const seconds = terms.epochLength * slotLength / 1_000;
  return [
    `Devnet: epochs of ${terms.epochLength} slots of ${slotLength} ms (${seconds} s), at most one block per slot; ` +
    `k ${securityParameter}; protocol version ${version(parameters)}${forks}`,
    `Devnet genesis: ${ada(terms.maxSupply)} ada: reserves ${ada(reserves)}, treasury ${ada(treasury)}, ` +
    `${pools.length} ${pools.length === 1 ? "pool" : "pools"} with ${ada(pledge)} each, faucet ${ada(faucet.funds)}${
      like === undefined ? "" : `; like ${like}`
    }`,
    ...(governance ? [governanceLine(governance)] : []),
    ...(accounts === 0 ? [] : [
      `Devnet accounts: ${accounts} with ${ada(accountFunds)} ada each; public mnemonic, for development only: ` +
      ACCOUNTS_MNEMONIC,
    ]),
  ];
}

function governanceLine({ committee, dreps, constitution }: GenesisGovernance): string {
  const { numerator, denominator } = committee?.quorum ?? { numerator: 0n, denominator: 1n };
  const members = committee?.members.length ?? 0;
  return `Devnet governance: ${dreps.length} ${dreps.length === 1 ? "representative" : "representatives"}; ${
    members === 0 ? "no committee" : `a committee of ${members}, ${numerator} of ${denominator} must agree`
  }${constitution ? `; constitution ${constitution.anchor.url}` : ""}`;
}

/** The options that an existing devnet ignores: a sentence, or undefined if there are none. */
export function keptSettings(chosen: Partial<GenesisOptions>, genesis: Genesis): string | undefined {
  const { network, terms } = genesis;
  const kept: readonly (readonly [name: string, chosen: number | bigint | undefined, kept: number | bigint])[] = [
    ["slots of", chosen.slotLength, network.slots.slotLength],
    ["epochs of", chosen.epochLength, terms.epochLength],
    ["k", chosen.securityParameter, network.securityParameter],
    ["pools", chosen.pools, genesis.pools.length],
    ["pledge", chosen.pledge, genesis.pledge],
    ["accounts", chosen.accounts, genesis.accounts],
    ["lovelace of an account", chosen.accountFunds, genesis.accountFunds],
    ["supply", chosen.maxSupply, terms.maxSupply],
    ["reserves", chosen.reserves, genesis.reserves],
    ["treasury", chosen.treasury, genesis.treasury],
  ];
  const fork = terms.hardFork?.epoch;
  const differences = kept.flatMap(([name, asked, has]) =>
    asked === undefined || asked === has ? [] : [`${name} ${has} (requested: ${asked})`]
  );
  if (chosen.hardForkEpoch !== undefined && chosen.hardForkEpoch !== fork) {
    differences.push(
      `${fork === undefined ? "no hard fork" : `hard fork ${fork}`} (requested: ${chosen.hardForkEpoch})`,
    );
  }
  // read back, as the genesis is: the order of members is no difference
  const json = (of: Parameters) => toJson(parametersToJson(parametersFromJson(parametersToJson(of))));
  if (chosen.parameters && json(chosen.parameters) !== json(genesis.parameters)) {
    differences.push(`the protocol parameters of its beginning (${genesis.parametersSource})`);
  }
  if (chosen.like !== undefined && chosen.like !== genesis.like) {
    differences.push(
      `${genesis.like === undefined ? "not like another network" : `like ${genesis.like}`} (requested: ${chosen.like})`,
    );
  }
  const governance = withDefaultVoters(chosen.governance, chosen, genesis.parameters);
  if (governance && !sameGovernance(governance, genesis.governance)) {
    differences.push("the constitution, committee and representatives of its beginning");
  }
  if (genesis.poolsUrl !== undefined && chosen.url !== undefined && chosen.url !== genesis.poolsUrl) {
    differences.push(`metadata of its pools at ${genesis.poolsUrl} (it is served at ${chosen.url})`);
  }
  if (differences.length === 0) return undefined;
  return `The genesis of an existing devnet cannot be changed: ${
    differences.join("; ")
  }. Use another database or --folder for a new devnet.`;
}
