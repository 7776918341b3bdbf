import { Context, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

import { fileNameOf, PIPELINE_HEADERS, PIPELINE_PATHS } from "../../../../domain/inbound/pipeline-wire.ts"
import { problem, problemResponse } from "../../server/problem.ts"
import { PipelineAnswers } from "./pipeline-answer.ts"

const bodyOf = ({ body }: Request): Stream.Stream<Uint8Array, unknown> =>
  body === null
    ? Stream.empty
    : Stream.fromReadableStream<Uint8Array, unknown>({ evaluate: () => body, onError: (cause) => cause })

/**
 * The pipeline as a plain fetch handler. It does not authenticate, and converting costs its callers nothing: put it behind a
 * service binding, or behind another check of callers.
 */
export const makePipelineFetch = (
  context: Context.Context<PipelineAnswers>
): ((request: Request) => Promise<Response>) => {
  const answers = Context.get(context, PipelineAnswers)
  const answer = (request: Request) => {
    const { pathname } = new URL(request.url)
    const paths: ReadonlyArray<string> = Object.values(PIPELINE_PATHS)
    if (!paths.includes(pathname)) return Effect.fail(problem("NOT_FOUND", "There is nothing at this path"))
    if (request.method !== "POST") {
      return Effect.fail(problem("METHOD_NOT_ALLOWED", "Only POST is allowed here"))
    }
    return pathname === PIPELINE_PATHS.pages
      ? answers.pages(bodyOf(request))
      : answers.convert(bodyOf(request), fileNameOf(request.headers.get(PIPELINE_HEADERS.fileName)))
  }
  return (request) =>
    Effect.runPromiseWith(context)(
      Effect.suspend(() => answer(request)).pipe(
        Effect.catch((refused) => Effect.succeed(problemResponse(refused))),
        Effect.catchCause((cause) =>
          Effect.as(
            Effect.logError("the pipeline failed inside Postlane: report this as a bug", cause),
            problemResponse(problem("INTERNAL", "Something failed inside"))
          )
        ),
        Effect.map((response) => HttpServerResponse.toWeb(response, { context }))
      ),
      { signal: request.signal }
    )
}
