/** The tests of the token service, with the chain from the socket of a node. */
import { tokensOver } from "../support/tokens/overProvider.ts";

tokensOver("node");
