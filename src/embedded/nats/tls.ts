/**
 * TLS of the NATS endpoint. As NATS has it, INFO is sent in the clear and says that TLS is required; then the same
 * connection continues with the handshake.
 *
 * Assumption: the runtime's TLS reads all that arrives, however long its reader pauses, so what it gets is limited here.
 */
import type { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { createServer, type TlsOptions, type TLSSocket } from "node:tls";

/** The encrypted side of a connection: a socket whose input can be held. */
export class EncryptedSide extends Duplex {
  private held = false;

  constructor(private readonly socket: Socket) {
    super({ allowHalfOpen: false });
    socket.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on("end", () => this.push(null));
    socket.on("error", () => this.destroy());
    socket.on("close", () => this.destroy());
  }

  /** Reads nothing more from the socket until `release`. */
  hold(): void {
    this.held = true;
    this.socket.pause();
  }

  release(): void {
    this.held = false;
    this.socket.resume();
  }

  override _read(): void {
    if (!this.held) this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }
}

/**
 * Waits for a client's handshake; `onSecure` gets the decrypted side. If the handshake fails, the connection is closed.
 * The certificates of clients are checked by a `tls.Server` only, not by a `TLSSocket` alone, hence one for each
 * connection; it does not listen.
 */
export function handshake(
  encrypted: EncryptedSide,
  options: TlsOptions,
  onSecure: (decrypted: TLSSocket) => void,
): void {
  const server = createServer(options);
  server.on("secureConnection", onSecure);
  server.on("tlsClientError", () => encrypted.destroy());
  server.emit("connection", encrypted);
}
