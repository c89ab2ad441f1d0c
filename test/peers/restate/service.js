/** A counter as a virtual object of Restate, which calls it over HTTP/2. Says its port on a line of its own. */
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

const port = await restate.serve({ services: [counter], port: 0 });
console.log(`@bench ${JSON.stringify({ port })}`);
