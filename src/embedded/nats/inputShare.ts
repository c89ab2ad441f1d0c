/** When a client's bytes are read: not while its password is checked, and of a guest only its share of each second. */

/** Stops and continues reading. */
export interface InputSwitch {
  hold(): void;
  release(): void;
}

export class InputShare {
  /** Bytes read beyond the share of the elapsed time. */
  private taken = 0;
  private checking = false;
  private held = false;

  /** `share`: bytes per second. */
  constructor(private readonly input: InputSwitch, private readonly share: () => number) {}

  /** Whether a password is being checked; nothing is read in the meantime. */
  check(isChecking: boolean): void {
    this.checking = isChecking;
    if (isChecking) this.hold();
    else this.release();
  }

  /** Counts bytes of a guest. */
  took(bytes: number): void {
    this.taken += bytes;
    if (this.taken > this.share()) this.hold();
  }

  /** A second has passed. */
  tick(): void {
    this.taken = Math.max(0, this.taken - this.share());
    if (this.taken <= this.share()) this.release();
  }

  private hold(): void {
    if (!this.held) this.input.hold();
    this.held = true;
  }

  private release(): void {
    if (!this.held || this.checking) return;
    this.held = false;
    this.input.release();
  }
}
