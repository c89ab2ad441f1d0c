/**
 * A counter as a virtual object of Restate, a workflow of durable steps, and an alarm for delayed calls. Restate calls
 * them over HTTP/2. Says its port on a line of its own; a line of input asks how many alarms rang.
 */
import { createInterface } from "node:readline";
import process from "node:process";
// Node 20 lacks what the SDK is built on.
Promise.withResolvers ??= function () {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};
const restate = await import("@restatedev/restate-sdk");

const counter = restate.object({
  name: "counter",
  handlers: {
    add: async (ctx, { amount }) => {
      const count = ((await ctx.get("count")) ?? 0) + amount;
      ctx.set("count", count);
      return { count };
    },
  },
});

const workflow = restate.service({
  name: "workflow",
  handlers: {
    run: async (ctx, { steps }) => {
      const values = [];
      for (let step = 0; step < steps; step++) values.push(await ctx.run(`step ${step}`, () => step));
      return { values };
    },
  },
});

const fired = { count: 0, last: 0 };
const alarm = restate.service({
  name: "alarm",
  handlers: {
    ring: () => {
      fired.count++;
      fired.last = Date.now();
      return Promise.resolve();
    },
  },
});

const say = (value) => console.log(`@bench ${JSON.stringify(value)}`);
say({ port: await restate.serve({ services: [counter, workflow, alarm], port: 0 }) });
createInterface({ input: process.stdin }).on("line", () => say(fired));
