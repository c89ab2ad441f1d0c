/** The HTTP side of the MCP server. */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { reason } from "#src/base/log.ts";
import { VERSION } from "#src/base/version.ts";
import type { McpListener, McpSettings } from "#src/devnet/serve/mcp/settings.ts";
import { addTools } from "#src/devnet/serve/mcp/tools.ts";
import { serve } from "#src/http/serve.ts";
import { serviceApp } from "#src/http/service.ts";
import { guardSites } from "#src/http/sites.ts";

const LOOPBACK = "127.0.0.1";
/** Bytes of a request: more than a transaction in hexadecimal has. */
const MOST_BYTES = 1_048_576;

const INSTRUCTIONS =
  "A local Cardano development network. Its ada is worth nothing: use fund to get some, submit for transactions that " +
  "are signed already, and advance_time or make_blocks where blocks are made on request. Lovelace are whole numbers; " +
  "1 ada is 1000000 lovelace.";

/** Serves the tools on a port of loopback. */
export async function serveMcp(settings: McpSettings, port: number): Promise<McpListener> {
  const { log } = settings;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "arbor-devnet", version: VERSION }, { instructions: INSTRUCTIONS });
    addTools(server, settings);
    return server;
  }, {
    maxRequestBodySize: MOST_BYTES,
    onerror: (error) => log.debug("a request of MCP was refused", { reason: reason(error) }),
  });
  const app = serviceApp("mcp", log);
  app.use(guardSites({ hosts: [], origins: [] }));
  app.all("/mcp", (c) => handler.fetch(c.req.raw));
  const listener = await serve(app, { host: LOOPBACK, port });
  return {
    host: LOOPBACK,
    port: listener.port,
    stop: async () => {
      await handler.close();
      await listener.stop();
    },
  };
}
