/** The tests of the token service, with the chain from a Blockfrost API. */
import { tokensOver } from "../support/tokens/overProvider.ts";

tokensOver("blockfrost");
