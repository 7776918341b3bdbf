import { chmod } from "node:fs/promises"

import { runContracts } from "../contracts/run-contracts.ts"
import type { Reference } from "../reference.ts"

export const pgbouncer: Reference = {
  name: "pgbouncer",
  version: "as installed",
  checks: "the suites of the mail store and of deferred sends through PgBouncer in transaction mode",
  needs: ["pgbouncer"],
  install: async () => {},
  run: async (place) => {
    await chmod(place.work, 0o755)
    return runContracts(place, ["test/outside/pgbouncer/"], { OUTSIDE_POOLED: place.work })
  }
}
