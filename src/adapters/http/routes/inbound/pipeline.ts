import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import {
  PageCount,
  PIPELINE_PATHS,
  fileNameOf,
  PIPELINE_HEADERS
} from "../../../../domain/inbound/pipeline-wire.ts"
import { PAGE_MEDIA_TYPE } from "../../pages/paths.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, problemResponse } from "../../server/problem.ts"
import { InvalidRequest, ProxySecret } from "../mail/relay.ts"
import { PipelineAnswers } from "./pipeline-answer.ts"

const error = [
  InvalidRequest,
  problemSchema("PAYLOAD_TOO_LARGE", {}),
  problemSchema("UNREADABLE_FILE", {}),
  problemSchema("READER_CRASHED", {}),
  problemSchema("UNAVAILABLE", {})
] as const

/** The conversion pipeline for convert-by-email on the edge; the body is the PDF. */
export class PipelineGroup extends HttpApiGroup.make("pipeline")
  .add(
    HttpApiEndpoint.post("pipelinePages", PIPELINE_PATHS.pages, { success: PageCount, error }).annotate(
      OpenApi.Summary,
      "Counts the pages of the PDF that is the body"
    )
  )
  .add(
    HttpApiEndpoint.post("pipelineConvert", PIPELINE_PATHS.convert, {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE })),
      error
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Converts the PDF that is the body",
        description:
          "For the worker of convert-by-email. The answer's headers x-standard-pages and x-complex-pages say what it came to, " +
          "x-unreadable-pages which pages could not be read, x-has-text: 0 that there is no word of text in it, " +
          "x-result-bytes how long it is; x-file-name (percent-encoded) names a document without a title."
      })
    )
  )
  .middleware(ProxySecret) {}

/** The pipeline behind the shared secret, for a worker without a service binding. */
export const pipelineHandlers = HttpApiBuilder.group(
  apiOf(PipelineGroup),
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
