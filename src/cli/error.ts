/** A sentence for the person at the terminal; the command ends with status 1. */
export class CliError extends Error {
  override readonly name = "CliError";
}
