/** Loads the bundle for browsers in a context that has a browser's globals, and nothing of Node or Deno. */
import vm from "node:vm";

/** Web globals of this process that the bundle may use; everything else is part of the language. */
const WEB = {
  AbortController,
  AbortSignal,
  clearTimeout,
  console,
  crypto,
  fetch,
  Headers,
  performance,
  setTimeout,
  TextDecoder,
  TextEncoder,
  // The results of an encoder belong to this realm.
  Uint8Array,
  URL,
};

/**
 * Loads an ES module without imports; its exports are the global `client` in the context. Returns a function that runs
 * a script: the body of an async function of `client` and of `input`; input and result are JSON.
 */
export function inBrowserContext(module: string): <T>(script: string, input: unknown) => Promise<T> {
  const names: string[] = [];
  const text = module.replace(/export\s*\{([^}]*)\};?/g, (_all, list: string) => {
    const pairs = list.split(",").map((one) => one.trim().split(/\s+as\s+/)).map(([local, name = local]) => {
      names.push(name!);
      return `${JSON.stringify(name)}:${local}`;
    });
    return `globalThis.client={${pairs.join(",")}};`;
  });
  if (names.length === 0 || /^\s*(import|export)\b/m.test(text)) throw new Error("not a module without imports");
  const context = vm.createContext({ ...WEB });
  vm.runInContext(`"use strict";${text}`, context, { filename: "client.js" });
  return async <T>(script: string, input: unknown): Promise<T> => {
    const source = `(async (client, input) => { ${script} })(client, JSON.parse(${
      JSON.stringify(JSON.stringify(input))
    }))`;
    const done = vm.runInContext(`${source}.then((value) => JSON.stringify(value ?? null))`, context) as Promise<
      string
    >;
    return JSON.parse(await done) as T;
  };
}
