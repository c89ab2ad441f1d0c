import { expect, test } from "vitest";
import { directories, golden, schemaFault } from "../../support/ogmios/golden.ts";

test.each(directories)("the messages of %s keep the schema %s", (directory, property) => {
  const messages = golden(directory);
  expect(messages.length).toBeGreaterThan(2);
  for (const message of messages) expect(schemaFault(property, message)).toBeUndefined();
});
