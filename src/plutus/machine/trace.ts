/** The log that the built-in function `trace` writes to. There is one, because evaluations run one at a time. */

let log: string[] = [];

/** Starts the log of an evaluation and gives it; later messages are added to it until the next start. */
export function startLog(): readonly string[] {
  return log = [];
}

export function addToLog(message: string): void {
  log.push(message);
}
