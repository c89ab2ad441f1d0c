/** The network through a Blockfrost service, or through a Yaci Store. */
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { isTransient } from "#src/chain/provider/blockfrost/errors.ts";
import { memo } from "#src/http/memo.ts";
import { checkNetwork } from "#src/app/networkCheck.ts";
import { tipCheck } from "#src/app/health.ts";
import { yaciPort } from "#src/chain/provider/yaci/port.ts";
import type { BlockfrostOptions, YaciOptions } from "#src/app/providerOptions.ts";
import { type Connected, type StartContext, StartError } from "#src/app/context.ts";

/**
 * How long a check's result is used, a good one and a bad one, in ms: health checks must not use up the requests of a
 * plan.
 */
const GOOD_MS = 30_000;
const BAD_MS = 3_000;
/** Requests to a service that is not Blockfrost's: no plan limits them. */
const OWN_RATE = { perSecond: 100, burst: 200 };

/** The port to a Blockfrost service; see `connectService`. */
export async function connectBlockfrost(
  context: StartContext,
  blockfrost: BlockfrostOptions,
): Promise<Connected<BlockfrostPort>> {
  const port = blockfrostPort({
    ...blockfrost,
    magic: context.options.networkMagic,
    log: context.log.with({ component: "blockfrost" }),
    ...(new URL(blockfrost.url).hostname.endsWith(".blockfrost.io") ? {} : { rate: OWN_RATE }),
  });
  return await connectService(context, "blockfrost", port);
}

/** The port to a Yaci Store; see `connectService`. */
export async function connectYaci(context: StartContext, yaci: YaciOptions): Promise<Connected<BlockfrostPort>> {
  const { options: { networkMagic: magic }, log } = context;
  const port = yaciPort({ ...yaci, magic, log: log.with({ component: "yaci" }), rate: OWN_RATE });
  return await connectService(context, "yaci", port);
}

/**
 * Checks the port to a service. For an unreachable one it prints a line and does not wait; throws `StartError` where
 * waiting does not help.
 */
async function connectService(
  { options, health, progress, stops }: StartContext,
  name: string,
  port: BlockfrostPort,
): Promise<Connected<BlockfrostPort>> {
  stops.push(async () => port.close());
  const checked = await port.check();
  if (checked.ok) await checkNetwork(options, checked.value.id, port);
  if (!checked.ok) {
    const hint = checked.error.code === "unauthorized"
      ? " Put the project id into BLOCKFROST_PROJECT_ID, or into a file named by --blockfrost-project-file."
      : "";
    if (!isTransient(checked.error.code)) throw new StartError(checked.error.message + hint);
    progress(`${checked.error.message} Waiting for it.`);
  }
  health.checks.set(name, memo(({ ready }) => ready ? GOOD_MS : BAD_MS, () => tipCheck(port)));
  return { port, reached: checked.ok };
}
