import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["bench/**", "node_modules/**"],
    globalSetup: ["test/support/global-setup.ts"],
    // Most tests wait for a database, a process or a clock: more of them at once than there are cores.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000
  }
})
