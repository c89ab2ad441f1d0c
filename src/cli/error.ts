/** A message for the terminal; the command ends with status 1. */
export class CliError extends Error {
  override readonly name = "CliError";
}
