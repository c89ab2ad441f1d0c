/** Where the built-in function `trace` puts its messages: the log of the evaluation under way, of which there is one at a time. */

let log: string[] = [];

/** Begins the log of an evaluation; messages are added to it until the next begins. */
export function startLog(): readonly string[] {
  return log = [];
}

export function addToLog(message: string): void {
  log.push(message);
}
