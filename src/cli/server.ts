/** The programs of the server, which few commands load. */
import { existsSync } from "node:fs";

/** The server's module of programs. */
export type ServerPrograms = typeof import("#src/app/programs.ts");

// by its URL: Deno loads what an import names before a program starts
const PROGRAMS = new URL("../app/programs.ts", import.meta.url);

/** Loads the programs; undefined in a package without the server. */
export const loadServer = existsSync(PROGRAMS) ? () => import(PROGRAMS.href) as Promise<ServerPrograms> : undefined;

/** Why a command does not start a server that is not there. */
export const NO_SERVER = "The server is not part of this package: install @arbor-cardano/arbor instead.";
