import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { BatchOutcome, BatchRowState } from "../../../../domain/batch/row.ts"
import { JobStatus, JobOptions } from "../../../../domain/conversion/job.ts"
import { FileId } from "../../../../domain/ids.ts"
import {
  DocumentFacts,
  JobReport,
  MAX_COST_DAYS,
  MAX_DOCUMENT_ROWS,
  MAX_JOBS_PAGE,
  OtherWork,
  ReportedChunk
} from "../../../../ports/conversion/job-report.ts"
import { AdminAccess } from "../../server/access.ts"
import { apiOf, cursor, DEFAULT_PAGE, filter, isUuid, page } from "../../server/endpoint.ts"
import { invalidCursor, InvalidRequest, problem, Unavailable, unavailable } from "../../server/problem.ts"
import { FileNotFound } from "./own-file.ts"

/** Days of the cost report where the query names no number. */
const DEFAULT_COST_DAYS = 30

const TextOrNull = Schema.NullOr(Schema.String)

const Batch = Schema.Struct({
  state: BatchRowState,
  outcome: Schema.NullOr(BatchOutcome),
  reason: TextOrNull.annotate({
    description: "Why it is closed; while it is open, why its batch job is to be stopped."
  }),
  arn: TextOrNull,
  endState: TextOrNull.annotate({ description: "The status that the batch service ended with." }),
  records: Schema.Int,
  accepted: Schema.Int,
  fallback: Schema.Int,
  inputBytes: Schema.Finite,
  costUsd: Schema.Finite,
  attempts: Schema.Int,
  submittedAt: TextOrNull,
  closedAt: TextOrNull
}).annotate({ identifier: "BatchRow" })

const JobRow = Schema.Struct({
  id: Schema.String,
  fileId: Schema.String,
  fileName: TextOrNull,
  customerEmail: TextOrNull,
  customerId: TextOrNull,
  bulkId: TextOrNull,
  status: JobStatus,
  options: JobOptions,
  totalPages: Schema.Int,
  totalChunks: Schema.Int,
  doneChunks: Schema.Int,
  totalCostUsd: Schema.Finite,
  error: TextOrNull,
  createdAt: Schema.String,
  finishedAt: TextOrNull,
  batch: Schema.NullOr(Batch)
}).annotate({ identifier: "ConversionJobRow" })

const OtherWorkRow = Schema.Struct({ ...OtherWork.fields, fileId: Schema.String }).annotate({
  identifier: "OtherWorkRow"
})

const DocumentReport = Schema.Struct({
  ...DocumentFacts.fields,
  id: Schema.String,
  customerId: Schema.String,
  jobs: Schema.Array(JobRow),
  chunks: Schema.Array(ReportedChunk)
}).annotate({ identifier: "DocumentReport" })

const CostReport = Schema.Struct({
  days: Schema.Int,
  from: Schema.String,
  totalUsd: Schema.Finite,
  sources: Schema.Array(
    Schema.Struct({
      source: Schema.String,
      entries: Schema.Int,
      inputTokens: Schema.Finite,
      outputTokens: Schema.Finite,
      costUsd: Schema.Finite
    })
  ),
  batch: Schema.Struct({
    jobs: Schema.Int,
    accepted: Schema.Finite,
    served: Schema.Finite,
    fallback: Schema.Finite,
    costUsd: Schema.Finite,
    onDemandUsd: Schema.Finite,
    savedUsd: Schema.Finite
  })
}).annotate({ identifier: "CostReport" })

/** Conversion jobs and what they cost, for admins. */
export class JobGroup extends HttpApiGroup.make("jobs")
  .add(
    HttpApiEndpoint.get("jobs", "/api/admin/jobs", {
      query: {
        status: filter(JobStatus),
        limit: page(DEFAULT_PAGE, MAX_JOBS_PAGE),
        cursor
      },
      success: Schema.Struct({ rows: Schema.Array(JobRow), nextCursor: TextOrNull }),
      error: [InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "Conversion jobs with their batch rows, newest first")
  )
  .add(
    HttpApiEndpoint.get("otherWork", "/api/admin/other-jobs", {
      query: {
        status: filter(OtherWork.fields.status),
        limit: page(DEFAULT_PAGE, MAX_JOBS_PAGE),
        cursor
      },
      success: Schema.Struct({ rows: Schema.Array(OtherWorkRow), nextCursor: TextOrNull }),
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Word documents, pictures and layout-true results, what moved last first",
        description:
          "They have no job: of a document that is converted in one go its newest conversion is listed."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("document", "/api/admin/files/:fileId", {
      params: { fileId: FileId },
      success: DocumentReport,
      error: [FileNotFound, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "A customer's document and its conversions, without its words",
        description: `The newest ${MAX_DOCUMENT_ROWS} jobs; of the newest, up to ${MAX_DOCUMENT_ROWS} chunks that are not completed or took several attempts.`
      })
    )
  )
  .add(
    HttpApiEndpoint.get("costs", "/api/admin/costs", {
      query: { days: page(DEFAULT_COST_DAYS, MAX_COST_DAYS) },
      success: CostReport,
      error: [InvalidRequest, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "What models cost, and what the batch lane saved",
        description:
          "`days` days in UTC, the last of which is today. `onDemandUsd` is what the batch answers that were accepted would " +
          "have cost on demand, `served` how many of these are in results; `savedUsd` is their share, less what the batch jobs cost."
      })
    )
  )
  .middleware(AdminAccess) {}

const away = unavailable("conversion jobs cannot be read", "Conversion jobs cannot be read now")

/** `GET /api/admin/jobs` and `GET /api/admin/costs`. */
export const jobHandlers = HttpApiBuilder.group(
  apiOf(JobGroup),
  "jobs",
  Effect.fnUntraced(function* (handlers) {
    const report = yield* JobReport
    return handlers.handleAll({
      otherWork: ({ query }) =>
        report
          .others({
            status: query.status,
            cursor: query.cursor,
            limit: query.limit ?? DEFAULT_PAGE
          })
          .pipe(Effect.catchTags({ StoreUnavailable: away, InvalidCursor: () => invalidCursor("list") })),
      jobs: ({ query }) =>
        report
          .jobs({
            status: query.status,
            cursor: query.cursor,
            limit: query.limit ?? DEFAULT_PAGE
          })
          .pipe(
            Effect.catchTags({
              StoreUnavailable: away,
              InvalidCursor: () => invalidCursor("list")
            })
          ),
      document: Effect.fnUntraced(function* ({ params: { fileId } }) {
        const found = isUuid(fileId) ? yield* report.document(fileId).pipe(Effect.catch(away)) : undefined
        return found ?? (yield* Effect.fail(problem("FILE_NOT_FOUND", "There is no such document")))
      }),
      costs: ({ query }) => report.costs(query.days || DEFAULT_COST_DAYS).pipe(Effect.catch(away))
    })
  })
)
