import * as fc from "fast-check"
import { expect, it } from "vitest"

import { troublesOf } from "../../../src/domain/delivery/processes.ts"
import { SUPERVISOR_STATES } from "../../../src/ports/readiness.ts"

const part = { name: fc.string(), lastError: fc.option(fc.string()) }

it("a process is ill of each check that failed and each part that is down, of nothing else, and of what runs after a crash no more", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ ...part, ok: fc.boolean() })),
      fc.array(fc.record({ ...part, state: fc.constantFrom(...SUPERVISOR_STATES) })),
      (checks, supervisors) => {
        const down = (state: string) => state === "backing-off" || state === "stopped"
        expect(troublesOf({ checks, supervisors })).toHaveLength(
          checks.filter(({ ok }) => !ok).length + supervisors.filter(({ state }) => down(state)).length
        )
      }
    )
  )
})
