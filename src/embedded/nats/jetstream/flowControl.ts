/** Flow control of a push consumer: how many bytes are in flight, and when the client is to say that it has them. */
import { randomBytes } from "node:crypto";

/** Bytes in flight, at first and at most. */
const FIRST_WINDOW = 2 * 1024 * 1024;
const LARGEST_WINDOW = 32 * 1024 * 1024;

export class FlowControl {
  /** 0 without flow control. */
  private window: number;
  private inFlight = 0;
  /** The subject of the open request, and the bytes that it covers. */
  private open = "";
  private covered = 0;

  /** `prefix`: the beginning of the subjects of its requests. */
  constructor(isWanted: boolean, private readonly prefix: string) {
    this.window = isWanted ? FIRST_WINDOW : 0;
  }

  /** The subject of the request that the client has not answered; empty without one. */
  get request(): string {
    return this.open;
  }

  /** Whether nothing may be sent for now. */
  get isFull(): boolean {
    return this.inFlight > this.window && this.window > 0;
  }

  /** Counts a message that was sent; gives the subject of a request that is to be sent now. */
  sent(size: number): string | undefined {
    if (this.window === 0) return undefined;
    this.inFlight += size;
    if (this.open !== "") {
      if (this.inFlight - this.covered >= this.window) this.covered += size;
      return undefined;
    }
    if (this.inFlight <= this.window / 2) return undefined;
    this.covered = this.inFlight;
    return this.open = `${this.prefix}.${randomBytes(4).toString("hex")}`;
  }

  /** Takes the answer to a request; false if it is not the open one's. */
  answered(request: string): boolean {
    if (request !== this.open) return false;
    this.window = Math.min(LARGEST_WINDOW, 2 * this.window);
    this.inFlight = Math.max(0, this.inFlight - this.covered);
    this.open = "";
    this.covered = 0;
    return true;
  }
}
