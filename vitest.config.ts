import { fileURLToPath } from "node:url"

import { defineConfig } from "vitest/config"

import { bundledThreads } from "./test/support/processes/bundled-programs.ts"

/** Each of these files has a worker of its own: tests of stalls and memory, one that mocks a module, one that counts metrics. */
const ALONE = [
  "test/hostile/**/*.test.ts",
  "test/fuzz/**/*.test.ts",
  "test/adapters/smtp/peer-names.test.ts",
  "test/inbound/metrics.test.ts"
]

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  plugins: [bundledThreads],
  resolve: {
    // The examples import the package by its name, as its users do.
    alias: [
      { find: /^postlane$/, replacement: at("src/runtime/library.ts") },
      { find: /^postlane\/client\/effect$/, replacement: at("src/runtime/client-effect.ts") },
      { find: /^postlane\/(.+)$/, replacement: at("src/runtime/$1.ts") }
    ]
  },
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    // Most tests wait for a database, a process or a clock: more of them at once than there are cores.
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    projects: [
      // One worker runs many files, so that what they import is loaded once: a fifth of the suite's time.
      {
        extends: true,
        test: { name: "shared", isolate: false, include: ["test/**/*.test.ts"], exclude: ALONE }
      },
      { extends: true, test: { name: "alone", include: ALONE } }
    ]
  }
})
