/** The genesis of a devnet, without a database. */
import { newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import { faucetFunds, type Genesis, genesisDefaults, type GenesisOptions } from "#src/devnet/genesis/genesis.ts";
import { newPools, registeredPool } from "#src/devnet/genesis/pools.ts";

/** URL of the pools' metadata. */
export const POOLS_URL = "http://127.0.0.1:10000";

/** A genesis with new keys, by default with three pools. */
export function newGenesis(chosen: Partial<GenesisOptions> = {}): Genesis {
  const options = { ...genesisDefaults, ...chosen };
  const { parameters, pledge, maxSupply, reserves, treasury, epochLength, accounts, accountFunds, like } = options;
  const settings = { network: 0, parameters, pledge, url: POOLS_URL, like } as const;
  return {
    network: {
      magic: 42,
      id: 0,
      slots: { zeroTime: 1_800_000_000_000, zeroSlot: 0, slotLength: 1_000 },
      securityParameter: 2_160,
    },
    terms: { epochLength, activeSlots: { numerator: 1n, denominator: 1n }, maxSupply },
    parameters,
    parametersSource: "test",
    reserves,
    treasury,
    pledge,
    accounts,
    accountFunds,
    pools: newPools(options.pools, POOLS_URL, like).map((pool, position) => ({
      ...pool,
      registered: registeredPool(pool, position, settings),
    })),
    poolsUrl: POOLS_URL,
    like,
    governance: options.governance,
    drawSeed: newSeed(),
    issuer: publicKey(newSeed()),
    faucet: { key: newSeed(), address: "60" + "ab".repeat(28), funds: faucetFunds(options) },
  };
}
