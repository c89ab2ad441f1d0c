/** The tests of the token service, with the chain from a Yaci Store. */
import { tokensOver } from "../support/tokens/overProvider.ts";

tokensOver("yaci");
