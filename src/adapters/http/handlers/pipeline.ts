import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { fileNameOf, PIPELINE_HEADERS } from "../../../domain/intake/pipeline-wire.ts"
import { Api } from "../api/api.ts"
import { PipelineAnswers } from "../pipeline-answer.ts"
import { problemResponse } from "../problem.ts"

/** The pipeline behind the shared secret: for a worker that has no other way to it. */
export const pipelineHandlers = HttpApiBuilder.group(
  Api,
  "pipeline",
  Effect.fnUntraced(function* (handlers) {
    const answers = yield* PipelineAnswers
    return handlers
      .handleRaw("pipelinePages", ({ request }) =>
        answers
          .pages(request.stream)
          .pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))
      )
      .handleRaw("pipelineConvert", ({ request }) =>
        answers
          .convert(request.stream, fileNameOf(request.headers[PIPELINE_HEADERS.fileName]))
          .pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))
      )
  })
)
