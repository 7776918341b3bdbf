import { assert, describe, it } from "@effect/vitest"

import { isTerminal, type JobMove, JobStatus, moveJob } from "../../../src/domain/conversion/job.ts"

const MOVES: ReadonlyArray<JobMove> = [
  "start",
  "resume",
  "pause",
  "unpause",
  "assemble",
  "complete",
  "fail",
  "cancel"
]

const STATUSES = JobStatus.literals

/** The state machine of a job (DOC-11): a row for each move out of a status. */
const table = (): string =>
  [
    "| State | Moved by | Next state |",
    ...STATUSES.flatMap((status) => {
      const rows = MOVES.flatMap((move) => {
        const next = moveJob(status, move)
        return next === undefined ? [] : [`| ${status} | ${move} | ${next} |`]
      })
      return rows.length === 0 ? [`| ${status} | any | terminal |`] : rows
    })
  ].join("\n")

describe("the states of a conversion job", () => {
  it("C3 X1 X2: are moved by this table", () => {
    assert.strictEqual(
      table(),
      `| State | Moved by | Next state |
| pending | start | processing |
| pending | pause | paused_budget |
| pending | assemble | assembling |
| pending | fail | failed |
| pending | cancel | cancelled |
| waiting_batch | resume | pending |
| waiting_batch | fail | failed |
| waiting_batch | cancel | cancelled |
| processing | pause | paused_budget |
| processing | assemble | assembling |
| processing | fail | failed |
| processing | cancel | cancelled |
| paused_budget | unpause | pending |
| paused_budget | assemble | assembling |
| paused_budget | fail | failed |
| paused_budget | cancel | cancelled |
| assembling | complete | completed |
| assembling | fail | failed |
| completed | any | terminal |
| failed | any | terminal |
| cancelled | any | terminal |`
    )
  })

  it("X2: Cancel acts on exactly four statuses (DOC-40)", () => {
    assert.deepStrictEqual(STATUSES.filter((status) => moveJob(status, "cancel") !== undefined).sort(), [
      "paused_budget",
      "pending",
      "processing",
      "waiting_batch"
    ])
  })

  it("X1: completed, failed and cancelled are terminal, no other is", () => {
    assert.deepStrictEqual(STATUSES.filter(isTerminal), ["completed", "failed", "cancelled"])
  })

  it("C4: every status that is not terminal has a way to each end that is left to it", () => {
    const reachable = (from: JobStatus): Set<JobStatus> => {
      const seen = new Set<JobStatus>([from])
      const todo = [from]
      for (let status = todo.pop(); status !== undefined; status = todo.pop()) {
        for (const move of MOVES) {
          const next = moveJob(status, move)
          if (next !== undefined && !seen.has(next)) {
            seen.add(next)
            todo.push(next)
          }
        }
      }
      return seen
    }
    for (const status of STATUSES.filter((each) => !isTerminal(each))) {
      assert.isTrue(reachable(status).has("completed"), status)
      assert.isTrue(reachable(status).has("failed"), status)
      assert.strictEqual(reachable(status).has("cancelled"), status !== "assembling", status)
    }
  })
})
