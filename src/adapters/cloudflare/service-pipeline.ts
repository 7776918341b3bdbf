import { Duration, Effect, Layer, Redacted, Schema, Stream } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import {
  legibilityOf,
  PageCount,
  PIPELINE_HEADERS,
  PIPELINE_PATHS
} from "../../domain/inbound/pipeline-wire.ts"
import { ConvertPipeline, PipelineError } from "../../ports/inbound/convert-pipeline.ts"
import { MailObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import type { ServiceBinding } from "./bindings.ts"

/**
 * Time limit of one conversion: 12 minutes and the time to find out why it takes longer. It leaves room for the next steps in a
 * scheduled invocation (15 minutes).
 */
const CONVERSION_TIME_LIMIT = Duration.seconds(12 * 60 + 45)

/** A binding looks at the path only. */
const ORIGIN = "https://pipeline.internal"

/** Most bytes read of an answer that describes the document. */
const MAX_PROBLEM_BYTES = 64 * 1024

/** How long a service may take to count the pages of a document that it could not convert in time. */
const PROBE_TIME_LIMIT = Duration.seconds(45)

/** What the owner reads after the last try. */
const TOO_LONG =
  "The document could not be converted: it takes longer than a mail's conversion may. Split it up, then send the parts."

const NOT_NOW = "The document could not be converted: the conversion service does not answer."

const Problem = Schema.fromJsonString(
  Schema.Struct({ detail: Schema.NonEmptyString, code: Schema.optionalKey(Schema.String) })
)
const decodeProblem = Schema.decodeUnknownOption(Problem)
const decodeCount = Schema.decodeUnknownEffect(Schema.fromJsonString(PageCount))
const decodeNumber = Schema.decodeUnknownOption(
  Schema.NumberFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))
)

/** The pipeline cannot be reached; `why` is for the log. */
const unavailable = (why: string, cause?: unknown) =>
  new PipelineError({ reason: "unavailable", message: NOT_NOW, cause: cause ?? new Error(why) })

const bodyOf = (response: Response): Stream.Stream<Uint8Array, PipelineError> =>
  response.body === null
    ? Stream.empty
    : Stream.fromReadableStream({
        evaluate: () => response.body!,
        onError: (cause) => unavailable("the pipeline's answer broke off", cause)
      })

/** The text of a short answer. */
const textOf = (response: Response) => {
  const decoder = new TextDecoder()
  let size = 0
  return bodyOf(response).pipe(
    Stream.takeWhile((bytes) => (size += bytes.length) <= MAX_PROBLEM_BYTES),
    Stream.runFold(
      () => "",
      (text, bytes) => text + decoder.decode(bytes, { stream: true })
    )
  )
}

/** Why an answer is no success: the document's fault, or its reader's, only where the pipeline says so. */
const failureOf = Effect.fnUntraced(function* (response: Response): Effect.fn.Return<never, PipelineError> {
  const problem = decodeProblem(yield* textOf(response))
  if (response.status === 422 && problem._tag === "Some") {
    return yield* new PipelineError({ reason: "document", message: problem.value.detail })
  }
  if (problem._tag === "Some" && problem.value.code === "READER_CRASHED") {
    return yield* new PipelineError({ reason: "crashed", message: problem.value.detail })
  }
  const why = problem._tag === "Some" ? `: ${problem.value.detail}` : ""
  return yield* unavailable(`the pipeline answered ${response.status}${why}`)
})

/** A stream body is sent while it is read; the types of `RequestInit` lack the option for it. */
interface StreamedRequest extends RequestInit {
  readonly duplex: "half"
}

/** How the pipeline is reached. */
interface ServicePipelineOptions {
  readonly binding: ServiceBinding
  /** Sent as `x-proxy-secret`, for a pipeline behind the API's public listener. */
  readonly proxySecret?: Redacted.Redacted | undefined
  /** {@link CONVERSION_TIME_LIMIT}; tests shorten it. */
  readonly timeLimit?: Duration.Duration
}

