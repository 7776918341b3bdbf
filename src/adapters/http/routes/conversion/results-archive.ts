import { Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { resultNameOf } from "../../../../domain/conversion/file.ts"
import { FileId } from "../../../../domain/ids.ts"
import { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import { FileObjects, ObjectStoreError } from "../../../../ports/object-store.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { apiOf, Text } from "../../server/endpoint.ts"
import { InvalidRequest, invalidRequest, problem, problemSchema } from "../../server/problem.ts"
import { makePlaces, takePlace } from "../../server/rate-limit.ts"
import { hasAlready } from "../../server/representations.ts"
import { tagOf } from "../../server/stored-body.ts"
import { distinctNames, MAX_ZIP_BYTES, zipOf } from "../../server/zip-stream.ts"
import { FileNotFound, FilesUnavailable, ownFile, resultAway } from "./own-file.ts"

/** Most results of one archive: their ids fit into an address. */
const MAX_RESULTS = 200

/** Archives that one owner may have under way, in one process. */
const MOST_AT_ONCE = 2

/** Many results in one download. */
export class ResultsArchiveGroup extends HttpApiGroup.make("resultsArchive")
  .add(
    HttpApiEndpoint.get("downloadResults", "/api/v1/results", {
      query: {
        ids: Text.check(Schema.isMaxLength(MAX_RESULTS * 37)).annotate({
          description: `Ids of 1 to ${MAX_RESULTS} files, separated by commas.`
        })
      },
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/zip" })),
      error: [
        InvalidRequest,
        FileNotFound,
        problemSchema("RESULT_NOT_READY", {}),
        problemSchema("RATE_LIMITED", {}),
        FilesUnavailable
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The results of many files as one ZIP archive, streamed",
        description:
          "All of them or none: a file that is none of the caller's is 404, as is one without a result."
      })
    )
  )
  .middleware(OwnerAccess) {}

const noResult = problem("RESULT_NOT_READY", "One of the files has no result yet")
const badIds = invalidRequest([{ path: "ids", message: `names 1 to ${MAX_RESULTS} files` }])
const tooLarge = invalidRequest([{ path: "ids", message: "names more than an archive holds; choose fewer" }])

/** `GET /api/v1/results`. */
export const resultsArchiveHandlers = HttpApiBuilder.group(
  apiOf(ResultsArchiveGroup),
  "resultsArchive",
  Effect.fnUntraced(function* (handlers) {
    const objects = yield* FileObjects
    const fileOf = ownFile(yield* ConversionStore)
    const downloading = makePlaces(MOST_AT_ONCE, "downloads of many results")

    /** The result of a file, and its size. */
    const resultOf = Effect.fnUntraced(function* (id: string) {
      const { name, resultKey } = yield* fileOf(FileId.make(id))
      if (resultKey === null) return yield* Effect.fail(noResult)
      const { size } = yield* objects.stat(resultKey).pipe(Effect.catch(resultAway))
      return { name: resultNameOf(name), key: resultKey, size }
    })

    return handlers.handle(
      "downloadResults",
      Effect.fnUntraced(function* ({ query, request }) {
        const ids = [...new Set(query.ids.split(","))]
        if (ids.length > MAX_RESULTS) return yield* Effect.fail(badIds)
        const { customerId } = yield* CurrentOwner
        yield* takePlace(downloading, customerId)
        const results = yield* Effect.forEach(ids, resultOf, { concurrency: 4 })
        if (results.reduce((sum, { size }) => sum + size, 0) > MAX_ZIP_BYTES)
          return yield* Effect.fail(tooLarge)
        const names = distinctNames(results.map(({ name }) => name))
        const made = results.map(({ key, size }, at) => [names[at], key, size])
        const etag = yield* tagOf(new TextEncoder().encode(JSON.stringify(made)))
        const headers = {
          "content-disposition": 'attachment; filename="results.zip"',
          "cache-control": "private, no-cache",
          "x-content-type-options": "nosniff",
          etag
        }
        if (hasAlready(request.headers["if-none-match"], [etag]))
          return HttpServerResponse.empty({ status: 304, headers })
        const entries = results.map(({ key }, at) => ({
          name: names[at] ?? "result.html",
          body: Stream.toAsyncIterable(objects.get(key))
        }))
        const archive = Stream.fromAsyncIterable(
          zipOf(entries),
          (cause) => new ObjectStoreError({ reason: "unavailable", key: "archive", cause })
        )
        return HttpServerResponse.stream(Stream.orDie(archive), { contentType: "application/zip", headers })
      })
    )
  })
)
