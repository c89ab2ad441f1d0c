/** The tests of the token service, with the chain from an Ogmios server and Kupo. */
import { tokensOver } from "../support/tokens/overProvider.ts";

tokensOver("ogmios");
