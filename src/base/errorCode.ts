/** The code of an error: that of the operating system (`ENOENT`), of a library or of PostgreSQL; empty without one. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && error.code !== undefined ? String(error.code) : "";
}
