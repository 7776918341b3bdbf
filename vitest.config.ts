import { fileURLToPath } from "node:url"

import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

import { bundledThreads } from "./test/support/processes/bundled-programs.ts"
import { LONGEST_WAIT_MS, TIME_LIMIT_MS } from "./test/support/time-limits.ts"

/** Each of these files has a worker of its own: tests of stalls and memory, one that mocks a module, one that counts metrics. */
const ALONE = [
  "test/hostile/**/*.test.ts",
  "test/fuzz/**/*.test.ts",
  "test/adapters/http/server/request-turns.test.ts",
  "test/adapters/smtp/peer-names.test.ts",
  "test/inbound/metrics.test.ts"
]

/** The longest of those that share workers, which go first: one of them that began last would hold up the end alone. */
const LONG =
  /\/(?:bench|crash|docs|package|simulation)\/|\/(?:bulk|crashes|dashboard|defer-queue|edge-email|file-stream|histories|outbox|process|slow-requests)\.test\.ts$/

/** Vitest's own order – by the last run's times, where they are known, else by size – but for the long ones. */
class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const place = ({ moduleId, project }: TestSpecification) =>
      project.name === "alone" ? 0 : LONG.test(moduleId) ? 1 : 2
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}

const NURSERY = ["--min-semi-space-size=32", "--max-semi-space-size=64"]

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const TWO_SEEDS = at("./test/support/two-seeds.ts")

/** Tests import `fast-check` as it is but for its `assert`, which runs each property on two seeds in continuous integration. */
const twoSeeds = {
  name: "postlane-two-seeds",
  enforce: "pre" as const,
  resolveId: (id: string, importer: string | undefined) =>
    id === "fast-check" && importer?.split("?")[0] !== TWO_SEEDS ? TWO_SEEDS : undefined
}

export default defineConfig({
  plugins: [bundledThreads, twoSeeds],
  resolve: {
    // The examples import the package by its name, as its users do.
    alias: [
      { find: /^postlane$/, replacement: at("src/runtime/entries/library.ts") },
      { find: /^postlane\/client\/effect$/, replacement: at("src/runtime/entries/client-effect.ts") },
      { find: /^postlane\/(.+)$/, replacement: at("src/runtime/entries/$1.ts") }
    ]
  },
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    // The machine that runs the tests gives them no cloud credentials and no region.
    env: {
      AWS_CONFIG_FILE: "/dev/null",
      AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
      AWS_ACCESS_KEY_ID: "",
      AWS_PROFILE: "",
      AWS_REGION: "",
      AWS_WEB_IDENTITY_TOKEN_FILE: "",
      AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "",
      AWS_CONTAINER_CREDENTIALS_FULL_URI: ""
    },
    setupFiles: ["test/support/property-seed.ts"],
    sequence: { sequencer: LongFirst },
    // Most tests wait for a database, a process or a clock: more of them at once than there are cores.
    maxWorkers: 4,
    // Properties make much that is soon garbage: a nursery that is large from the start takes a tenth of the workers' time off.
    execArgv: NURSERY,
    // The only time limits of the suite, so that a busy machine fails no test.
    testTimeout: TIME_LIMIT_MS,
    hookTimeout: TIME_LIMIT_MS,
    expect: { poll: { timeout: LONGEST_WAIT_MS } },
    teardownTimeout: 60_000,
    projects: [
      // One worker runs many files, so that what they import is loaded once: a fifth of the suite's time.
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: ALONE,
          // Every core is busy: a collector that looks for others to help it takes a twentieth of the workers' time more.
          execArgv: [...NURSERY, "--initial-old-space-size=600", "--single-threaded-gc"]
        }
      },
      { extends: true, test: { name: "alone", include: ALONE } }
    ]
  }
})
