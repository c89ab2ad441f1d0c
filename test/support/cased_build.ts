/** Import this module first: it makes a test file run on the contract's build for protocol version 11. */
import { chooseBuild } from "./contract_build.ts";

chooseBuild("cased");
