/**
 * What a client is known to have read: a PING follows what it was sent, and its PONG confirms all before it. What is not
 * confirmed may still be in stream and kernel buffers.
 */
export class Confirmations {
  /** For each unanswered PING: how many bytes were sent before it. */
  private readonly pings: number[] = [];
  private sent = 0;
  private confirmed = 0;

  /** Bytes that were sent and are not confirmed. */
  get open(): number {
    return this.sent - this.confirmed;
  }

  /** Bytes that were sent after the last PING. */
  get sincePing(): number {
    return this.sent - (this.pings.at(-1) ?? this.confirmed);
  }

  /** The number of unanswered PINGs. */
  get unanswered(): number {
    return this.pings.length;
  }

  /** Bytes were sent. */
  add(bytes: number): void {
    this.sent += bytes;
  }

  /** A PING was sent. */
  pinged(): void {
    this.pings.push(this.sent);
  }

  /** Takes a PONG; whether it confirms more than what was confirmed. */
  answered(): boolean {
    const confirmed = this.pings.shift();
    if (confirmed === undefined || confirmed === this.confirmed) return false;
    this.confirmed = confirmed;
    return true;
  }
}
