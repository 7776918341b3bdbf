import { Effect, Layer } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { BatchControls } from "../../../../../src/application/batch/controls.ts"
import { Conversions } from "../../../../../src/application/conversion/conversions.ts"
import { FileWatch } from "../../../../../src/application/conversion/file-watch.ts"
import { Uploads } from "../../../../../src/application/conversion/uploads.ts"
import type { JobStatus } from "../../../../../src/domain/conversion/job.ts"
import type { CustomerId, FileId, JobId } from "../../../../../src/domain/ids.ts"
import { AuditNotes } from "../../../../../src/ports/accounts/audit-log.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { type DocumentReport, JobReport } from "../../../../../src/ports/conversion/job-report.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import { storedFile } from "../../../../domain/conversion/stored-file.ts"
import { anyId } from "../../../../support/any-id.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { accessWith, admin, ADMIN_TOKEN, call, startServer, type TestServer } from "../../harness.ts"

const JOB: JobId = anyId("0199a000-0000-7000-8000-000000000001")
const NEXT: JobId = anyId("0199a000-0000-7000-8000-000000000002")
const [fileId, customerId]: [FileId, CustomerId] = [anyId("0199a000-0000-7000-8000-00000000000f"), anyId("c")]
const REPORT: DocumentReport = {
  id: fileId,
  name: `<b>"Report.pdf`,
  kind: "docx",
  sizeBytes: 1200,
  pages: 1,
  status: "failed",
  error: "No page could be read",
  customerId,
  customerEmail: "ann@x.test",
  createdAt: "2026-11-20T10:11:12.000000Z",
  deletedAt: null,
  hasResult: false,
  unreadablePages: [],
  shares: 0,
  jobs: [],
  chunks: []
}

let status: JobStatus
let newest: JobId
let started: Effect.Success<ReturnType<Conversions["Service"]["retry"]>>["answer"]
let noted: Array<string>
let asked: Array<unknown>
let documentsDown = false
let auditDown: boolean
let server: TestServer
let reader: TestServer

beforeAll(async () => {
  const behind = {
    jobs: Layer.mock(JobReport, {
      jobCounts: Effect.succeed([{ status: "failed" as const, jobs: 3 }]),
      document: (id) =>
        documentsDown
          ? Effect.fail(storeDown("hunter2"))
          : Effect.succeed(id === fileId ? REPORT : undefined),
      jobOf: (jobId) =>
        Effect.succeed(
          jobId === JOB
            ? { fileId, customerId, status, options: { highFidelity: true, _batchPrimed: true } }
            : undefined
        )
    }),
    notes: Layer.succeed(AuditNotes, {
      add: ({ action, actor, target }) =>
        auditDown
          ? Effect.fail(storeDown("away"))
          : Effect.sync(() => void noted.push(`${actor} ${action} ${target}`))
    }),
    batch: Layer.mock(BatchControls, { stopBatchJob: () => Effect.void }),
    files: Layer.mergeAll(
      Layer.mock(ConversionStore, {
        file: () => Effect.sync(() => storedFile({ id: fileId, customerId, jobId: newest }))
      }),
      Layer.mock(Conversions, {
        cancel: (file) =>
          Effect.sync(() => {
            asked.push(file)
            return { answer: "cancelled", jobId: JOB }
          }),
        retry: (job) =>
          Effect.sync(() => {
            asked.push(job)
            return started === "queued"
              ? { answer: started, id: NEXT, status: "pending" }
              : { answer: started }
          })
      }),
      Layer.mock(FileObjects, {}),
      Layer.mock(FileWatch, {}),
      Layer.mock(Uploads, {})
    )
  }
  server = await startServer(behind)
  reader = await startServer({ ...behind, access: accessWith(["admin:read"], ADMIN_TOKEN) })
})
afterAll(async () => {
  await server.stop()
  await reader.stop()
})
beforeEach(() => {
  status = "processing"
  newest = JOB
  started = "queued"
  noted = []
  asked = []
  auditDown = false
})

const post = (what: string, id: string = JOB, to = server) =>
  call(to, `/api/admin/jobs/${id}/${what}`, { method: "POST", headers: admin })

