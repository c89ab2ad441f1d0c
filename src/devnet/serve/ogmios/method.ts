/** Methods of the protocols of a connection. */
import type { Answer } from "#src/devnet/serve/ogmios/envelope.ts";
import type { JsonObject } from "#src/ogmios/form.ts";

/** The devnet does not run in this process any longer: connections end. */
export class DevnetLost extends Error {
  override readonly name = "DevnetLost";
}

/** A request whose parameters were read: it is answered at once, or in its turn. */
export type Prepared = { readonly now: Answer } | { readonly run: () => Promise<Answer> };

/**
 * A method: reads the parameters of a request.
 *
 * @throws OgmiosFormError for others
 */
export type Method = (params: JsonObject) => Prepared;

/** A protocol: its methods are answered in order, while those of others are under way. */
export interface Protocol {
  readonly methods: Readonly<Record<string, Method>>;
  /** Called when the client has gone. */
  close?(): void;
}
