/** Output buffer of a client: a burst of messages becomes one write. */
import { Buffer } from "node:buffer";

const MIN_SIZE = 512;

/** A growing buffer. What is appended is copied. */
export class OutputBuffer {
  private bytes: Buffer | undefined;
  private expected = MIN_SIZE;
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

  /** Appends text, one byte per character. */
  text(text: string): void {
    this.reserve(text.length).write(text, this.length, "latin1");
    this.length += text.length;
  }

  /** Appends bytes. */
  raw(bytes: Buffer): void {
    this.reserve(bytes.length).set(bytes, this.length);
    this.length += bytes.length;
  }

  /** The buffered bytes, which the caller owns; the buffer is empty afterwards. */
  take(): Buffer {
    const taken = this.bytes?.subarray(0, this.length) ?? Buffer.alloc(0);
    // the next burst is probably of similar size, but a single large one does not determine it
    this.expected = Math.max(MIN_SIZE, Math.min(65_536, this.length));
    this.bytes = undefined;
    this.length = 0;
    return taken;
  }
}
