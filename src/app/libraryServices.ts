/** The devnet's services for libraries and tools, each at a port of its own: Ogmios, Kupo, UTxO RPC and MCP. */
import type { Devnet } from "#src/devnet/devnet.ts";
import type { DevnetPlaces } from "#src/devnet/serve/admin/admin.ts";
import { kupoApp } from "#src/devnet/serve/kupo/service.ts";
import { mcpService } from "#src/devnet/serve/mcp/service.ts";
import type { LocalApi } from "#src/devnet/serve/mcp/settings.ts";
import { ogmiosService } from "#src/devnet/serve/ogmios/service.ts";
import { utxorpcService } from "#src/devnet/serve/utxorpc/service.ts";
import { explainListenError } from "#src/embedded/postgres/ports.ts";
import type { Listener } from "#src/http/serve.ts";
import { measureIn } from "#src/plutus/jobs.ts";
import { type AppContext, listen, urlOf } from "#src/app/context.ts";
import { PAGES } from "#src/app/pages.ts";
import { type HostPort, kupoPort, mcpPort, ogmiosPort, utxorpcPort } from "#src/app/ports.ts";

/** A service that listens itself. */
interface ListeningService {
  listen(at: { readonly host: string; readonly port: number }): Promise<Pick<Listener, "host" | "port">>;
  close(): Promise<void>;
}

/**
 * Starts those services that are not left out.
 *
 * @throws {StartError} where a port cannot be listened on
 */
export async function startLibraryServices(
  context: AppContext,
  devnet: Devnet,
  api: LocalApi,
): Promise<DevnetPlaces> {
  const { store, bus, builders, options, listening, stops } = context;
  const without = options.devnetWithout;
  const hosts = [...options.hosts, options.host];
  const measure = measureIn(builders);
  const parts = (component: string) => ({ devnet, store, bus, measure, log: context.log.with({ component }) });
  let places: DevnetPlaces = {};

  const start = async (service: ListeningService, use: HostPort) => {
    stops.push(() => service.close());
    return await service.listen(use).catch((error) => {
      throw explainListenError(error, use);
    });
  };
  if (!without.has("ogmios")) {
    const { ogmiosVersion: version, ogmiosIncludeCbor: includeCbor } = options;
    const service = ogmiosService({ ...parts("ogmios"), version, includeCbor, hosts, pages: PAGES });
    const listener = await start(service, ogmiosPort(options));
    listening.push({ name: "Ogmios API of the devnet", at: urlOf(listener).replace(/^http/, "ws") });
    places = { ...places, ogmios: listener.port };
  }
  if (!without.has("kupo")) {
    const listener = await listen(context, kupoApp(parts("kupo"), hosts), kupoPort(options));
    listening.push({ name: "Kupo API of the devnet", at: urlOf(listener) });
    places = { ...places, kupo: listener.port };
  }
  if (!without.has("utxorpc")) {
    const service = utxorpcService({
      ...parts("utxorpc"),
      integers: options.utxorpcIntegers,
      index: !without.has("index"),
    });
    const listener = await start(service, utxorpcPort(options));
    listening.push({ name: "UTxO RPC of the devnet", at: urlOf(listener) });
  }
  const mcp = mcpPort(options);
  if (mcp) {
    const service = mcpService({ ...parts("mcp"), api, ...edgeApis(context) });
    const listener = await start({ listen: (at) => service.listen(at), close: () => service.close() }, mcp);
    listening.push({ name: "MCP server of the devnet", at: `${urlOf(listener)}/mcp` });
  }
  return places;
}

/** The token service and the operator service of this process, which start later. */
function edgeApis({ options, listening }: AppContext): { tokens?: LocalApi; operators?: LocalApi } {
  if (!options.roles.has("edge")) return {};
  const reach = (name: string, headers: Readonly<Record<string, string>> = {}): LocalApi => ({
    fetch: async (request) => {
      const service = listening.find((one) => one.name === name);
      if (!service) return Response.json({ code: "unavailable", error: "It starts; try again." }, { status: 503 });
      const { pathname, search } = new URL(request.url);
      const sent = new Request(service.at + pathname + search, request);
      for (const [header, value] of Object.entries(headers)) sent.headers.set(header, value);
      return await fetch(sent);
    },
  });
  const { operatorToken: token } = options;
  return {
    tokens: reach("token service"),
    operators: reach("operator service", token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}
