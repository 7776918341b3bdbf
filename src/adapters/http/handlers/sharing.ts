import { Effect, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { Sharing } from "../../../domain/callers/sharing.ts"
import { addressKey, addressOf, parseMailbox } from "../../../domain/mail/address.ts"
import { ConversionStore } from "../../../ports/conversion-store.ts"
import { FileObjects } from "../../../ports/object-store.ts"
import { SharedFiles } from "../../../ports/shared-files.ts"
import { Api } from "../api/api.ts"
import { ShareRequest } from "../api/sharing.ts"
import { bodyDecoder } from "../decode-body.ts"
import { PAGE_MEDIA_TYPE } from "../html-page.ts"
import { makeJsonBodies } from "../json-body.ts"
import { filesUnavailable, noFile, ownFile } from "../own-file.ts"
import { invalidRequest, problem, problemResponse } from "../problem.ts"
import { RequestLimits, tooManyResponse } from "../rate-limit.ts"
import { resultResponse } from "../result-response.ts"
import { SHARED_PAGE_POLICY, sharedGonePage } from "../shared-page.ts"

/** Largest body of a share, bytes. */
const MAX_BODY = 64 * 1024

/** How many mails a customer's shares may be: a stolen token must not become a source of unwanted mail. */
const MAILS_OF_A_CUSTOMER = { limit: 200, window: "1 day" } as const

const decodeShare = bodyDecoder(ShareRequest)

/** The addresses as they were written, each person once, or what is wrong with each that is none. */
const recipientsOf = (texts: ReadonlyArray<string>) => {
  const issues: Array<{ readonly path: string; readonly message: string }> = []
  const people = new Map<string, string>()
  for (const [at, text] of texts.entries()) {
    const parsed = parseMailbox(text.trim())
    if (Result.isFailure(parsed)) issues.push({ path: `recipients.${at}`, message: parsed.failure })
    else if (!people.has(addressKey(parsed.success)))
      people.set(addressKey(parsed.success), addressOf(parsed.success))
  }
  return issues.length > 0 ? Effect.fail(invalidRequest(issues)) : Effect.succeed([...people.values()])
}

/** `POST /api/v1/files/:fileId/share`. */
export const sharingHandlers = HttpApiBuilder.group(
  Api,
  "sharing",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ConversionStore
    const sharing = yield* Sharing
    const limits = yield* RequestLimits
    const bodies = yield* makeJsonBodies
    const fileOf = ownFile(store)
    return handlers.handleRaw("shareFile", ({ params, request }) =>
      Effect.gen(function* () {
        const file = yield* fileOf(params.fileId)
        const body = yield* bodies.read(request, MAX_BODY).pipe(Effect.flatMap(decodeShare))
        const recipients = yield* recipientsOf(body.recipients)
        if (file.resultKey === null) {
          return problemResponse(problem("RESULT_NOT_READY", "The file has no result to share yet"))
        }
        const taken = yield* Effect.result(
          limits.take({ key: `shares ${file.customerId}`, ...MAILS_OF_A_CUSTOMER, amount: recipients.length })
        )
        if (Result.isFailure(taken)) return tooManyResponse(taken.failure)
        const answer = yield* sharing
          .share({
            fileId: file.id,
            customerId: file.customerId,
            recipients,
            message: body.message ?? undefined
          })
          .pipe(
            Effect.catchTags({
              NoSuchFile: () => Effect.fail(noFile),
              SharedFilesUnavailable: filesUnavailable
            })
          )
        return HttpServerResponse.text(JSON.stringify(answer), { contentType: "application/json" })
      }).pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))
    )
  })
)

/** A person's browser gets a page, a program a problem. */
const gone = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  /\btext\/html\b/i.test(headers["accept"] ?? "")
    ? HttpServerResponse.text(sharedGonePage, {
        status: 404,
        contentType: PAGE_MEDIA_TYPE,
        headers: { "content-security-policy": SHARED_PAGE_POLICY }
      })
    : problemResponse(problem("NOT_FOUND", "This link does not work, or not any more"))

/** A link is a secret: neither caches nor search engines keep what it shows. */
const PRIVATE = { "cache-control": "private, no-store", "x-robots-tag": "noindex, nofollow" }

/** `GET /shared/:token`. */
export const sharedHandlers = HttpApiBuilder.group(
  Api,
  "shared",
  Effect.fnUntraced(function* (handlers) {
    const shared = yield* SharedFiles
    const objects = yield* FileObjects
    return handlers.handleRaw("showShared", ({ params, request }) =>
      Effect.gen(function* () {
        const found = yield* shared.open(params.token)
        return found === undefined ? gone(request) : yield* resultResponse(objects, found.resultKey, PRIVATE)
      }).pipe(
        Effect.catchIf(
          (error) => error._tag === "ObjectStoreError" && error.reason === "missing",
          () => Effect.succeed(gone(request))
        ),
        Effect.catch(filesUnavailable),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )
    )
  })
)
