/** A start on a Blockfrost service. */
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { isTransient } from "#src/chain/provider/blockfrost/errors.ts";
import type { Check } from "#src/edge/health.ts";
import type { Ground } from "#src/app/network.ts";
import type { BlockfrostOptions } from "#src/app/providerOptions.ts";
import { NETWORK_ID, StartError } from "#src/app/context.ts";

/** For how long a look at the service holds, a good one and a bad one, in ms: who asks whether we are ready is not to use up a plan's requests. */
const GOOD_MS = 30_000;
const BAD_MS = 3_000;
/** Requests to a service that is not Blockfrost's: no plan counts them. */
const OWN_RATE = { perSecond: 100, burst: 200 };

/** The port to a service. One that is away is waited for, with a line of progress; throws a sentence where waiting does not help. */
export async function blockfrostOf(
  { options, log, health, stops }: Ground,
  blockfrost: BlockfrostOptions,
  progress: (line: string) => void,
): Promise<BlockfrostPort> {
  const port = blockfrostPort({
    ...blockfrost,
    magic: options.networkMagic,
    log: log.with({ room: "blockfrost" }),
    ...(new URL(blockfrost.url).hostname.endsWith(".blockfrost.io") ? {} : { rate: OWN_RATE }),
  });
  stops.push(async () => port.close());
  const checked = await port.check();
  if (checked.ok && checked.value.id !== NETWORK_ID) {
    throw new StartError("The Blockfrost service is of the main network; this program builds for test networks alone.");
  }
  if (!checked.ok) {
    const hint = checked.error.code === "unauthorized"
      ? " Put the project id into BLOCKFROST_PROJECT_ID, or into a file named by --blockfrost-project-file."
      : "";
    if (!isTransient(checked.error.code)) throw new StartError(checked.error.message + hint);
    progress(`${checked.error.message} It is waited for.`);
  }
  health.checks.set("blockfrost", looking(port));
  return port;
}

function looking(port: BlockfrostPort): () => Promise<Check> {
  let found: Promise<Check> | undefined;
  let until = 0;
  return () => {
    if (found !== undefined && performance.now() < until) return found;
    until = Infinity;
    const looked = found = look(port);
    void looked.then(({ ready }) => until = performance.now() + (ready ? GOOD_MS : BAD_MS));
    return looked;
  };
}

async function look(port: BlockfrostPort): Promise<Check> {
  const tip = await port.tip();
  return tip.ok ? { ready: true, says: `at height ${tip.value.height}` } : { ready: false, why: tip.error.message };
}
