import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { BatchControls } from "../../../../application/batch/controls.ts"
import { Conversions } from "../../../../application/conversion/conversions.ts"
import { isTerminal, JobStatus } from "../../../../domain/conversion/job.ts"
import { JobId } from "../../../../domain/ids.ts"
import { AuditNotes } from "../../../../ports/accounts/audit-log.ts"
import { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import { JobReport } from "../../../../ports/conversion/job-report.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf, isUuid } from "../../server/endpoint.ts"
import { problem, problemSchema, Unavailable, unavailable } from "../../server/problem.ts"
import { cancel } from "./conversions.ts"
import { active, insufficient, resolved } from "./own-file.ts"

const params = { jobId: JobId }
const JobMoved = Schema.Struct({ jobId: Schema.String, status: JobStatus })

/** What admins do about conversion jobs. */
export class AdminJobGroup extends HttpApiGroup.make("adminJobs")
  .add(
    HttpApiEndpoint.get("countJobs", "/api/admin/job-counts", {
      success: Schema.Struct({
        counts: Schema.Array(Schema.Struct({ status: JobStatus, jobs: Schema.Int }))
      }),
      error: [Unavailable]
    }).annotate(OpenApi.Summary, "How many conversion jobs have each status")
  )
  .add(
    HttpApiEndpoint.post("cancelJob", "/api/admin/jobs/:jobId/cancel", {
      params,
      success: JobMoved,
      error: [
        problemSchema("NOT_FOUND", {}),
        problemSchema("CONVERSION_FINISHING", {}),
        problemSchema("NOT_CONVERTING", {}),
        Unavailable
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Stops a customer's conversion and keeps the file; nothing is charged",
        description: "A `job_cancelled` row is written to `admin_audit_log`."
      })
    )
  )
  .add(
    HttpApiEndpoint.post("retryJob", "/api/admin/jobs/:jobId/retry", {
      params,
      success: JobMoved.pipe(HttpApiSchema.status(202)),
      error: [
        problemSchema("NOT_FOUND", {}),
        problemSchema("INSUFFICIENT_CREDITS", {}),
        problemSchema("CONVERSION_ACTIVE", {}),
        problemSchema("ALREADY_RESOLVED", {}),
        problemSchema("NOT_CONVERTING", {}),
        Unavailable
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Converts the file of a failed job again, as it was asked for",
        description:
          "It costs the customer what the first one would have, which was not charged: a free reflow stays free. A cancelled job, and one " +
          "whose file was converted anew since, is refused with `NOT_CONVERTING`. The answer names the new job. A `job_retried` row is written to `admin_audit_log`."
      })
    )
  )
  .middleware(AdminAccess) {}

const noJob = problem("NOT_FOUND", "There is no such job, or its file was deleted")
const ended = problem("NOT_CONVERTING", "This job has ended")
const notFailed = problem("CONVERSION_ACTIVE", "This job is under way or has its result")
const stopped = problem("NOT_CONVERTING", "This job was cancelled: its owner may convert the file again")
const replaced = problem("NOT_CONVERTING", "The file was converted anew since this job")
const away = unavailable("conversion jobs cannot be reached", "Conversion jobs cannot be reached now")

/** `/api/admin/job-counts` and what is done with one job. */
export const adminJobHandlers = HttpApiBuilder.group(
  apiOf(AdminJobGroup),
  "adminJobs",
  Effect.fnUntraced(function* (handlers) {
    const report = yield* JobReport
    const conversions = yield* Conversions
    const store = yield* ConversionStore
    const batch = yield* BatchControls
    const notes = yield* AuditNotes
    const jobOf = Effect.fnUntraced(function* (jobId: JobId) {
      const job = isUuid(jobId) ? yield* report.jobOf(jobId).pipe(Effect.catch(away)) : undefined
      return job ?? (yield* Effect.fail(noJob))
    })
    /** Written down before it is done: an act without its entry is worse than an entry without its act. */
    const note = Effect.fnUntraced(function* (action: string, target: JobId) {
      const { actor } = yield* CurrentPrincipal
      yield* notes.add({ action, actor, target }).pipe(Effect.catch(away))
    })
    return handlers.handleAll({
      countJobs: () =>
        report.jobCounts.pipe(
          Effect.map((counts) => ({ counts })),
          Effect.catch(away)
        ),
      cancelJob: Effect.fnUntraced(function* ({ params: { jobId } }) {
        const job = yield* jobOf(jobId)
        if (isTerminal(job.status)) return yield* Effect.fail(ended)
        const file = yield* store.file(job.fileId, job.customerId).pipe(Effect.catch(away))
        if (file?.jobId !== jobId) return yield* Effect.fail(ended)
        yield* note("job_cancelled", jobId)
        const { status } = yield* cancel(conversions, batch, file).pipe(
          // Both refusals are impossible: this is a PDF's job, and its file existed a moment ago.
          Effect.catch((refused) =>
            Effect.fail(
              refused.code === "FILE_NOT_FOUND" || refused.code === "CONVERSION_INLINE" ? noJob : refused
            )
          )
        )
        return { jobId, status }
      }),
      retryJob: Effect.fnUntraced(function* ({ params: { jobId } }) {
        const job = yield* jobOf(jobId)
        if (job.status === "failed") yield* note("job_retried", jobId)
        const started = yield* conversions.retry({ jobId, ...job }).pipe(Effect.catch(away))
        switch (started.answer) {
          case "queued":
            return { jobId: started.id, status: started.status }
          case "not_found":
            return yield* Effect.fail(noJob)
          case "active":
            return yield* Effect.fail(active)
          case "insufficient":
            return yield* Effect.fail(insufficient)
          case "resolved":
            return yield* Effect.fail(resolved)
          case "not_failed":
            return yield* Effect.fail(notFailed)
          case "replaced":
            return yield* Effect.fail(replaced)
          case "stopped":
            return yield* Effect.fail(stopped)
        }
      })
    })
  })
)
