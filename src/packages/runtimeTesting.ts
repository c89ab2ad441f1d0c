/** The package `runtime`, for tests: actors in memory, with a clock that the test moves. */
export {
  type CrashStage,
  createTestRuntime,
  type TestEvent,
  type TestRuntime,
  type TestRuntimeOptions,
  type TestState,
} from "#src/packages/runtime/testing.ts";
