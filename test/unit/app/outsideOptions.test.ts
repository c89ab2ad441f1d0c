/** The options of a start for external servers. */
import { expect, test } from "vitest";
import { HELP, readOptions } from "#src/app/options.ts";

const read = (args: string[], env: Record<string, string> = {}) => {
  const options = readOptions(args, env);
  return options.ok && options.value !== "help" ? options.value.outside : options;
};

test("without options nothing is fetched", () => {
  expect(read([])).toEqual({ poolMetadata: "none", allowPrivate: true });
  expect(read(["--provider", "node", "--node-socket", "/tmp/node.socket"])).toMatchObject({ allowPrivate: false });
  expect(read(["--outside-private", "false"])).toMatchObject({ allowPrivate: false });
  expect(
    read(["--pool-metadata-fetching", "https://smash.example/"], {
      ARBOR_TOKEN_METADATA_SERVER: "https://tokens.example",
    }),
  ).toEqual({ poolMetadata: "https://smash.example", tokenMetadata: "https://tokens.example", allowPrivate: true });
  for (const name of ["--pool-metadata-fetching", "--token-metadata-server", "--outside-private"]) {
    expect(HELP).toContain(name);
    expect(read([name, "nowhere"])).toMatchObject({ ok: false, error: { code: "bad_option" } });
  }
});
