/** The role `signer`: signing services for development, each with the wallet of one seed file. */
import { countSpending } from "#src/wallets/spending.ts";
import { walletBuilds } from "#src/wallets/walletBuildCalls.ts";
import { inTime } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import { elementAt } from "#src/base/present.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { healthRoutes } from "#src/http/health.ts";
import { DEVELOPMENT, signerApp } from "#src/signer/http/app.ts";
import { httpFaucet } from "#src/signer/http/faucet.ts";
import { signingWallet } from "#src/signer/http/wallet.ts";
import type { SigningWallet } from "#src/signer/http/options.ts";
import { createAsk } from "#src/runtime/bus/ask.ts";
import { contentsOf } from "#src/runtime/events/content.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import { fence } from "#src/runtime/placement/namedLease.ts";
import { announcePresence } from "#src/runtime/placement/presence.ts";
import { type AppContext, holdProcessLease, listen, StartError, urlOf } from "#src/app/context.ts";
import { tokenEdgeOptions } from "#src/app/edgeRole.ts";
import { partitionsCheck } from "#src/http/checks.ts";
import { signerPorts } from "#src/app/ports.ts";

/** How long a start waits for a wallet's actor: its worker may start later, in another process. In milliseconds. */
const OPEN_MS = 10_000;

/** Starts the signing services, each at its port. */
export async function startSignerRole(context: AppContext): Promise<void> {
  const { store, bus, vault, kinds, port, options, networkId, log, listening, progress, stops } = context;
  const { signers } = options;
  if (signers === undefined) return;
  const ask = createAsk({ bus, store, log });
  stops.push(() => Promise.resolve(ask.close()));
  context.health.checks.set("partitions", () => partitionsCheck(store));
  const events = createEventLog({
    store,
    bus,
    log,
    contents: contentsOf(kinds),
  });
  const presence = announcePresence(bus);
  stops.push(() => Promise.resolve(presence.close()));
  const topupUrl = topupUrlOf(context);
  const health = healthRoutes({ health: context.health, more: () => ({ development: DEVELOPMENT }) });
  const shared = {
    ...tokenEdgeOptions(context, { ask, events, health }),
    vault,
    builds: walletBuilds(ask.build),
    countSpending: (wallet: string, transactions: readonly Uint8Array[]) =>
      countSpending({ store, port, networkId }, wallet, transactions),
    presence,
    hosts: [...options.hosts, signers.host],
    ...(topupUrl === undefined ? {} : { faucet: httpFaucet(topupUrl) }),
    ...(signers.token === undefined ? {} : { token: signers.token }),
  };
  progress(`The signing service is ${DEVELOPMENT}.`);
  for (const [i, use] of signerPorts(options).entries()) {
    const wallet = await signingWallet(shared, elementAt(context.seeds, i));
    await openSoon(wallet, log);
    const sends = leaseHolderCheck(context, `signer-${wallet.id}`);
    const listener = await listen(context, signerApp({ ...shared, wallet, sends }), use);
    listening.push({ name: i === 0 ? "signing service" : `signing service ${i + 1}`, at: urlOf(listener) });
  }
  // Stops before the listeners, which wait for their streams to end.
  stops.push(() => Promise.resolve(events.close()));
}

/** Competes for a lease. The function that it returns asks the database whether this process holds it now: only then it sends. */
function leaseHolderCheck(context: AppContext, name: string): () => Promise<boolean> {
  const lease = holdProcessLease(context, name, () => {});
  return async () => {
    const epoch = lease.epoch();
    return epoch !== undefined && (await fence(context.store.sql, name, epoch)).length > 0;
  };
}

/** Tries for some seconds to open the wallet. Then the start goes on, and each request tries again. @throws {StartError} */
async function openSoon(wallet: SigningWallet, log: AppContext["log"]): Promise<void> {
  try {
    await inTime(wallet.open(), OPEN_MS);
  } catch (error) {
    if (error instanceof HttpFailure && error.code === "wallet_passphrase_differs") throw new StartError(error.message);
    log.warn("the wallet is opened by the first request", { wallet: wallet.id, reason: reason(error) });
  }
}

/** The admin host whose faucet pays the wallets; undefined where the options name none and this process has no devnet. */
function topupUrlOf({ options: { signers, yaci }, listening }: AppContext): string | undefined {
  return signers?.topupUrl ?? yaci?.adminUrl ?? listening.find(({ name }) => name === "devnet and faucet")?.at;
}
