/** A listener with TLS answers only clients whose certificate its authority signed, and no plain connection. */
import { Buffer } from "node:buffer";
import { request } from "node:https";
import { connect as connectPlain } from "node:net";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Authority, type CertifiedKey } from "#src/cli/certificates.ts";
import { readTls } from "#src/embedded/postgres/tlsFiles.ts";
import { type Listener, serve } from "#src/http/serve.ts";
import { temporaryFiles } from "../../support/infra/tlsCertificates.ts";

const answered = "an answer over TLS";
let listener: Listener;
let authority: Authority;
let ca: string;
let files: { remove(): Promise<void> };
/** Requests that reached the app. */
let seen = 0;

beforeAll(async () => {
  authority = await Authority.create();
  ca = (await authority.pem()).certificate;
  const { certificate, key } = await authority.server(["localhost", "127.0.0.1"]);
  const paths = await temporaryFiles({ ca, certificate, key });
  files = paths;
  const tls = await readTls({ ca: paths.ca, cert: paths.certificate, key: paths.key });
  const app = {
    fetch: () => {
      seen++;
      return new Response(answered);
    },
  };
  listener = await serve(app, { host: "127.0.0.1", port: 0, tls });
});
afterAll(async () => {
  await listener?.stop();
  await files?.remove();
});

/** The body of an answer, or the code of the connection's error. */
function get(client?: CertifiedKey): Promise<string> {
  return new Promise((resolve) => {
    const own = client ? { cert: client.certificate, key: client.key } : {};
    const sent = request({ host: "127.0.0.1", port: listener.port, servername: "localhost", ca, agent: false, ...own });
    sent.on("response", (answer) => void text(answer).then(resolve));
    sent.on("error", () => resolve("no answer"));
    sent.end();
  });
}

/** All that a connection gives back for an HTTP request, TLS or not, until it ends. */
function bytesOver(open: () => ReturnType<typeof connectPlain>): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = open();
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  });
}

describe("a listener with TLS", () => {
  it("answers a client with a certificate of its authority", async () => {
    expect(listener.scheme).toBe("https");
    expect(await get(await authority.client("a wallet user"))).toBe(answered);
    expect(seen).toBe(1);
  });

  it("answers no client without a certificate, with an expired one, or with one of another authority", async () => {
    const other = await Authority.create();
    const cases = {
      without: undefined,
      expired: await authority.client("late", -1),
      other: await other.client("a stranger"),
      "of the same name, self-signed": await (await Authority.create()).pem(),
      "a server's": await authority.server(["localhost"]),
    };
    const before = seen;
    for (const [name, client] of Object.entries(cases)) {
      expect([name, await get(client)]).toEqual([name, "no answer"]);
      const own = client ? { cert: client.certificate, key: client.key } : {};
      const over = await bytesOver(() =>
        connect({ host: "127.0.0.1", port: listener.port, servername: "localhost", ca, ...own })
      );
      expect([name, over]).toEqual([name, ""]);
    }
    expect(seen).toBe(before);
  });

  it("answers no byte of HTTP in the clear, and goes on after it", async () => {
    expect(await bytesOver(() => connectPlain(listener.port, "127.0.0.1"))).not.toContain("HTTP");
    expect(await get(await authority.client("a wallet user"))).toBe(answered);
  });

  it("refuses TLS 1.1", async () => {
    const own = await authority.client("old");
    const options = { host: "127.0.0.1", port: listener.port, ca, cert: own.certificate, key: own.key };
    expect(await bytesOver(() => connect({ ...options, minVersion: "TLSv1", maxVersion: "TLSv1.1" }))).toBe("");
  });
});

describe("files of TLS", () => {
  it("that cannot be used are refused with the file's name and the reason", async () => {
    const { certificate, key } = await authority.server(["localhost"]);
    const late = await authority.server(["localhost"], -2);
    const paths = await temporaryFiles({
      "ca.crt": ca,
      "sv.crt": certificate,
      "sv.key": key,
      "late.crt": late.certificate,
      "late.key": late.key,
      "text.crt": "no certificate",
    });
    const refusal = async (cert: string, keyFile: string, caFile: string) => {
      const used = await readTls({ cert, key: keyFile, ca: caFile }).then(
        () => "used",
        (error: Error) => error.message,
      );
      return used.replace(/\S*\//g, "");
    };
    const { "ca.crt": good, "sv.crt": cert, "sv.key": own } = paths;
    expect(await refusal(cert, own, good)).toBe("used");
    expect(await refusal(cert, paths["late.key"], good)).toBe(
      "late.key cannot be used: it is not the key of the certificate sv.crt.",
    );
    expect(await refusal(paths["late.crt"], paths["late.key"], good)).toMatch(
      /^late\.crt cannot be used: it expired on /,
    );
    expect(await refusal(paths["text.crt"], own, good)).toMatch(
      /^text\.crt cannot be used: it is no certificate in PEM: /,
    );
    expect(await refusal(cert, own, paths["text.crt"])).toMatch(/^text\.crt cannot be used: /);
    expect(await refusal(cert, own, good + ".missing")).toMatch(/^ca\.crt\.missing cannot be used: .*ENOENT/s);
    await paths.remove();
  });
});
