import { Effect, Layer } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { BatchControls, type ProcessedNow } from "../../../../../src/application/batch/controls.ts"
import { Conversions } from "../../../../../src/application/conversion/conversions.ts"
import { FileWatch } from "../../../../../src/application/conversion/file-watch.ts"
import { Uploads } from "../../../../../src/application/conversion/uploads.ts"
import { Access, MagicLinks } from "../../../../../src/ports/accounts/access.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { JobReport } from "../../../../../src/ports/conversion/job-report.ts"
import { InvalidCursor } from "../../../../../src/ports/cursor.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import { storedFile } from "../../../../domain/conversion/stored-file.ts"
import { anyId } from "../../../../support/any-id.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, startServer, type TestServer } from "../../harness.ts"

const OWNER = "0b8e1f9a-6a1e-4a0e-9f5e-0d7f0c1a2b3c"
const FILE = "11111111-6a1e-4a0e-9f5e-0d7f0c1a2b3c"
const JOB = "22222222-6a1e-4a0e-9f5e-0d7f0c1a2b3c"

let server: TestServer
let moved: ProcessedNow = { answer: "not_waiting" }
let asked: object | undefined
let down = false
const stopped: Array<string> = []

const broken = storeDown(new Error("password=hunter2"))

beforeAll(async () => {
  server = await startServer({
    access: Layer.mergeAll(
      Layer.mock(Access, {
        byToken: () =>
          Effect.succeed({
            actor: "token:o",
            customerId: anyId(OWNER),
            rights: ["owner", "admin"],
            via: "token"
          })
      }),
      Layer.mock(MagicLinks, {})
    ),
    files: Layer.mergeAll(
      Layer.mock(ConversionStore, {
        file: (id, customerId) =>
          Effect.succeed(
            id === FILE && customerId === OWNER
              ? storedFile({ id, customerId, jobId: anyId(JOB) })
              : undefined
          ),
        deleteFile: () => Effect.succeed("deleted")
      }),
      Layer.mock(Conversions, { cancel: () => Effect.succeed({ answer: "cancelled", jobId: anyId(JOB) }) }),
      Layer.mock(FileObjects, {}),
      Layer.mock(FileWatch, {}),
      Layer.mock(Uploads, {})
    ),
    batch: Layer.succeed(BatchControls, {
      processNow: (file) =>
        Effect.suspend(() => {
          asked = file
          return down ? Effect.fail(broken) : Effect.succeed(moved)
        }),
      stopBatchJob: (jobId) => Effect.sync(() => void stopped.push(jobId))
    }),
    jobs: Layer.mock(JobReport, {
      jobs: (filter) =>
        Effect.gen(function* () {
          asked = filter
          if (filter.cursor !== undefined) return yield* new InvalidCursor({ cursor: filter.cursor })
          return down ? yield* broken : { rows: [], nextCursor: null }
        }),
      costs: (days) =>
        Effect.suspend(() => {
          asked = { days }
          const batch = {
            jobs: 0,
            accepted: 0,
            served: 0,
            fallback: 0,
            costUsd: 0,
            onDemandUsd: 0,
            savedUsd: 0
          }
          return down
            ? Effect.fail(broken)
            : Effect.succeed({ days, from: "2026-01-01", totalUsd: 0, sources: [], batch })
        })
    })
  })
})
afterAll(() => server.stop())
beforeEach(() => {
  down = false
  asked = undefined
  stopped.splice(0)
})

const headers = { authorization: "Bearer t" }
const now = (id: string) => call(server, `/api/v1/files/${id}/process-now`, { method: "POST", headers })
const get = (path: string) => call(server, path, { headers })

describe("POST /api/v1/files/:fileId/process-now", () => {
  it("moves the conversion, also where its results are just there", async () => {
    for (const status of ["pending", "waiting_batch"] as const) {
      moved = { answer: "moved", jobId: anyId(JOB), status }
      const answer = await now(FILE)
      expect([answer.status, answer.json]).toEqual([200, { fileId: FILE, jobId: JOB, status }])
    }
    expect(asked).toEqual({ fileId: FILE, customerId: OWNER })
  })

  it("409 NOT_BATCH_WAITING for any other state; 404 for a file that is none of the caller's", async () => {
    moved = { answer: "not_waiting" }
    const refused = await now(FILE)
    expect([refused.status, refused.json.code]).toEqual([409, "NOT_BATCH_WAITING"])
    for (const id of [JOB, "x", "%00"]) {
      const answer = await now(id)
      expect([answer.status, answer.json.code]).toEqual([404, "FILE_NOT_FOUND"])
    }
  })

  it("503 without the database, and says nothing of it", async () => {
    down = true
    const answer = await now(FILE)
    expect([answer.status, answer.json.code]).toEqual([503, "UNAVAILABLE"])
    expect(JSON.stringify(answer.json)).not.toContain("hunter2")
  })

  it("401 without a token", async () => {
    const answer = await call(server, `/api/v1/files/${FILE}/process-now`, { method: "POST" })
    expect(answer.status).toBe(401)
  })
})

it("cancel and delete stop the batch job", async () => {
  await call(server, `/api/v1/files/${FILE}/cancel`, { method: "POST", headers })
  await call(server, `/api/v1/files/${FILE}`, { method: "DELETE", headers })
  expect(stopped).toEqual([JOB, JOB])
})

describe("GET /api/admin/jobs and /api/admin/costs", () => {
  it("hand filters on; empty ones count as missing", async () => {
    expect((await get("/api/admin/jobs?status=cancelled&limit=7")).json).toEqual({
      rows: [],
      nextCursor: null
    })
    expect(asked).toEqual({ status: "cancelled", cursor: undefined, limit: 7 })
    await get("/api/admin/jobs?status=&limit=")
    expect(asked).toEqual({ status: undefined, cursor: undefined, limit: 50 })
    await get("/api/admin/costs?days=7")
    expect(asked).toEqual({ days: 7 })
    expect((await get("/api/admin/costs")).json.days).toBe(30)
  })

  it("400 for what is no filter, 503 without the database", async () => {
    for (const query of [
      "jobs?status=asleep",
      "jobs?limit=0",
      "jobs?cursor=x",
      "costs?days=0",
      "costs?days=1e9"
    ]) {
      const answer = await get(`/api/admin/${query}`)
      expect([query, answer.status, answer.json.code]).toEqual([query, 400, "INVALID_REQUEST"])
    }
    down = true
    for (const path of ["/api/admin/jobs", "/api/admin/costs"]) expect((await get(path)).status).toBe(503)
  })
})
