/**
 * The role `devnet`: a network in this process, with its faucet, its HTTP service, its genesis files and its node
 * socket.
 */
import path from "node:path";
import { evaluateIn, measureIn } from "#src/plutus/jobs.ts";
import { reason } from "#src/base/log.ts";
import { publicationAddress, referenceScript } from "#src/contract/publication.ts";
import { cageScripts, firstProtocol } from "#src/contract/script.ts";
import { startDevnet } from "#src/devnet/devnet.ts";
import { writeGenesisFiles } from "#src/devnet/genesis/files.ts";
import { settingsLines } from "#src/devnet/genesis/settings.ts";
import { serveRollbacks } from "#src/devnet/serve/rollback.ts";
import { blockfrostApp } from "#src/devnet/serve/blockfrost/app.ts";
import type { DevnetPlaces } from "#src/devnet/serve/admin/admin.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { walletRoutes } from "#src/devnet/serve/admin/wallet.ts";
import { mountGuide } from "#src/http/guide.ts";
import { healthRoutes } from "#src/http/health.ts";
import { isLoopback } from "#src/http/sites.ts";
import { GUIDE, PAGES } from "#src/app/pages.ts";
import { type AppContext, listen, StartError, urlOf } from "#src/app/context.ts";
import { devnetCheck } from "#src/app/health.ts";
import { startLibraryServices } from "#src/app/libraryServices.ts";
import { checkSocket, serveAsNode } from "#src/app/nodeSocket.ts";
import type { Options } from "#src/app/options.ts";
import { devnetPort, indexerPort } from "#src/app/ports.ts";

/** Starts the devnet, or stands by for it where another process runs it. */
export async function startDevnetRole(context: AppContext): Promise<void> {
  const { store, clock, bus, builders, options, log, progress, listening, stops } = context;
  checkSocket(options);
  const started = await startDevnet({
    store,
    bus,
    evaluate: evaluateIn(builders),
    clock,
    log,
    options: {
      magic: options.networkMagic,
      mining: options.mining,
      blockMs: options.blockMs,
      pastHorizon: options.pastHorizon,
      ...options.genesis,
      ...metadataUrl(options),
      leaseMs: options.leaseMs,
      index: !options.devnetWithout.has("index"),
      utxoRoot: !options.devnetWithout.has("utxo-root"),
      publish: cageScripts.map((script) => ({
        address: publicationAddress(context.networkId),
        script: referenceScript(script),
        firstProtocol: firstProtocol(script),
      })),
    },
  });
  if (!started.ok) throw new StartError(started.error.message);
  const devnet = started.value;
  for (const line of settingsLines(devnet.genesis)) progress(line);
  if (devnet.ignoredOptions !== undefined) progress(devnet.ignoredOptions);
  context.health.checks.set("devnet", () => devnetCheck(devnet));
  stops.push(() => devnet.stop());
  const unsubscribe = serveRollbacks(bus, devnet.rollback, log);
  stops.push(async () => unsubscribe());
  const files = await writeGenesisFiles(path.join(options.folder, "devnet"), devnet.genesis).catch((error) => {
    progress(`The devnet's genesis files were not written: ${reason(error)}.`);
    return [];
  });
  const health = healthRoutes({ health: context.health, more: () => ({ tip: { ...devnet.tip() } }) });
  const hosts = [...options.hosts, options.host];
  const origins = options.devnetOrigins;
  const without = options.devnetWithout;
  let places: DevnetPlaces = {};
  const admin = without.has("admin") ? undefined : { places: () => places };
  const withWallet = !without.has("wallet");
  const explorer = { builders, pages: PAGES, links: context.links, index: !without.has("index"), wallet: withWallet };
  const served = { devnet, store, port: context.port, files, health, hosts, origins, admin, explorer, log };
  const app = devnetApp({ ...served, utxoRoot: !without.has("utxo-root") });
  if (withWallet) walletRoutes(app, { devnet, port: context.port, pages: PAGES });
  const listener = await listen(context, mountGuide(app, GUIDE), devnetPort(options));
  if (withWallet) context.devnetWallet.port = listener.port;
  context.links.explorer ??= listener;
  listening.push({ name: "devnet and faucet", at: urlOf(listener) });
  if (!without.has("blockfrost")) {
    const measure = measureIn(builders);
    const indexer = await listen(
      context,
      blockfrostApp({ devnet, store, measure, log, page: { builders, log, pages: PAGES } }, health, hosts),
      indexerPort(options),
    );
    listening.push({ name: "Blockfrost API of the devnet", at: `${urlOf(indexer)}/api/v1` });
    places = { ...places, indexer: indexer.port };
  }
  const configuration = files.find(({ path }) => path.endsWith("config.json"));
  if (configuration) listening.push({ name: "its genesis files", at: path.dirname(configuration.path) });
  places = { ...places, ...await startLibraryServices(context, devnet, app), ...await serveAsNode(context, devnet) };
}

/** URL of the pools' metadata for their registrations; none where the port is only chosen at the start. */
function metadataUrl({ host, devnetPort: port }: Options): { url?: string } {
  const reached = isLoopback(host) || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return port === 0 ? {} : { url: urlOf({ host: reached, port }) };
}
