/** What the devnet began with, as the genesis configurations of all eras state it. */
import { type Genesis, genesisEntries, genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { writeEntries } from "#src/devnet/ledger/changes.ts";
import { constitutionOf } from "#src/devnet/serve/governanceState.ts";
import { nodeGenesis } from "#src/devnet/serve/nodeGenesis.ts";
import { governanceOf } from "#src/ledger/governance/actions.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { newState, parseCredentialKey } from "#src/ledger/state.ts";
import type { NetworkGenesis } from "#src/ogmios/queries/genesis.ts";

/** The genesis of a devnet's network. */
export function networkGenesis(genesis: Genesis): NetworkGenesis {
  const { network: { magic, id, slots }, parameters } = genesis;
  const node = nodeGenesis(genesis);
  const state = newState({ parameters, network: id });
  writeEntries(state, genesisEntries(genesis), "after");
  const governance = governanceOf(state);
  return {
    startTime: slots.zeroTime,
    magic,
    isMainnet: id === 1,
    activeSlots: node.activeSlots,
    securityParameter: node.securityParameter,
    epochLength: node.epochLength,
    slotLength: slots.slotLength,
    slotsPerKesPeriod: node.slotsPerKesPeriod,
    maxKesEvolutions: node.maxKesEvolutions,
    updateQuorum: node.updateQuorum,
    maxSupply: node.maxSupply,
    parameters: protocolParameters(parameters),
    funds: genesisOutputs(genesis).map(({ output: { address, value } }) => ({ address, lovelace: value.lovelace })),
    pools: genesis.pools.map(({ registered: { pool } }) => {
      const { account, ...terms } = poolTerms(pool.certificate);
      return { ...terms, account: account.hex };
    }),
    delegations: genesis.pools.map(({ id, registered: { owner } }) => ({
      key: parseCredentialKey(owner.key).hash,
      pool: id,
    })),
    constitution: constitutionOf(governance),
    committee: {
      members: [...state.committee.entries()].flatMap(([key, { until }]) =>
        until === undefined ? [] : [{ credential: parseCredentialKey(key), until }]
      ),
      quorum: governance.quorum ?? { numerator: 0n, denominator: 1n },
    },
  };
}
