/**
 * A subscriber over NATS: it prints the facts of every token as they change.
 *
 *     natsSubscriber.ts
 *
 * Guests may read the events of tokens. Messages arrive at least once and in the order of each token's versions; those
 * that were published while this program was away are at the operator service, at `/events?from=…`, and in JetStream.
 */
import process from "node:process";
import { type ActorEvent, FactReplica } from "@arbor-cardano/client/replicas";
import { connect } from "nats";

const connection = await connect({ servers: process.env.NATS_URL ?? "nats://127.0.0.1:4222" });
const replica = new FactReplica();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void connection.drain());

const subscription = connection.subscribe("arbor.event.token.>");
await connection.flush();
console.log("subscribed");
for await (const message of subscription) {
  const event = message.json<ActorEvent>();
  if (!replica.apply(event)) continue;
  const { id } = event.data.entity;
  // undefined for a token that has changed before this program began: its earlier events are missing
  const facts = replica.facts(id);
  console.log(JSON.stringify({
    token: id,
    transition: event.type.split(".").at(-1),
    status: replica.token(id)?.status,
    ...(facts && { facts: facts.map(({ key, value }) => [key, value]), verified: replica.verify(id) }),
  }));
}
