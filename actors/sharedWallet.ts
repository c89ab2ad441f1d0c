/**
 * The actor of a shared wallet. Its turns write its rows; effects add it to the index, which has its coins, and remove
 * it. Transactions are built as for any wallet, with the scripts of its templates.
 */
import {
  type Building,
  constructing,
  decoding,
  estimating,
  type WalletBuildOptions,
} from "#src/wallets/walletBuilds.ts";
import { decodeInput, intentInput } from "#src/wallets/walletBuildCalls.ts";
import { beginner, type Begun, ending, type WalletLifecycleOptions } from "#src/wallets/walletLifecycle.ts";
import { sharedWalletCommands, sharedWalletContent, sharedWalletMachine } from "#machines/sharedWallet.ts";
import { walletInputs, walletOutcomes } from "#machines/wallet.ts";
import { messaged } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { currentSlot } from "#src/cardano/parameters.ts";
import { type ActorKind, type BuildAnswer, type BuildContext, defineBuild } from "#src/runtime/types.ts";
import { vaultAdoption } from "#src/wallets/vault/tables.ts";
import { accountPath, pathText } from "#src/cardano/keys/paths.ts";
import { stakeCredential } from "#src/wallets/shared/account.ts";
import type { ConstructInput, PaymentIntent } from "#src/wallets/builds/types.ts";
import { readSharedWallet, type SharedWalletRow } from "#src/wallets/shared/rows.ts";
import { validityWithin } from "#src/wallets/shared/validity.ts";

export interface SharedWalletActorOptions extends WalletBuildOptions, WalletLifecycleOptions {}

/** The actor kind of shared wallets; an entity's id is the wallet's. */
export function sharedWalletActor(options: SharedWalletActorOptions): ActorKind {
  const begin = beginner(options);
  return {
    kind: "shared-wallet",
    ids: /^[0-9a-f]{40}$/,
    version: 1,
    machine: sharedWalletMachine,
    commands: sharedWalletCommands,
    inputs: walletInputs,
    outcomes: walletOutcomes,
    content: { schemas: sharedWalletContent, guarded: true },
    tables: {
      wallet: { table: "wallet", key: ["id"] },
      shared: { table: "shared_wallet", key: ["id"] },
      adoption: vaultAdoption,
    },
    effects: {
      begin: (input) => begin(input, (id) => specOf(options, id)),
      end: (input) => ending(options, input),
    },
    builds: {
      construct: defineBuild({
        input: intentInput,
        run: (_view, { intent }, context) => construct(options, intent, context),
      }),
      fees: defineBuild({
        input: intentInput,
        run: (_view, { intent }, context) => fees(options, intent, context),
      }),
      decode: defineBuild({
        input: decodeInput,
        run: (_view, { transaction }, context) => decode(options, transaction, context),
      }),
    },
  };
}

/** The wallet's entry for the index, once all keys are known. */
async function specOf({ store, networkId }: SharedWalletActorOptions, id: string): Promise<Begun | undefined> {
  const row = await readSharedWallet(store.sql, id);
  if (!row?.sharing.complete) return undefined;
  const { gap, start, incarnation, sharing } = row;
  const stake = stakeCredential(sharing.delegation);
  return {
    incarnation,
    start,
    spec: {
      wallet: id,
      kind: "shared",
      network: networkId,
      gap,
      prefix: pathText(accountPath("shared", sharing.account)).join("/"),
      account: messaged(sharing.payment),
      ...(stake ? { stake } : {}),
    },
  };
}

/** The row of a wallet that can build transactions. */
async function builder({ store }: SharedWalletActorOptions, id: string): Promise<Result<SharedWalletRow, Failure>> {
  const row = await readSharedWallet(store.sql, id);
  if (!row) return fail("no_such_wallet", `I couldn't find a wallet with the given id: ${id}`, { wallet_id: id });
  if (row.sharing.complete) return ok(row);
  return fail(
    "shared_wallet_incomplete",
    "I cannot construct a transaction for a shared wallet that is in the 'incomplete' state. Please update your wallet accordingly with " +
      "'PATCH /shared-wallets/{walletId}/payment-script-template' or 'PATCH /shared-wallets/{walletId}/delegation-script-template' " +
      "to make it suitable for constructing transactions.",
  );
}

const building = ({ id, oneChange, selection, sharing }: SharedWalletRow): Building => ({
  id,
  account: accountPath("shared", sharing.account),
  oneChange,
  selection,
});

/** Whether an intent acts for the stake account. */
const actsForStake = ({ delegations, vote, withdrawal }: PaymentIntent) =>
  delegations !== undefined && delegations.length > 0 || vote !== undefined || withdrawal !== undefined;

/** A payment intent whose validity lies within the times of the scripts. */
async function within(
  { port, clock }: SharedWalletActorOptions,
  { sharing }: SharedWalletRow,
  intent: PaymentIntent,
): Promise<PaymentIntent> {
  const network = await port.network();
  const scripts = [
    sharing.payment,
    ...(actsForStake(intent) && sharing.delegation ? [sharing.delegation] : []),
  ];
  const now = { slot: currentSlot(network, clock.now()), slotLengthMs: network.slots.slotLength };
  return {
    ...intent,
    validity: validityWithin(scripts.map(({ script }) => script), intent.validity, now),
  };
}

/** What a transaction of a shared wallet is built with. */
async function prepare(options: SharedWalletActorOptions, intent: PaymentIntent, { entity, deadline }: BuildContext) {
  const row = await builder(options, entity.id);
  if (!row.ok) return row;
  const { payment, delegation } = row.value.sharing;
  if (!delegation && actsForStake(intent)) {
    return fail(
      "delegation_invalid",
      "I cannot construct a delegating transaction for a shared wallet that is lacking a delegation script template.",
    );
  }
  return ok({
    wallet: building(row.value),
    intent: await within(options, row.value, intent),
    templates: { payment, ...(delegation ? { delegation } : {}) },
    limits: { deadline, affinity: entity.id },
  });
}

async function construct(
  options: SharedWalletActorOptions,
  intent: PaymentIntent,
  context: BuildContext,
): Promise<BuildAnswer> {
  const prepared = await prepare(options, intent, context);
  if (!prepared.ok) return prepared;
  const { wallet, templates, limits } = prepared.value;
  const run = (input: ConstructInput) => options.builders.run("sharedConstruct", { ...input, ...templates }, limits);
  return await constructing(options, wallet, prepared.value.intent, run);
}

async function fees(
  options: SharedWalletActorOptions,
  intent: PaymentIntent,
  context: BuildContext,
): Promise<BuildAnswer> {
  const prepared = await prepare(options, intent, context);
  if (!prepared.ok) return prepared;
  const { wallet, templates, limits } = prepared.value;
  const run = (input: ConstructInput) => options.builders.run("sharedFees", { ...input, ...templates }, limits);
  return await estimating(options, wallet, prepared.value.intent, run);
}

async function decode(
  options: SharedWalletActorOptions,
  cbor: Uint8Array,
  context: BuildContext,
): Promise<BuildAnswer> {
  const row = await builder(options, context.entity.id);
  return row.ok ? await decoding(options, building(row.value), cbor, context.deadline) : row;
}
