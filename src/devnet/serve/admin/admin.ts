/**
 * The admin API of Yaci DevKit, in its paths and JSON, as far as a devnet of one process has what it administers.
 *
 * What differs: a genesis cannot be changed, so `create` accepts only the running devnet's properties; there is one
 * node, so forks are a remembered block to which the devnet goes back.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { zipSync } from "fflate";
import { z } from "zod";
import { toHex, utf8 } from "#src/base/bytes.ts";
import * as api from "#src/devnet/api/devnetAdmin.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { referenceScriptHash } from "#src/cardano/conway/script.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { byronHash, ERAS, genesisFiles } from "#src/devnet/genesis/json.ts";
import { parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import { readEpochParameters, readEpochs } from "#src/devnet/index/reads/epochs.ts";
import { epochOf } from "#src/devnet/ledger/epoch.ts";
import { nodeGenesis } from "#src/devnet/serve/nodeGenesis.ts";
import { secondsOf } from "#src/devnet/serve/blockfrost/documents.ts";
import { epochParametersDocument } from "#src/devnet/serve/blockfrost/epochParameters.ts";
import { epochDocument } from "#src/devnet/serve/blockfrost/epochs.ts";
import { BAD_ORIGIN } from "#src/devnet/serve/admin/origins.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import type { Store } from "#src/store/store.ts";

export interface AdminRoutesOptions {
  readonly devnet: Devnet;
  readonly store: Pick<Store, "sql">;
  readonly port: Pick<ChainPort, "utxosByAddress" | "parameters">;
  /** Where the devnet's other services are. They may start after this one. */
  readonly places: () => DevnetPlaces;
}

/** Where services of the devnet are; undefined: off. */
export interface DevnetPlaces {
  /** Path of the node socket. */
  readonly socket?: string | undefined;
  /** Port of the node socket over TCP. */
  readonly tcp?: number | undefined;
  /** Port of the Blockfrost API. */
  readonly indexer?: number | undefined;
  /** Ports of the Ogmios API and the Kupo API. */
  readonly ogmios?: number | undefined;
  readonly kupo?: number | undefined;
}

const CLUSTER = "/local-cluster/api";
const ADMIN = `${CLUSTER}/admin/devnet`;
const ROLLBACK = `${CLUSTER}/devnet/rollback`;
/** Name of the snapshot that remembers the block at which forks were created. */
const FORK = "yaci-devkit-fork";

const refusal = refusalOf({
  rollback_impossible: 409,
  snapshot_unknown: 409,
  too_many_snapshots: 409,
  undecodable: 400,
  bad_address: 400,
  mempool_full: 503,
  devnet_unavailable: 503,
  network_unreachable: 503,
});
const answered = answeredBy(refusal);
const changing = { 403: BAD_ORIGIN, 503: "`devnet_unavailable`" };
const text = { answer: api.text, produces: "text/plain" } as const;

/** Adds the endpoints. */
export function adminRoutes(app: OpenAPIHono, options: AdminRoutesOptions): void {
  stateRoutes(app, options);
  genesisRoutes(app, options);
  restartRoutes(app, options);
  forkRoutes(app, options);
  walletRoutes(app, options);
  epochRoutes(app, options);
}

const slotLengthOf = ({ network: { slots } }: Devnet) => slots.slotLength / 1_000;

/** Settings, status and newest block. */
function stateRoutes(app: OpenAPIHono, { devnet, places }: AdminRoutesOptions): void {
  const { genesis, network: { magic, slots, securityParameter } } = devnet;
  const { slotsPerKesPeriod } = nodeGenesis(genesis);
  const { epochLength, activeSlots } = genesis.terms;

  endpoint(app, "get", ADMIN, {
    summary: "Ports and settings, like Yaci DevKit",
    answer: api.devnetInfo,
  }, async () => {
    const { socket, tcp, indexer, ogmios, kupo } = places();
    return {
      nodePort: 0,
      submitApiPort: 0,
      socketPath: socket ?? null,
      protocolMagic: magic,
      slotLength: slotLengthOf(devnet),
      blockTime: devnet.blockMs / 1_000,
      epochLength,
      slotsPerKESPeriod: slotsPerKesPeriod,
      securityParam: securityParameter,
      activeSlotsCoeff: Number(activeSlots.numerator) / Number(activeSlots.denominator),
      p2pEnabled: false,
      startTime: Math.floor(slots.zeroTime / 1_000),
      masterNode: true,
      adminNodeUrl: null,
      era: "Conway",
      genesisProfile: null,
      ogmiosPort: ogmios ?? 0,
      kupoPort: kupo ?? 0,
      yaciStorePort: indexer ?? 0,
      socatPort: tcp ?? 0,
      prometheusPort: 0,
      localMultiNodeEnabled: false,
      blockProducer: true,
    };
  });

  endpoint(app, "get", `${ADMIN}/status`, {
    summary: "`initialized`, like Yaci DevKit",
    ...text,
  }, async ({ context }) => context.text("initialized"));

  endpoint(app, "get", `${ADMIN}/tip`, {
    summary: "The newest block, like Yaci DevKit",
    answer: api.tips,
  }, async () => {
    const { height, slot, hash } = devnet.tip();
    const tip = { nodeName: "node-1", blockNumber: height, slot, blockHash: hash };
    return { multiNodeEnabled: false, tips: height < 0 ? [] : [tip] };
  });

  endpoint(app, "get", `${ADMIN}/kes-period`, {
    summary: "The KES period of the newest block, like Yaci DevKit; blocks of a devnet are not signed",
    answer: api.kesPeriod,
  }, async () => Math.floor(Math.max(0, devnet.tip().slot) / slotsPerKesPeriod));
}

