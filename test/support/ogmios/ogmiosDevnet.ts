/** A devnet with content of every kind, served in the forms of both versions of Ogmios. */
import { silentLog } from "#src/base/log.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { type OgmiosService, ogmiosService, type OgmiosServiceSettings } from "#src/devnet/serve/ogmios/service.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { ExplorerChain } from "../explorer/explorerChain.ts";
import { OgmiosClient } from "./ogmiosClient.ts";

type Version = 6 | 7;

export class OgmiosDevnet {
  private constructor(
    readonly chain: ExplorerChain,
    private readonly services: Readonly<Record<Version, { readonly service: OgmiosService; readonly port: number }>>,
  ) {}

  /** Starts a devnet for a seed, and lets it grow. */
  static async start(
    seed: number,
    steps: number,
    settings: Partial<OgmiosServiceSettings> = {},
    options: DevnetOptions = {},
  ): Promise<OgmiosDevnet> {
    const chain = await ExplorerChain.start(seed, options);
    for (let i = 0; i < steps; i++) await chain.step();
    const serve = async (version: Version) => {
      const service = OgmiosDevnet.service(chain, { version, ...settings });
      const { port } = await service.listen({ host: "127.0.0.1", port: 0 });
      return { service, port };
    };
    return new OgmiosDevnet(chain, { 6: await serve(6), 7: await serve(7) });
  }

  /** A service of the chain that does not listen yet. */
  static service(
    { devnet, store, bus }: ExplorerChain,
    settings: Partial<OgmiosServiceSettings> = {},
  ): OgmiosService {
    const measure: OgmiosServiceSettings["measure"] = async (input) => measureRedeemers(input);
    return ogmiosService({ devnet, store, bus, measure, log: silentLog, pollMs: 50, ...settings });
  }

  port(version: Version = 6): number {
    return this.services[version].port;
  }

  /** The URL of single requests, and of WebSockets with `ws`. */
  url(version: Version = 6, scheme = "http"): string {
    return `${scheme}://127.0.0.1:${this.port(version)}`;
  }

  open(version: Version = 6): Promise<OgmiosClient> {
    return OgmiosClient.open(this.url(version, "ws"));
  }

  async stop(): Promise<void> {
    for (const { service } of Object.values(this.services)) await service.close();
    await this.chain.stop();
  }
}
