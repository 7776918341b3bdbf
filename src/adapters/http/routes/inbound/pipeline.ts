import { Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import {
  PageCount,
  PIPELINE_PATHS,
  fileNameOf,
  PIPELINE_HEADERS
} from "../../../../domain/inbound/pipeline-wire.ts"
import { ProxySecret } from "../../server/access.ts"
import { apiOf, Page } from "../../server/endpoint.ts"
import { InvalidRequest, type Problem, problemResponse, problemSchema } from "../../server/problem.ts"
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
      success: Page,
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

const refused = (why: Problem) => Effect.succeed(problemResponse(why))

/** The pipeline behind the shared secret, for a worker without a service binding. */
export const pipelineHandlers = HttpApiBuilder.group(
  apiOf(PipelineGroup),
  "pipeline",
  Effect.fnUntraced(function* (handlers) {
    const answers = yield* PipelineAnswers
    return handlers.handleAll({
      pipelinePages: ({ request }) => answers.pages(request.stream).pipe(Effect.catch(refused)),
      pipelineConvert: ({ request }) =>
        answers
          .convert(request.stream, fileNameOf(request.headers[PIPELINE_HEADERS.fileName]))
          .pipe(Effect.catch(refused))
    })
  })
)
