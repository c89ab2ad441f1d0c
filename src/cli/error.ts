/** A message for the terminal, with a stable code; the command ends with status 1. */
export class CliError extends Error {
  override readonly name = "CliError";
  constructor(message: string, readonly code = "failed") {
    super(message);
  }
}