describe("a customer's document", () => {
  const get = (path: string, to = reader, headers: Record<string, string> = admin) =>
    call(to, path, {
      headers: { accept: path.startsWith("/api/") ? "*/*" : "text/html", ...headers }
    })

  it("is there for all admins, as JSON and as a page, without its words; made-up ids reach no store", async () => {
    const { json, status: found } = await get(`/api/admin/files/${fileId}`)
    expect([found, json]).toEqual([200, REPORT])
    const page = await get(`/admin/jobs/documents/${fileId}`)
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("&lt;b&gt;&quot;Report.pdf")])
    for (const part of ["ann@x.test", "No page could be read", "converted in one go, without a job", "$0.00"])
      expect(page.text).toContain(part)
    for (const id of [NEXT, "x", "%00", "%3Cscript%3E", "0".repeat(900)]) {
      expect((await get(`/api/admin/files/${id}`)).json.code).toBe("FILE_NOT_FOUND")
      const none = await get(`/admin/jobs/documents/${id}`)
      expect([none.status, none.text]).toEqual([404, expect.stringContaining("There is no such document")])
      expect(none.text).not.toContain("<script>")
    }
    expect((await get(`/api/admin/files/${fileId}`, reader, {})).status).toBe(401)
    expect((await get(`/admin/jobs/documents/${fileId}`, reader, {})).status).toBe(303)
    documentsDown = true
    const away = await get(`/admin/jobs/documents/${fileId}`)
    const problem = await get(`/api/admin/files/${fileId}`)
    documentsDown = false
    expect([away.status, problem.status]).toEqual([503, 503])
    expect(away.text + problem.text).not.toContain("hunter2")
  })
})

describe("conversion jobs of admins", () => {
  it("are counted by status", async () => {
    const counts = await call(reader, "/api/admin/job-counts", { headers: admin })
    expect(counts.json).toEqual({ counts: [{ status: "failed", jobs: 3 }] })
  })

  it("are cancelled while they are under way, with an entry in the audit log", async () => {
    const cancelled = await post("cancel")
    expect([cancelled.status, cancelled.json]).toEqual([200, { jobId: JOB, status: "cancelled" }])
    expect(noted).toEqual([`admin job_cancelled ${JOB}`])
    for (const ended of ["completed", "failed", "cancelled"] as const) {
      status = ended
      expect((await post("cancel")).json.code).toBe("NOT_CONVERTING")
    }
    // Another conversion of the file is not stopped in its place.
    status = "processing"
    newest = NEXT
    expect((await post("cancel")).json.code).toBe("NOT_CONVERTING")
    expect(asked).toEqual([expect.objectContaining({ customerId })])
    expect(noted).toHaveLength(1)
  })

  it("are retried once they failed, with an entry in the audit log; what cannot be is said", async () => {
    status = "failed"
    const retried = await post("retry")
    expect([retried.status, retried.json]).toEqual([202, { jobId: NEXT, status: "pending" }])
    const job = { fileId, customerId, options: { highFidelity: true, _batchPrimed: true } }
    expect(asked).toEqual([{ ...job, jobId: JOB, status }])
    expect(noted).toEqual([`admin job_retried ${JOB}`])
    for (const [answer, code] of [
      ["insufficient", "INSUFFICIENT_CREDITS"],
      ["active", "CONVERSION_ACTIVE"],
      ["not_found", "NOT_FOUND"],
      ["resolved", "ALREADY_RESOLVED"],
      ["replaced", "NOT_CONVERTING"]
    ] as const) {
      started = answer
      expect((await post("retry")).json.code).toBe(code)
    }
    noted = []
    for (const [ended, answer, code] of [
      ["cancelled", "stopped", "NOT_CONVERTING"],
      ["completed", "not_failed", "CONVERSION_ACTIVE"]
    ] as const) {
      status = ended
      started = answer
      expect((await post("retry")).json.code).toBe(code)
    }
    expect(noted).toEqual([])
  })

  it("are touched by nobody without the right, under no made-up id, and not while it cannot be written down", async () => {
    for (const what of ["cancel", "retry"]) {
      expect((await post(what, JOB, reader)).status).toBe(403)
      for (const id of [NEXT, "x", "%00", "'%20or%20true"]) expect((await post(what, id)).status).toBe(404)
    }
    auditDown = true
    expect((await post("cancel")).status).toBe(503)
    status = "failed"
    expect((await post("retry")).status).toBe(503)
    expect(asked).toEqual([])
  })
})
