import { fileURLToPath } from "node:url"

import { defineConfig } from "vitest/config"

import suite from "../../../vitest.config.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const { globalSetup, execArgv, env, setupFiles } = suite.test ?? {}

/** Suites of ports against servers that nobody here wrote: each file asks the environment where its server is. */
export default defineConfig({
  root,
  ...(suite.plugins === undefined ? {} : { plugins: suite.plugins }),
  test: {
    include: ["test/outside/**/*.contract.ts"],
    ...(execArgv === undefined ? {} : { execArgv }),
    ...(env === undefined ? {} : { env }),
    ...(setupFiles === undefined ? {} : { setupFiles }),
    globalSetup:
      process.env["OUTSIDE_POOLED"] === undefined
        ? (globalSetup ?? [])
        : ["test/outside/pgbouncer/global-setup.ts"],
    maxWorkers: 2,
    // A reference ends: what hangs for a minute is one that fails.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    teardownTimeout: 20_000
  }
})
