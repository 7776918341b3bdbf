import * as NodeRuntime from "@effect/platform-node/NodeRuntime"

import { run, type StartOptions } from "../compose/app.ts"
import { endWithWords, teardown } from "./run-program.ts"

/** Runs this process until it is stopped. */
export const main = (options: StartOptions): void =>
  NodeRuntime.runMain(endWithWords(run(options), { json: options.json === true }), {
    disableErrorReporting: true,
    teardown
  })
