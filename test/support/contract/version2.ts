/** Import this module first: it makes a test file run on version 2 of the contract. */
import { chooseBuild } from "./contractBuild.ts";

chooseBuild("2.0.0");