/** Genesis files, and files for a node. */
function genesisRoutes(app: OpenAPIHono, { devnet: { genesis } }: AdminRoutesOptions): void {
  const files = genesisFiles(genesis);

  endpoint(app, "get", `${ADMIN}/genesis/hash`, {
    summary: "Hash of the Byron genesis, which identifies the network, like Yaci DevKit",
    ...text,
  }, async ({ context }) => context.text(byronHash(genesis)));

  endpoint(app, "get", `${ADMIN}/genesis/download`, {
    summary: "The genesis files as a ZIP archive, like Yaci DevKit",
    produces: "application/octet-stream",
  }, async () => zip("genesis.zip", files.filter(({ hash }) => hash !== undefined)));

  endpoint(app, "get", `${ADMIN}/download`, {
    summary: "Genesis files, configuration and topology for a node as a ZIP archive, like Yaci DevKit",
    produces: "application/octet-stream",
  }, async () => zip("devnet.zip", files));

  endpoint(app, "get", `${ADMIN}/genesis/:era`, {
    summary: "The genesis file of an era, like Yaci DevKit",
    params: { era: z.string().max(20).describe("byron, shelley, alonzo or conway.") },
    answer: api.genesisFile,
    refusals: { 404: "`no_such_file`" },
  }, async ({ params: { era } }) => {
    const file = ERAS.some((known) => known === era) && files.find(({ name }) => name === `${era}-genesis.json`);
    if (!file) throw new HttpFailure(404, "no_such_file", `There is no genesis file of ${era}.`);
    return new Response(file.text, { headers: { "content-type": "application/json" } });
  });
}

/** Going back to the genesis. */
function restartRoutes(app: OpenAPIHono, { devnet, places }: AdminRoutesOptions): void {
  const { genesis: { terms }, network: { magic, securityParameter } } = devnet;

  endpoint(app, "post", `${ADMIN}/reset`, {
    summary: "Go back to the genesis, like Yaci DevKit",
    ...text,
    refusals: { ...changing, 409: "`rollback_impossible`: the chain is longer than the retained blocks" },
  }, async ({ context }) => {
    answered(await devnet.reset());
    return context.text("done");
  });

  endpoint(app, "post", `${ADMIN}/create`, {
    summary: "Begin again with the genesis of this devnet, like Yaci DevKit; another genesis needs another start",
    body: api.createBody,
    answer: api.created,
    refusals: { ...changing, 409: "`genesis_kept`, `not_supported`, `rollback_impossible`" },
  }, async ({ body }) => {
    const { genesisProperties, enableMultiNode, enableOgmios, enableKupomios } = body;
    if (enableMultiNode) throw new HttpFailure(409, "not_supported", "This devnet is one node.");
    const { ogmios, kupo } = places();
    if ((enableOgmios || enableKupomios) && ogmios === undefined || enableKupomios && kupo === undefined) {
      throw new HttpFailure(409, "not_supported", "This devnet runs without Ogmios or Kupo (--devnet-without).");
    }
    checkProperties(genesisProperties ?? {}, {
      epochLength: terms.epochLength,
      slotLength: slotLengthOf(devnet),
      blockTime: devnet.blockMs / 1_000,
      protocolMagic: magic,
      securityParam: securityParameter,
      activeSlotsCoeff: 1,
      maxLovelaceSupply: terms.maxSupply,
    });
    answered(await devnet.reset());
    return true;
  });
}

/** Going back to a remembered block. */
function forkRoutes(app: OpenAPIHono, { devnet }: AdminRoutesOptions): void {
  endpoint(app, "post", `${ROLLBACK}/create-forks`, {
    summary: "Remember the newest block, like Yaci DevKit when it separates its nodes; blocks go on",
    body: api.forksBody,
    ...text,
    refusals: { ...changing, 409: "`too_many_snapshots`" },
  }, async ({ context }) => {
    const { height } = answered(await devnet.snapshots.save(FORK, { replace: true }));
    return context.text(`The fork begins after block ${height}.`);
  });

  endpoint(app, "post", `${ROLLBACK}/join-forks`, {
    summary:
      "Roll back to the remembered block and drop the fork's transactions, like Yaci DevKit when it joins its nodes",
    ...text,
    refusals: { ...changing, 409: "`snapshot_unknown`: create-forks was not called before" },
  }, async ({ context }) => {
    const { height } = answered(await devnet.snapshots.restore(FORK));
    answered(await devnet.snapshots.delete(FORK));
    return context.text(`The fork is undone; the newest block is ${height}.`);
  });
}

