import * as NodeRuntime from "@effect/platform-node/NodeRuntime"

import { run } from "../compose/app.ts"
import { endWithWords, teardown } from "./run-program.ts"

/** Runs this process until it is stopped. `embedded` is what holds where `POSTLANE_EMBEDDED` is unset. */
export const main = (options: { readonly embedded: boolean }): void =>
  NodeRuntime.runMain(endWithWords(run(options)), { disableErrorReporting: true, teardown })
