/** What all builds of tokens share: they read at one point, a thread computes, and the outputs that are spent are reserved. */
import { z } from "zod";
import { toHex } from "#src/base/bytes.ts";
import type { Clock } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { type Failure, ok, type Result } from "#src/base/result.ts";
import { currentSlot, type Parameters } from "#src/cardano/parameters.ts";
import { readUtxos } from "#src/chain/index/utxo.ts";
import { ensureWatched } from "#src/chain/index/watchedAddresses.ts";
import { atPoint, buildAndReserve } from "#src/chain/pending/spendable.ts";
import { horizonOf } from "#src/chain/provider/horizon.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { versionWarning } from "#src/chain/versionWatch.ts";
import { findPublished, publicationAddress } from "#src/contract/publication.ts";
import { type CageScript, cageScripts } from "#src/contract/script.ts";
import type { BuildInput, Built } from "#src/contract/transactions/common.ts";
import type { BuildAnswer } from "#src/runtime/types.ts";
import type { Queries, Store } from "#src/store/store.ts";
import type { Builders } from "#src/tokens/builds/jobs.ts";
import { readFunds, type TokenPayer } from "#src/tokens/builds/tokenFunds.ts";

export interface TokenBuildOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly builders: Builders;
  readonly networkId: 0 | 1;
  /** Clock for the current slot. */
  readonly clock: Clock;
  /** Wakes the indexer: there is a new address to watch. */
  readonly wake: () => void;
}

/** An address, bytes in hexadecimal. */
export const addressBytes = z.string().regex(/^([0-9a-f]{2})+$/);
/** An output, `<transaction hash>#<index>`. */
export const outputRef = z.string().regex(/^[0-9a-f]{64}#\d+$/);
/** As `TokenPayer`. */
export const payer = { address: addressBytes, wallet: z.string().nullable().default(null) };

/** A built transaction, and the other members of the response. */
export type TokenBuild = Result<
  {
    readonly built: Built;
    readonly more: Record<string, Json>;
    /** Warnings to the client, besides those of the protocol's version. */
    readonly warnings?: readonly Json[];
    /** Whether the transaction is left out, and its outputs are not reserved. */
    readonly dry?: boolean;
  },
  Failure
>;

/** For whom a transaction is built, by when, and with which version of the contract (script hash). */
interface TokenBuildFor {
  readonly from: TokenPayer;
  /** In milliseconds since 1970. */
  readonly deadline: number;
  readonly script: string | ((parameters: Parameters) => string);
}

/**
 * Reads the inputs of every build, and with `read` more at the same point; then builds on outputs that are not
 * reserved, and reserves those that the transaction spends.
 */
export async function reservedBuild<T>(
  options: TokenBuildOptions,
  { from, deadline, script }: TokenBuildFor,
  read: (sql: Queries, parameters: Parameters) => Promise<T>,
  build: (input: BuildInput, more: T) => Promise<TokenBuild>,
): Promise<BuildAnswer> {
  const { store, port, networkId, wake } = options;
  const published = publicationAddress(networkId);
  const [mine, scripts, parameters] = await Promise.all([
    from.wallet ? ok(null) : ensureWatched(store, [from.address], wake, deadline),
    ensureWatched(store, [published], wake, deadline, { forever: true }),
    port.parameters(),
  ]);
  for (const watched of [mine, scripts]) if (!watched.ok) return watched;
  if (!parameters.ok) return parameters;
  const hash = typeof script === "string" ? script : script(parameters.value.value);
  const [network, horizon] = await Promise.all([port.network(), horizonOf(port)]);
  return await buildAndReserve(store, from.wallet ?? from.address, async () => {
    const { at, value } = await atPoint(store, async (sql) => ({
      funds: await readFunds(sql, from),
      reference: findPublished(await readUtxos(sql, [published]), hash),
      more: await read(sql, parameters.value.value),
    }));
    if (!value.funds.ok) return value.funds;
    const { available, change } = value.funds.value;
    const done = await build({
      parameters: parameters.value.value,
      slots: network.slots,
      slot: Math.max(at.slot, currentSlot(network, options.clock.now())),
      horizon,
      network: networkId,
      script: publishedScript(hash),
      reference: value.reference,
      address: from.address,
      available,
      ...(change === undefined ? {} : { change }),
    }, value.more);
    if (!done.ok) return done;
    const { built, dry } = done.value;
    const warning = built.runsScripts ? versionWarning(parameters.value.value) : undefined;
    const known = done.value.warnings;
    const warnings = [...known ?? [], ...(warning ? [{ ...warning }] : [])];
    const more = { ...done.value.more, ...(known || warning ? { warnings } : {}) };
    return ok({
      read: available,
      spends: dry ? [] : built.spends.map((utxo) => utxo.ref),
      answer: dry ? more : { unsignedTransaction: toHex(built.transaction), ...more },
    });
  });
}

/** The published version of the contract with a script hash. */
function publishedScript(hash: string): CageScript {
  const script = cageScripts.find((one) => one.hash === hash);
  if (script === undefined) throw new Error(`no published version of the contract has the hash ${hash}`);
  return script;
}
