import { Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"

import { networkOf } from "../../../domain/networks.ts"
import { answerConstant, constantBody } from "../server/constant-body.ts"
import { problemResponse } from "../server/problem.ts"
import { RequestLimits } from "../server/rate-limit.ts"
import { PAGE_MEDIA_TYPE, takesGzip } from "../server/representations.ts"
import { DocumentedApi } from "./api.ts"

/** The page is one file with its script and style inline; it may load nothing and talk to this server only. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; " +
  "connect-src 'self'; worker-src blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** A line over each parameter is moved 24 px to the right there, by which the page was wider than a narrow window. */
const STYLE = ".parameter-item-trigger::after { left: 0 !important; right: 0 !important }"

/** Scalar's script is 3 MB: it is loaded at the first request for the page, not at the start, and kept compressed. */
const makePage = Effect.gen(function* () {
  const router = yield* HttpRouter.make
  const scalar = { withDefaultFonts: false, showOperationId: true, customCss: STYLE }
  yield* Layer.build(HttpApiScalar.layer(DocumentedApi, { path: "/docs", scalar })).pipe(
    Effect.provideService(HttpRouter.HttpRouter, router),
    Effect.scoped
  )
  const made = yield* Effect.scoped(router.asHttpEffect())
  const html = yield* Effect.promise(() => HttpServerResponse.toWeb(made).text())
  return yield* constantBody(html.replace("<html>", '<html lang="en">'), PAGE_MEDIA_TYPE)
})

/** How often a client network may have the 3 MB without compression, which browsers and tools take. */
const UNCOMPRESSED = { limit: 20, window: "1 minute" } as const

const limitUncompressed = Effect.fnUntraced(function* (limits: RequestLimits["Service"]) {
  const { headers, remoteAddress } = yield* HttpServerRequest.HttpServerRequest
  if (takesGzip(headers["accept-encoding"] ?? "") || headers["if-none-match"] !== undefined) return undefined
  const client = networkOf(Option.getOrElse(remoteAddress, () => ""))
  return yield* limits.take({ key: `uncompressed /docs ${client}`, ...UNCOMPRESSED }).pipe(
    Effect.as(undefined),
    Effect.catch(({ problem, retryAfterSeconds }) =>
      Effect.succeed(problemResponse(problem, { "retry-after": String(retryAfterSeconds) }))
    )
  )
})

/** `GET /docs`: the API for people to read and try. */
export const docsRoute = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const page = yield* Effect.cached(makePage)
    const limits = yield* RequestLimits
    yield* router.add(
      "GET",
      "/docs",
      Effect.flatMap(limitUncompressed(limits), (refused) =>
        refused === undefined
          ? page.pipe(
              Effect.flatMap((body) => answerConstant(body, "no-cache")),
              Effect.map(HttpServerResponse.setHeader("content-security-policy", POLICY)),
              Effect.orDie
            )
          : Effect.succeed(refused)
      )
    )
  })
)
