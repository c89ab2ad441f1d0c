/** The network through an Ogmios server. */
import { isTransient } from "#src/chain/provider/ogmios/errors.ts";
import { type OgmiosPort, ogmiosPort } from "#src/chain/provider/ogmios/port.ts";
import { type Connected, type StartContext, StartError } from "#src/app/context.ts";
import { tipCheck } from "#src/app/health.ts";
import type { Check } from "#src/http/health.ts";
import { checkNetwork } from "#src/app/networkCheck.ts";
import type { OgmiosOptions } from "#src/app/providerOptions.ts";

/**
 * Connects to the server, and checks its network. For an unreachable one it prints a line and does not wait; throws
 * `StartError` where waiting does not help.
 */
export async function connectOgmios(
  { options, log, progress, health, stops }: StartContext,
  ogmios: OgmiosOptions,
): Promise<Connected<OgmiosPort>> {
  const { networkMagic: magic, genesisHash } = options;
  const port = ogmiosPort({
    ...ogmios,
    magic,
    ...(genesisHash === undefined ? {} : { genesisHash }),
    log: log.with({ component: "ogmios" }),
  });
  stops.push(async () => port.close());
  const checked = await port.check();
  if (checked.ok) await checkNetwork(options, checked.value.id, port);
  if (!checked.ok) {
    const { code, message } = checked.error;
    const hint = code === "wrong_network"
      ? " Name a server of that network by --ogmios-url, or the server's network by --network-magic, --mainnet or --testnet."
      : "";
    if (!isTransient(code)) throw new StartError(`--ogmios-url: ${message}${hint}`);
    progress(`${message} Waiting for it.`);
  }
  health.checks.set("ogmios", () => tipCheck(port));
  const kupo = await port.kupoTip?.();
  if (kupo) health.checks.set("kupo", () => kupoCheck(port));
  if (kupo?.ok === false) progress(`${kupo.error.message} Waiting for it.`);
  return { port, reached: checked.ok };
}

/** Kupo is ready when it states the block that it has reached: without it, outputs of new addresses are not found. */
async function kupoCheck({ kupoTip }: OgmiosPort): Promise<Check> {
  const tip = await kupoTip?.();
  if (tip?.ok === false) return { ready: false, why: tip.error.message };
  return tip ? { ready: true, says: `at slot ${tip.value.slot}` } : { ready: true };
}
