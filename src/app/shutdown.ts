/** Ends what was started, the last first. */
import { type Log, reason } from "#src/base/log.ts";

/** Ends one thing. */
export type Stop = () => Promise<void>;

/** Carries out the stops from the last to the first and empties the list. One that fails is logged and keeps none from its turn. */
export async function endAll(stops: Stop[], log: Log): Promise<void> {
  for (const end of stops.splice(0).reverse()) {
    try {
      await end();
    } catch (error) {
      log.error("something did not end well", { reason: reason(error) });
    }
  }
}