/** What a wallet needs: unspent outputs, and submission. */
function walletRoutes(app: OpenAPIHono, { devnet, port }: AdminRoutesOptions): void {
  endpoint(app, "get", `${CLUSTER}/addresses/:address/utxos`, {
    summary: "Unspent outputs at an address, like Yaci DevKit",
    params: { address: z.string().min(1).max(300) },
    query: api.pageQuery,
    answer: api.utxos,
    refusals: { 400: "`bad_address`", 503: "`network_unreachable`" },
  }, async ({ params: { address }, query: { page } }) => {
    const { hex } = answered(parseAddress(address, devnet.network.id));
    if (page > 1) return [];
    return answered(await port.utxosByAddress([hex])).value.map((utxo) => utxoDocument(address, utxo));
  });

  endpoint(app, "post", `${CLUSTER}/tx/submit`, {
    summary: "Submit a transaction, like Yaci DevKit; gives its hash",
    body: api.transaction,
    consumes: "application/octet-stream",
    status: 202,
    answer: api.transactionHash,
    refusals: { ...changing, 400: "`undecodable`, `refused_by_ledger`", 503: "`mempool_full`, `devnet_unavailable`" },
  }, async ({ body }) => {
    const { failures } = { failures: [], ...answered(await devnet.submit(body)) };
    if (failures.length === 0) return scanTransaction(body).hash;
    const sentences = failures.map(describeFailure).join(" ");
    throw new HttpFailure(400, "refused_by_ledger", `The ledger refuses the transaction: ${sentences}`, { failures });
  });
}

/** The newest epoch, and protocol parameters. */
function epochRoutes(app: OpenAPIHono, { devnet, store: { sql }, port }: AdminRoutesOptions): void {
  const { genesis } = devnet;
  const { epochLength } = genesis.terms;
  const epoch = () => epochOf(Math.max(0, devnet.tip().slot), epochLength);

  endpoint(app, "get", `${CLUSTER}/epochs/latest`, {
    summary: "The epoch of the newest block, like Yaci DevKit",
    answer: api.epoch,
  }, async () => {
    const [latest] = await readEpochs(sql, undefined);
    if (latest && latest.epoch === epoch()) return epochDocument(genesis, latest);
    return {
      epoch: epoch(),
      start_time: secondsOf(genesis, epoch() * epochLength),
      end_time: secondsOf(genesis, (epoch() + 1) * epochLength),
      first_block_time: null,
      last_block_time: null,
      block_count: null,
      tx_count: null,
      output: null,
      fees: null,
      active_stake: null,
    };
  });

  const currentParameters = async () => {
    const { value } = answered(await port.parameters());
    return epochParametersDocument(genesis, { epoch: epoch(), parameters: parametersToJson(value) });
  };
  const away = { 503: "`network_unreachable`" };

  endpoint(app, "get", `${CLUSTER}/epochs/parameters`, {
    summary: "The protocol parameters, like Yaci DevKit",
    answer: api.epochParameters,
    refusals: away,
  }, currentParameters);

  endpoint(app, "get", `${CLUSTER}/epochs/:number/parameters`, {
    summary: "The protocol parameters of an epoch, the current ones for a later epoch, like Yaci DevKit",
    params: { number: z.coerce.number().int().min(0).max(2 ** 31 - 1) },
    answer: api.epochParameters,
    refusals: away,
  }, async ({ params: { number } }) => {
    const row = number < epoch() ? await readEpochParameters(sql, number) : undefined;
    return row ? epochParametersDocument(genesis, row) : await currentParameters();
  });
}

/** Refuses properties that another genesis has. */
function checkProperties(
  given: Readonly<Record<string, string | number | boolean | null>>,
  own: Readonly<Record<string, number | bigint>>,
): void {
  const other = Object.entries(given).flatMap(([name, value]) => {
    const kept = own[name];
    if (value === null || value === "" || (kept !== undefined && Number(value) === Number(kept))) return [];
    return [kept === undefined ? `${name} (not known here)` : `${name} ${value} (${kept})`];
  });
  if (other.length === 0) return;
  throw new HttpFailure(
    409,
    "genesis_kept",
    `The genesis of a running devnet cannot be changed: ${other.join(", ")}. Start a new devnet with options such as ` +
      "--epoch-slots and --parameters in another --folder.",
  );
}

function zip(name: string, files: readonly { readonly name: string; readonly text: string }[]): Response {
  const archive = zipSync(Object.fromEntries(files.map((file) => [file.name, utf8(file.text)])));
  return new Response(archive, {
    headers: {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${name}"`,
    },
  });
}

function utxoDocument(address: string, { ref, output: { value, datum, datumHash, script } }: Utxo) {
  return {
    tx_hash: ref.txHash,
    output_index: ref.index,
    address,
    amount: [
      { unit: "lovelace", quantity: value.lovelace },
      ...[...value.assets].map(([unit, quantity]) => ({ unit, quantity })),
    ],
    data_hash: datum ? hash256(datum) : datumHash ?? null,
    inline_datum: datum ? toHex(datum) : null,
    reference_script_hash: script ? referenceScriptHash(script) : null,
  };
}
