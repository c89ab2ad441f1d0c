/**
 * The actor of a wallet with a single owner, sequential or of the Byron era. Its turns write its rows; effects add it
 * to the index, which has its coins, and remove it. Transactions are built from the index at one point.
 */
import {
  balancing,
  type Building,
  constructing,
  decoding,
  estimating,
  type WalletBuildOptions,
} from "#src/wallets/walletBuilds.ts";
import { balanceInput, decodeInput, intentInput } from "#src/wallets/walletBuildCalls.ts";
import { MigrationPlans } from "#src/wallets/migrationPlans.ts";
import { consolidating, consolidationInput, migrating, migrationInput } from "#src/wallets/walletMigration.ts";
import { beginner, type Begun, ending, type WalletLifecycleOptions } from "#src/wallets/walletLifecycle.ts";
import { walletCommands, walletContent, walletInputs, walletMachine, walletOutcomes } from "#machines/wallet.ts";
import { toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { ROLES } from "#src/cardano/keys/derivation.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { type ActorKind, type BuildAnswer, type BuildContext, defineBuild } from "#src/runtime/types.ts";
import { vaultAdoption } from "#src/wallets/vault/tables.ts";
import type { ConstructInput } from "#src/wallets/builds/types.ts";
import { childHash, nodeOf } from "#src/cardano/keys/account.ts";
import { byronPathKey } from "#src/cardano/keys/byronAddress.ts";
import { accountPath, pathText } from "#src/cardano/keys/paths.ts";
import { ownDrepOf } from "#src/wallets/ownDrep.ts";
import { readWallet, type WalletRow } from "#src/wallets/rows.ts";

export interface WalletActorOptions extends WalletBuildOptions, WalletLifecycleOptions {
  /** Protocol magic in Byron addresses; undefined on mainnet. */
  readonly byronMagic: number | undefined;
}

/** The actor kind of sequential wallets and of Byron wallets; an entity's id is the wallet's. */
export function walletActor(options: WalletActorOptions): ActorKind {
  const { builders } = options;
  const begin = beginner(options);
  const plans = new MigrationPlans();
  const building = (
    run: (wallet: Building, context: BuildContext) => Promise<BuildAnswer>,
    { entity, ...more }: BuildContext,
  ) => builderOf(options, entity.id).then((wallet) => wallet.ok ? run(wallet.value, { entity, ...more }) : wallet);
  return {
    kind: "wallet",
    ids: /^[0-9a-f]{40}$/,
    version: 1,
    machine: walletMachine,
    commands: walletCommands,
    inputs: walletInputs,
    outcomes: walletOutcomes,
    content: { schemas: walletContent, guarded: true },
    tables: { wallet: { table: "wallet", key: ["id"] }, adoption: vaultAdoption },
    effects: {
      begin: (input) => begin(input, (id) => specOf(options, id)),
      end: (input) => ending(options, input),
    },
    builds: {
      construct: defineBuild({
        input: intentInput,
        run: (_view, { intent }, context) =>
          building((wallet, { deadline }) => {
            const run = (input: ConstructInput) => builders.run("construct", input, { deadline });
            return constructing(options, wallet, intent, run);
          }, context),
      }),
      fees: defineBuild({
        input: intentInput,
        run: (_view, { intent }, context) =>
          building((wallet, { deadline }) => {
            const run = (input: ConstructInput) => builders.run("fees", input, { deadline });
            return estimating(options, wallet, intent, run);
          }, context),
      }),
      balance: defineBuild({
        input: balanceInput,
        run: (_view, input, context) =>
          building((wallet, { deadline }) => balancing(options, wallet, input, deadline), context),
      }),
      migrate: defineBuild({
        input: migrationInput,
        run: (_view, input, context) =>
          building(
            (wallet, { deadline }) =>
              migrating(options, wallet, input, plans, (funds) => builders.run("migrate", funds, { deadline })),
            context,
          ),
      }),
      consolidate: defineBuild({
        input: consolidationInput,
        run: (_view, input, context) =>
          building(
            (wallet, { deadline }) =>
              consolidating(options, wallet, input, plans, (funds) => builders.run("consolidate", funds, { deadline })),
            context,
          ),
      }),
      decode: defineBuild({
        input: decodeInput,
        run: (_view, { transaction }, context) =>
          building((wallet, { deadline }) => decoding(options, wallet, transaction, deadline), context),
      }),
    },
  };
}

async function builderOf({ store }: WalletActorOptions, id: string): Promise<Result<Building, Failure>> {
  const row = await readWallet(store.sql, id);
  if (!row) return fail("no_such_wallet", `I couldn't find a wallet with the given id: ${id}`, { wallet_id: id });
  const { kind, oneChange, selection, policyKey, account } = row;
  return ok({
    id,
    drep: ownDrepOf(row),
    account: isSequential(kind) ? accountPath(kind, account) : [],
    oneChange,
    selection,
    ...(policyKey === undefined ? {} : { policyKey: keyHash(nodeOf(policyKey).key) }),
  });
}

/** The wallet's entry for the index. */
async function specOf(options: WalletActorOptions, id: string): Promise<Begun | undefined> {
  const row = await readWallet(options.store.sql, id);
  return row && { incarnation: row.incarnation, start: row.start, spec: indexed(row, options) };
}

const isSequential = (kind: WalletRow["kind"]): kind is "shelley" | "icarus" => kind === "shelley" || kind === "icarus";

function indexed(
  { id, kind, key, gap, account }: WalletRow,
  { networkId: network, byronMagic: magic }: WalletActorOptions,
): Begun["spec"] {
  if (!isSequential(kind)) return { wallet: id, kind: "random", network, pathKey: toHex(byronPathKey(key)) };
  const pools = { wallet: id, network, gap, prefix: pathText(accountPath(kind, account)).join("/") };
  if (kind === "icarus") {
    return { ...pools, kind, account: { account: key, byron: magic === undefined ? {} : { magic } } };
  }
  return { ...pools, kind, account: key, stake: { kind: "key", hash: childHash(key, ROLES.stake, 0) } };
}
