/**
 * An MCP server of a devnet (https://modelcontextprotocol.io), by streamable HTTP at `/mcp`, without sessions.
 *
 * Assumptions: it listens on loopback alone, where any program of the machine may call it, as it may call the devnet.
 */
import type { McpListener, McpSettings } from "#src/devnet/serve/mcp/settings.ts";

export interface McpService {
  /** Serves clients on loopback; port 0 takes a free one. Rejects with code `EADDRINUSE` where it is taken. */
  listen(address: { readonly port: number }): Promise<McpListener>;
  /** Stops at all ports. */
  close(): Promise<void>;
}

/** The MCP server of the devnet of this process. Nothing is loaded before it listens. */
export function mcpService(settings: McpSettings): McpService {
  const listeners = new Set<McpListener>();
  return {
    listen: async ({ port }) => {
      const { serveMcp } = await import("#src/devnet/serve/mcp/server.ts");
      const listener = await serveMcp(settings, port);
      listeners.add(listener);
      return listener;
    },
    close: async () => {
      await Promise.all([...listeners].map((listener) => listener.stop()));
      listeners.clear();
    },
  };
}