const request = (
  { binding, proxySecret }: ServicePipelineOptions,
  path: string,
  source: Stream.Stream<Uint8Array, ObjectStoreError>,
  headers: Readonly<Record<string, string>>
) => {
  const init: StreamedRequest = {
    method: "POST",
    headers: {
      "content-type": "application/pdf",
      ...(proxySecret === undefined ? {} : { "x-proxy-secret": Redacted.value(proxySecret) }),
      ...headers
    },
    body: Stream.toReadableStream(source),
    duplex: "half"
  }
  return Effect.tryPromise({
    try: (signal) => binding.fetch(new Request(`${ORIGIN}${path}`, { ...init, signal })),
    catch: (cause) => unavailable("the pipeline cannot be reached", cause)
  })
}

const numberOf = (response: Response, header: string) => {
  const found = decodeNumber(response.headers.get(header))
  return found._tag === "Some"
    ? Effect.succeed(found.value)
    : Effect.fail(unavailable(`the pipeline's answer has no ${header}`))
}

/** The number of pages; `undefined` from a pipeline that only converts, where the count is estimated. */
const readCount = Effect.fnUntraced(function* (response: Response) {
  if (response.status === 404 || response.status === 405) {
    yield* Effect.promise(() => response.body?.cancel() ?? Promise.resolve())
    return undefined
  }
  if (!response.ok) return yield* failureOf(response)
  const { pages } = yield* Effect.mapError(Effect.flatMap(textOf(response), decodeCount), (cause) =>
    unavailable("the pipeline's count cannot be read", cause)
  )
  return pages
})

/** Stores the HTML of an answer. */
const storeResult = Effect.fnUntraced(function* (
  objects: MailObjects["Service"],
  resultKey: string,
  response: Response
) {
  if (!response.ok) return yield* failureOf(response)
  const standardPages = yield* numberOf(response, PIPELINE_HEADERS.standardPages)
  const complexPages = yield* numberOf(response, PIPELINE_HEADERS.complexPages)
  const expected = yield* numberOf(response, PIPELINE_HEADERS.bytes)
  const bytes = yield* objects
    .put(resultKey, bodyOf(response), { contentType: "text/html; charset=utf-8" })
    .pipe(
      Effect.mapError((error) =>
        error._tag === "PipelineError" ? error : unavailable("the result cannot be stored", error)
      )
    )
  if (bytes !== expected || standardPages + complexPages === 0) {
    return yield* unavailable(`the pipeline's answer has ${bytes} of ${expected} bytes`)
  }
  return { bytes, standardPages, complexPages, ...legibilityOf(response.headers) }
})

/**
 * The pipeline behind a service binding (INBOUND-8): the PDF is streamed to it out of the object store, the HTML back into it.
 * Every request may be made again.
 */
export const layer = (options: ServicePipelineOptions): Layer.Layer<ConvertPipeline, never, MailObjects> =>
  Layer.effect(
    ConvertPipeline,
    Effect.map(MailObjects, (objects) => {
      const inTime = <A>(
        work: Effect.Effect<A, PipelineError>,
        duration: Duration.Duration,
        onTimeout: Effect.Effect<never, PipelineError>
      ) => withDeadline(work, { duration, onTimeout: () => onTimeout })
      const limit = options.timeLimit ?? CONVERSION_TIME_LIMIT
      const probe = Duration.min(PROBE_TIME_LIMIT, Duration.times(limit, 0.5))
      const silent = Effect.fail(unavailable("the pipeline took too long"))
      const count = (sourceKey: string, duration: Duration.Duration) =>
        inTime(
          Effect.flatMap(request(options, PIPELINE_PATHS.pages, objects.get(sourceKey), {}), readCount),
          duration,
          silent
        )
      /** A service that still answers is not away: the document is at fault, and is tried a few times only. */
      const tooLong = (sourceKey: string) =>
        Effect.andThen(
          count(sourceKey, probe),
          Effect.fail(new PipelineError({ reason: "crashed", message: TOO_LONG }))
        )
      return ConvertPipeline.of({
        countPages: (sourceKey) => count(sourceKey, limit),
        convert: ({ name, resultKey, sourceKey }) => {
          const headers = { [PIPELINE_HEADERS.fileName]: encodeURIComponent(name.toWellFormed()) }
          return inTime(
            Effect.flatMap(
              request(options, PIPELINE_PATHS.convert, objects.get(sourceKey), headers),
              (response) => storeResult(objects, resultKey, response)
            ),
            Duration.subtract(limit, probe),
            tooLong(sourceKey)
          )
        }
      })
    })
  )
