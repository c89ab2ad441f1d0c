/** `arbor certificates`: an authority with certificates for a wallet service with TLS. */
import type { Command } from "commander";
import { type Context, define, wholeNumber } from "#src/cli/arbor/command.ts";

/** Adds `arbor certificates`. */
export function certificatesCommand(program: Command): void {
  define(program, {
    usage: "certificates <folder> [hosts...]",
    description: "write an authority and the certificates of a server (of these hosts) and of a client into a folder",
    example: "certificates tls wallet.example 10.0.0.5",
  }, async ({ output, options: { days } }: Context<{ days: number }>, folder, hosts) => {
    // the library takes a quarter of a second to load, and no other command needs it
    const { writeCertificates } = await import("#src/cli/certificates.ts");
    const files = await writeCertificates(folder, hosts.length > 0 ? hosts : ["localhost", "127.0.0.1", "::1"], days);
    output.value(files.join("\n"), { files });
  }).option("--days <n>", "how long the certificates are valid", wholeNumber(1, 3_650), 397);
}
