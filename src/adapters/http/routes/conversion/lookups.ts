import { Duration, Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"

import { FileWatch } from "../../../../application/conversion/file-watch.ts"
import { untilEnded } from "../../../../application/conversion/until-ended.ts"
import { FileStatus, type StoredFile } from "../../../../domain/conversion/file.ts"
import { isTerminal, JobStatus } from "../../../../domain/conversion/job.ts"
import { FileId, JobId } from "../../../../domain/ids.ts"
import { ConversionStore, MAX_FILES_PAGE } from "../../../../ports/conversion/conversion-store.ts"
import { CurrentOwner } from "../../server/access.ts"
import { cursor, Day, filter, isUuid, page, seconds, Text } from "../../server/endpoint.ts"
import { invalidCursor, InvalidRequest, problem, problemSchema } from "../../server/problem.ts"
import { makePlaces, takePlace } from "../../server/rate-limit.ts"
import { FileView, viewOf } from "./file-view.ts"
import { filesAway, FilesUnavailable, Reference } from "./own-file.ts"

/** The longest that an answer waits for the end of a conversion, seconds. */
const MAX_WAIT = 60

export const wait = {
  wait: seconds(
    MAX_WAIT,
    "Seconds that the answer waits for the end of the conversion; the state then, if it has not ended. 0: at once."
  )
}

/** The query of an answer that may wait. */
export interface Wait {
  readonly wait?: number
}

const listed = {
  query: {
    limit: page(MAX_FILES_PAGE, MAX_FILES_PAGE),
    cursor,
    reference: filter(Reference),
    status: filter(FileStatus),
    name: filter(
      Text.check(Schema.isMaxLength(200)).annotate({ description: "A part of the name, in any case." })
    ),
    since: filter(Day),
    until: filter(Day)
  },
  success: Schema.Struct({
    files: Schema.Array(FileView),
    nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String))
  }),
  error: [InvalidRequest, FilesUnavailable] as const
}

const description =
  "`nextCursor` is there where `limit` or `cursor` is named, or there are more files. `reference`: files that have it, and " +
  "files of bulk orders that have it. `since` and `until`: the first and the last day that they were uploaded on, UTC."

export const listFiles = HttpApiEndpoint.get("listFiles", "/api/files", listed).annotateMerge(
  OpenApi.annotations({ summary: "The caller's files, newest first", description })
)

/** {@link listFiles} below the address of the other routes. */
export const listFilesV1 = HttpApiEndpoint.get("searchFiles", "/api/v1/files", listed).annotateMerge(
  OpenApi.annotations({ summary: "The caller's files, newest first: the same as `/api/files`", description })
)

/** A conversion as its owner sees it. */
const JobDetails = Schema.Struct({
  id: Schema.String,
  fileId: Schema.String,
  bulkId: Schema.NullOr(Schema.String),
  status: JobStatus,
  error: Schema.NullOr(Schema.String),
  endedAt: Schema.NullOr(Schema.String)
}).annotate({ identifier: "JobDetails" })

const tooMany = problemSchema("RATE_LIMITED", {})

export const getJob = HttpApiEndpoint.get("getJob", "/api/v1/jobs/:jobId", {
  params: { jobId: JobId },
  query: wait,
  success: Schema.Struct({ job: JobDetails }),
  error: [InvalidRequest, problemSchema("NOT_FOUND", {}), tooMany, FilesUnavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "One conversion",
    description:
      "Word documents and pictures are converted in one go: of theirs, the newest of each file is known, and those of bulk orders."
  })
)

/** Why an answer that waits is refused. */
export const waitRefusals = [InvalidRequest, tooMany] as const

/** The query of a list. */
export interface Listing {
  readonly limit?: number
  readonly status?: FileStatus
  readonly cursor?: string
  readonly reference?: string
  readonly name?: string
  readonly since?: string
  readonly until?: string
}

/** A page of the caller's files; the first one names a cursor only where there is more, or the query asks for a page. */
export const listFrom = (store: ConversionStore["Service"]) =>
  Effect.fnUntraced(function* ({ limit, ...query }: Listing, bulkId?: string) {
    const { customerId } = yield* CurrentOwner
    const { files, nextCursor } = yield* store
      .files(customerId, {
        limit: limit || MAX_FILES_PAGE,
        cursor: query.cursor,
        reference: query.reference,
        status: query.status,
        name: query.name,
        since: query.since,
        until: query.until,
        bulkId
      })
      .pipe(Effect.catchTags({ StoreUnavailable: filesAway, InvalidCursor: () => invalidCursor("list") }))
    const paged = limit !== undefined || query.cursor !== undefined || nextCursor !== null
    return { files: files.map(viewOf), ...(paged ? { nextCursor } : {}) }
  })

/** Most answers of one owner that wait at once, in one process. */
const MAX_WAITING = 100

const noJob = problem("NOT_FOUND", "There is no such job")

/** Waits for the ends of conversions, each within what its query names. */
export const makeWaiting = Effect.gen(function* () {
  const watching = yield* FileWatch
  const waiting = makePlaces(MAX_WAITING, "answers that wait")
  return Effect.fnUntraced(function* (
    customerId: StoredFile["customerId"],
    files: ReadonlyArray<StoredFile>,
    time: number = 0
  ) {
    if (time === 0 || files.length === 0) return
    yield* takePlace(waiting, customerId)
    yield* untilEnded(watching, files, Duration.seconds(time))
  }, Effect.scoped)
})

/** Answers with a conversion, at its end if the query waits for it. */
export const makeGetJob = Effect.gen(function* () {
  const store = yield* ConversionStore
  const waitFor = yield* makeWaiting
  return Effect.fnUntraced(function* (jobId: JobId, time: number | undefined) {
    const { customerId } = yield* CurrentOwner
    const found = isUuid(jobId)
      ? yield* store.job(jobId, customerId).pipe(Effect.catch(filesAway))
      : undefined
    if (found === undefined) return yield* Effect.fail(noJob)
    if (isTerminal(found.status) || !time) return { job: found }
    const file = yield* store.file(FileId.make(found.fileId), customerId).pipe(Effect.catch(filesAway))
    // Where another conversion has begun, this one has ended.
    yield* waitFor(customerId, file?.jobId === jobId ? [file] : [], time)
    const job = yield* store.job(jobId, customerId).pipe(Effect.catch(filesAway))
    return job === undefined ? yield* Effect.fail(noJob) : { job }
  })
})
