/** A receiver of webhooks that checks every signature and fails on request. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import type { TransitionEvent } from "#src/operators/api/events.ts";

export interface Receiver {
  readonly url: string;
  /** Accepted messages, in order, including duplicates. */
  readonly taken: readonly TransitionEvent[];
  /** Headers of every message, including refused ones. */
  readonly headers: readonly Record<string, string>[];
  /** Every message as received, including refused ones. */
  readonly messages: readonly { readonly text: string; readonly headers: Record<string, string> }[];
  /** Number of messages with a wrong signature. */
  readonly forged: number;
  /** The key to check signatures with, in the form of the response to POST /webhooks. */
  secret: string | undefined;
  /** Handles a message; true or undefined accepts it, false refuses it. */
  refuse: (event: TransitionEvent, response: ServerResponse) => boolean;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const taken: TransitionEvent[] = [];
  const headers: Record<string, string>[] = [];
  const messages: { text: string; headers: Record<string, string> }[] = [];
  const receiver = {
    taken,
    messages,
    headers,
    forged: 0,
    secret: undefined as string | undefined,
    refuse: (() => false) as Receiver["refuse"],
  };
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const part of request) body += String(part);
    const given = request.headers as Record<string, string>;
    headers.push(given);
    messages.push({ text: body, headers: given });
    try {
      if (receiver.secret !== undefined) new Webhook(receiver.secret).verify(body, given);
    } catch {
      receiver.forged++;
      response.writeHead(401).end();
      return;
    }
    const event = JSON.parse(body) as TransitionEvent;
    if (receiver.refuse(event, response)) return;
    taken.push(event);
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}
