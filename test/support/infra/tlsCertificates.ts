/** Certificates and keys of tests, valid until 2126. They protect nothing. Never use them elsewhere. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** The certificate that signs `SERVER` and `CLIENT`. */
export const CA = `-----BEGIN CERTIFICATE-----
MIIBhDCCASmgAwIBAgIUT9SbBo7u3vHubK0CSzgVkHErRVkwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLQXJib3IgdGVzdHMwIBcNMjYxMTIzMDIyMjE0WhgPMjEyNjEw
MzAwMjIyMTRaMBYxFDASBgNVBAMMC0FyYm9yIHRlc3RzMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE15vNASW0QlOq/NnxEvCNXSH72o67AlgwuX6ybkFduIgfycKf
V7mCsrh4RIlRkNSHV6jcZJnB6i0qTkNZpoCX9qNTMFEwHQYDVR0OBBYEFKterAEm
Od2h4FLq2I4bSN2huLLrMB8GA1UdIwQYMBaAFKterAEmOd2h4FLq2I4bSN2huLLr
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAKBdH5CoXnEM2V8T
5jjbAllj5qAsmkd1FfgZaR8aElrBAiEAn3oY0xayvazuqSyNrhhmo7egeNJ7+eZ/
UkvEubqtS8I=
-----END CERTIFICATE-----
`;

/** A server's certificate, for localhost and 127.0.0.1. */
export const SERVER = `-----BEGIN CERTIFICATE-----
MIIBoTCCAUegAwIBAgIUVEyf1iiJVJdhTFIM7O+P5dJSuzIwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLQXJib3IgdGVzdHMwIBcNMjYxMTIzMDIyMjE0WhgPMjEyNjEw
MzAwMjIyMTRaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABPWYojfZ2FKPfTQCLIhqcmUCx71f1WHngrnvjtN+jOO53U+gdHy4
p16YEHmusHNwRnV/MrHMoLlolEGwuF4Z/NajczBxMBoGA1UdEQQTMBGCCWxvY2Fs
aG9zdIcEfwAAATATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUggzhud6u
L6Ske2rujfefEcaqAPYwHwYDVR0jBBgwFoAUq16sASY53aHgUurYjhtI3aG4susw
CgYIKoZIzj0EAwIDSAAwRQIhANMX09ATpL6yU1pjnsLIlOusOZQeoL39Bdm3OF06
jxbtAiBJFLcfyxbfVDLJEEOURRwMEV3pnMs87inIZmpWb2yZJg==
-----END CERTIFICATE-----
`;

export const SERVER_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvmYAiLgD/ln2bDcS
pRYDdeDz0v6s59xDZItXlG3dgiihRANCAAT1mKI32dhSj300AiyIanJlAse9X9Vh
54K5747Tfozjud1PoHR8uKdemBB5rrBzcEZ1fzKxzKC5aJRBsLheGfzW
-----END PRIVATE KEY-----
`;

/** A client's certificate. */
export const CLIENT = `-----BEGIN CERTIFICATE-----
MIIBgjCCASigAwIBAgIUVEyf1iiJVJdhTFIM7O+P5dJSuzMwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLQXJib3IgdGVzdHMwIBcNMjYxMTIzMDIyMjE0WhgPMjEyNjEw
MzAwMjIyMTRaMBExDzANBgNVBAMMBmNsaWVudDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABDvbkNz/Q9WR8HGoeP4l1JVeMHBgCYojGBvEjs1XEAtD0XtpMwkUNapu
IZ2i3QqgGJb2d++cGwO59q1/VioNo6qjVzBVMBMGA1UdJQQMMAoGCCsGAQUFBwMC
MB0GA1UdDgQWBBTtGCJGtUuWzsALKsXnIqXqCzf2OzAfBgNVHSMEGDAWgBSrXqwB
JjndoeBS6tiOG0jdobiy6zAKBggqhkjOPQQDAgNIADBFAiA2mgiSBHBfNBqz4TYx
zwWQtfyeW3i7ENPkVj2RdK27HgIhAIYGk7PAY7VEiBCZwrv8U6YIQ2LBBM69K0cb
d/i3fuTm
-----END CERTIFICATE-----
`;

export const CLIENT_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGFOkUqgy/5VWknEn
UJSXDHnYBNHX2ELvtdC/uR9v6xuhRANCAAQ725Dc/0PVkfBxqHj+JdSVXjBwYAmK
IxgbxI7NVxALQ9F7aTMJFDWqbiGdot0KoBiW9nfvnBsDufatf1YqDaOq
-----END PRIVATE KEY-----
`;

/** A certificate of another signer, its own. */
export const OTHER = `-----BEGIN CERTIFICATE-----
MIIBgzCCASmgAwIBAgIUdOQivtzIowYBhIB4maszoGxZ7CowCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLQXJib3Igb3RoZXIwIBcNMjYxMTIzMDIyMjE0WhgPMjEyNjEw
MzAwMjIyMTRaMBYxFDASBgNVBAMMC0FyYm9yIG90aGVyMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEC0les7GZWky1ostzhcGeolvHGJxAHIW/sLQu4Pg8/kQEkOAJ
tARc2c7kTwlPMFweTC2nFjUfaJNv5Cmp3ZDeLKNTMFEwHQYDVR0OBBYEFESpWWSc
ysC/zIit0tQdvOJdRFyZMB8GA1UdIwQYMBaAFESpWWScysC/zIit0tQdvOJdRFyZ
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhALWJF2ZFPHPIFPr8
eTdoo9Te/d/BVqOBacvQNqwrM5u0AiAqw87mJUXF/b2qr0XK76CyfzCWAZY1xsIT
SIKCTPsYpA==
-----END CERTIFICATE-----
`;

export const OTHER_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgn6tJeoGKk7jvzjTz
AnPOt/5inFo1a8SaXzafTn0JepKhRANCAAQLSV6zsZlaTLWiy3OFwZ6iW8cYnEAc
hb+wtC7g+Dz+RASQ4Am0BFzZzuRPCU8wXB5MLacWNR9ok2/kKandkN4s
-----END PRIVATE KEY-----
`;

/** The paths of files with the given contents, in a folder that `remove` deletes. */
export async function temporaryFiles<Name extends string>(contents: Readonly<Record<Name, string>>) {
  const folder = await mkdtemp(path.join(tmpdir(), "arbor-files-"));
  const entries = Object.entries<string>(contents).map(([name, text]) =>
    [name, path.join(folder, name), text] as const
  );
  for (const [, file, text] of entries) await writeFile(file, text, { mode: 0o600 });
  const paths = Object.fromEntries(entries.map(([name, file]) => [name, file])) as Record<Name, string>;
  return { ...paths, remove: () => rm(folder, { recursive: true, force: true }) };
}
