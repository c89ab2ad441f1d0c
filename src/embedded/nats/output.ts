/** Bytes on their way to one client, gathered so that a burst of messages is one write. */
import { Buffer } from "node:buffer";

const SMALLEST = 512;

/** A buffer that grows. What is appended is copied. */
export class Output {
  private bytes: Buffer | undefined;
  private expected = SMALLEST;
  length = 0;

  private reserve(more: number): Buffer {
    const needed = this.length + more;
    if (!this.bytes) this.bytes = Buffer.allocUnsafe(Math.max(this.expected, needed));
    else if (this.bytes.length < needed) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.bytes.length, needed));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    return this.bytes;
  }

  /** Appends text, one byte a character. */
  text(text: string): void {
    this.reserve(text.length).write(text, this.length, "latin1");
    this.length += text.length;
  }

  /** Appends bytes. */
  raw(bytes: Buffer): void {
    this.reserve(bytes.length).set(bytes, this.length);
    this.length += bytes.length;
  }

  /** What was gathered; the receiver owns it. */
  take(): Buffer {
    const taken = this.bytes?.subarray(0, this.length) ?? Buffer.alloc(0);
    // The next burst is likely to be like this one, but a single large one does not set the measure.
    this.expected = Math.max(SMALLEST, Math.min(65_536, this.length));
    this.bytes = undefined;
    this.length = 0;
    return taken;
  }
}
