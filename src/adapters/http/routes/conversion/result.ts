import { Effect, Schema, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"

import type { StoredFile } from "../../../../domain/conversion/file.ts"
import { ResultFormats } from "../../../../ports/conversion/result-formats.ts"
import { FileObjects } from "../../../../ports/object-store.ts"
import { ResultFormat, ResultPictures } from "../../../../reader/model/result-block.ts"
import { filter, Page } from "../../server/endpoint.ts"
import { InvalidRequest, problem, problemSchema } from "../../server/problem.ts"
import { makePlaces, takePlace } from "../../server/rate-limit.ts"
import { gzipTag, hasAlready, PAGE_MEDIA_TYPE, preferredType } from "../../server/representations.ts"
import { RESULT_HEADERS, resultResponse } from "../../server/responses.ts"
import { bytesAnswer, tagOf, textDownload } from "../../server/stored-body.ts"
import { fileParams, FileNotFound, FilesUnavailable, resultAway } from "./own-file.ts"

/** The media types of the formats; the first is the answer to browsers, and to callers that name none. */
const TYPES = {
  "text/html": "html",
  "text/markdown": "markdown",
  "text/plain": "text",
  "application/json": "json"
} as const satisfies Readonly<Record<string, ResultFormat>>

const OFFERED = Object.keys(TYPES) as ReadonlyArray<keyof typeof TYPES>

/** How each format is answered. */
const CONTENT_TYPES: Readonly<Record<ResultFormat, string>> = {
  html: PAGE_MEDIA_TYPE,
  fragment: PAGE_MEDIA_TYPE,
  markdown: "text/markdown; charset=utf-8",
  text: "text/plain; charset=utf-8",
  json: "application/json"
}

const REF = "#/components/schemas/"

/** What the document says of the formats that the definition does not name: clients of the definition read text. */
const otherFormats = OpenApi.annotations({
  transform: (operation) => {
    const responses = operation["responses"] as Readonly<Record<string, { readonly content: object }>>
    const text = { schema: { type: "string" } }
    const content = {
      ...responses["200"]?.content,
      "text/markdown": text,
      "text/plain": text,
      "application/json": { schema: { $ref: `${REF}ResultDocument` } }
    }
    return { ...operation, responses: { ...responses, "200": { ...responses["200"], content } } }
  }
})

export const getResult = HttpApiEndpoint.get("getResult", "/api/v1/files/:fileId/result", {
  params: fileParams,
  query: {
    format: filter(
      ResultFormat.annotate({
        description:
          "`html`: one self-contained file; `fragment`: what is in its body; `markdown` (CommonMark with GitHub's tables), `text`, `json`. Comes before `Accept`."
      })
    ),
    pictures: filter(
      ResultPictures.annotate({
        description:
          "`inline`: with their data; else descriptions alone. Default: `inline` of HTML, `none` of the other formats."
      })
    )
  },
  success: Page,
  error: [
    InvalidRequest,
    FileNotFound,
    problemSchema("RESULT_NOT_READY", {}),
    problemSchema("NOT_ACCEPTABLE", {}),
    problemSchema("RATE_LIMITED", {}),
    FilesUnavailable
  ]
})
  .annotateMerge(otherFormats)
  .annotateMerge(
    OpenApi.annotations({
      summary: "The result: accessible HTML, or what it says as Markdown, text or data",
      description:
        "Of the newest conversion that was completed: while the file is converted anew, and after a cancel or a failure, the " +
        "earlier result stays. It has an `ETag`; a download of the HTML that broke off goes on by `Range`; it is compressed where gzip is " +
        "accepted. The format is that of `format`, else what `Accept` prefers, else HTML."
    })
  )

export const getResultPicture = HttpApiEndpoint.get(
  "getResultPicture",
  "/api/v1/files/:fileId/result/pictures/:picture",
  {
    params: { ...fileParams, picture: Schema.String },
    success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/png" })),
    error: [
      FileNotFound,
      problemSchema("NOT_FOUND", {}),
      problemSchema("RESULT_NOT_READY", {}),
      problemSchema("RATE_LIMITED", {}),
      FilesUnavailable
    ]
  }
).annotateMerge(
  OpenApi.annotations({
    summary: "A picture of the result, by its index in the format `json`",
    description: "PNG, JPEG, GIF or WebP, as its `mediaType` says."
  })
)

/** Results that one owner may have written in other formats at once, in one process. */
const MOST_AT_ONCE = 4

const noResult = problem("RESULT_NOT_READY", "The file has no result yet")
const noPicture = problem("NOT_FOUND", "The result has no such picture")
const notAcceptable = problem(
  "NOT_ACCEPTABLE",
  `Accept names none of ${OFFERED.join(", ")}; or name a format with ?format=`
)

/** Headers of all formats: which one it is depends on what the caller takes. */
const HEADERS = { ...RESULT_HEADERS, vary: "accept" }

export interface ResultQuery {
  readonly format?: ResultFormat
  readonly pictures?: ResultPictures
}

/** What a request asks for. */
const wanted = Effect.fnUntraced(function* (
  { headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  query: ResultQuery
) {
  const type = query.format ? undefined : preferredType(headers["accept"], OFFERED)
  const format = query.format || (type === undefined ? undefined : TYPES[type])
  if (format === undefined) return yield* Effect.fail(notAcceptable)
  const usual = format === "html" || format === "fragment" ? "inline" : "none"
  return { format, pictures: query.pictures || usual } as const
})

/** Answers with results, in the format that each caller asks for (DOC-27). */
export const makeResults = Effect.gen(function* () {
  const objects = yield* FileObjects
  const formats = yield* ResultFormats
  const writing = makePlaces(MOST_AT_ONCE, "results that are written in other formats")
  const htmlOf = (key: string) => Stream.decodeText(objects.get(key))
  return {
    result: Effect.fnUntraced(function* (
      { customerId, resultKey }: StoredFile,
      request: HttpServerRequest.HttpServerRequest,
      query: ResultQuery
    ) {
      if (resultKey === null) return yield* Effect.fail(noResult)
      const { format, pictures } = yield* wanted(request, query)
      if (format === "html" && pictures === "inline")
        return yield* resultResponse(objects, resultKey, request, HEADERS).pipe(Effect.catch(resultAway))
      const { size } = yield* objects.stat(resultKey).pipe(Effect.catch(resultAway))
      const etag = yield* tagOf(new TextEncoder().encode(`${resultKey} ${size} ${format} ${pictures}`))
      const headers = { ...HEADERS, etag }
      if (hasAlready(request.headers["if-none-match"], [etag, gzipTag(etag)]))
        return HttpServerResponse.empty({ status: 304, headers })
      yield* takePlace(writing, customerId)
      const text = Stream.orDie(formats.write(htmlOf(resultKey), { format, pictures }))
      return textDownload(text, request, { contentType: CONTENT_TYPES[format], headers })
    }),
    picture: Effect.fnUntraced(function* (
      { customerId, resultKey }: StoredFile,
      index: string,
      request: HttpServerRequest.HttpServerRequest
    ) {
      if (resultKey === null) return yield* Effect.fail(noResult)
      if (!/^(?:0|[1-9]\d{0,5})$/.test(index)) return yield* Effect.fail(noPicture)
      yield* takePlace(writing, customerId)
      const picture = yield* formats.picture(htmlOf(resultKey), Number(index)).pipe(Effect.catch(resultAway))
      if (picture === undefined) return yield* Effect.fail(noPicture)
      return yield* bytesAnswer(picture.bytes, picture.mediaType, request, RESULT_HEADERS)
    })
  }
})
