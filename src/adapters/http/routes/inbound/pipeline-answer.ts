import { Context, Data, Effect, Layer, Stream } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"
import { HttpServerResponse } from "effect/http"

import { MAX_ATTACHMENT_BYTES } from "../../../../domain/inbound/attachment-choice.ts"
import { legibilityHeaders, PIPELINE_HEADERS } from "../../../../domain/inbound/pipeline-wire.ts"
import { ConvertPipeline, type PipelineError } from "../../../../ports/inbound/convert-pipeline.ts"
import { MailObjects, type ObjectStoreError } from "../../../../ports/object-store.ts"
import { problem, type Problem } from "../../server/problem.ts"
import { PAGE_MEDIA_TYPE } from "../../server/representations.ts"

type Response = HttpServerResponse.HttpServerResponse
type Pdf = Stream.Stream<Uint8Array, unknown>

/** The body is larger than an attachment may be. */
class TooLarge extends Data.TaggedError("TooLarge") {}

/** The body ended early. */
class Cut extends Data.TaggedError("Cut")<{ readonly cause: unknown }> {}

/** The conversion pipeline for callers in other processes: a PDF in, its HTML out. It checks no caller and no customer. */
export class PipelineAnswers extends Context.Service<
  PipelineAnswers,
  {
    readonly pages: (pdf: Pdf) => Effect.Effect<Response, Problem>
    readonly convert: (pdf: Pdf, name: string) => Effect.Effect<Response, Problem>
  }
>()("postlane/http/PipelineAnswers") {}

const CODES = {
  document: "UNREADABLE_FILE",
  crashed: "READER_CRASHED",
  unavailable: "UNAVAILABLE"
} as const

const problemOf = (error: PipelineError | ObjectStoreError | TooLarge | Cut): Problem => {
  switch (error._tag) {
    case "PipelineError":
      return problem(CODES[error.reason], error.message)
    case "ObjectStoreError":
      return problem("UNAVAILABLE", "The document could not be converted: its file store does not answer.")
    case "TooLarge":
      return problem("PAYLOAD_TOO_LARGE", `A document may hold ${MAX_ATTACHMENT_BYTES} bytes at most`)
    case "Cut":
      return problem("INVALID_REQUEST", "The body ended early")
  }
}

const limited = (pdf: Pdf): Stream.Stream<Uint8Array, TooLarge | Cut> => {
  let size = 0
  return Stream.mapError(pdf, (cause) => new Cut({ cause })).pipe(
    Stream.mapEffect((bytes) => {
      size += bytes.length
      return size > MAX_ATTACHMENT_BYTES ? Effect.fail(new TooLarge()) : Effect.succeed(bytes)
    })
  )
}

const make = Effect.gen(function* () {
  const pipeline = yield* ConvertPipeline
  const objects = yield* MailObjects
  const random = yield* SecureRandom

  const removed = (...keys: ReadonlyArray<string>) => Effect.ignore(objects.remove(keys), { log: true })

  /** Stores the body where the pipeline reads, while `use` runs. */
  const withSource = <A, E>(pdf: Pdf, use: (key: string, id: string) => Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const id = yield* random.uuidV7()
      const key = `pipeline/${id}/source.pdf`
      return yield* objects
        .put(key, limited(pdf), { contentType: "application/pdf" })
        .pipe(Effect.andThen(use(key, id)), Effect.ensuring(removed(key)))
    })

  return PipelineAnswers.of({
    pages: (pdf) =>
      withSource(pdf, (key) => pipeline.countPages(key)).pipe(
        Effect.map((pages) =>
          HttpServerResponse.text(JSON.stringify({ pages }), { contentType: "application/json" })
        ),
        Effect.mapError(problemOf)
      ),
    convert: (pdf, name) =>
      withSource(pdf, (sourceKey, id) => {
        const resultKey = `pipeline/${id}/result.html`
        return pipeline.convert({ sourceKey, resultKey, name }).pipe(
          Effect.map(({ bytes, complexPages, standardPages, ...legibility }) =>
            HttpServerResponse.stream(
              Stream.orDie(objects.get(resultKey)).pipe(Stream.ensuring(removed(resultKey))),
              {
                contentType: PAGE_MEDIA_TYPE,
                contentLength: bytes,
                headers: {
                  ...legibilityHeaders(legibility),
                  [PIPELINE_HEADERS.standardPages]: String(standardPages),
                  [PIPELINE_HEADERS.complexPages]: String(complexPages),
                  [PIPELINE_HEADERS.bytes]: String(bytes)
                }
              }
            )
          ),
          Effect.onError(() => removed(resultKey))
        )
      }).pipe(Effect.mapError(problemOf))
  })
})

/** On a pipeline and the store that it reads from and writes to, which keeps nothing after a request. */
export const layer: Layer.Layer<PipelineAnswers, never, ConvertPipeline | MailObjects | SecureRandom> =
  Layer.effect(PipelineAnswers, make)
