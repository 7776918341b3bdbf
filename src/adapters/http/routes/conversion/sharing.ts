import { Schema, Effect, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { MAX_SHARE_RECIPIENTS, Sharing } from "../../../../domain/conversion/sharing.ts"
import { addressKey, addressOf, parseMailbox } from "../../../../domain/mail/address.ts"
import { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import { SharedFiles } from "../../../../ports/conversion/shared-files.ts"
import { FileObjects } from "../../../../ports/object-store.ts"
import { PAGE_MEDIA_TYPE } from "../../pages/html-page.ts"
import { SHARED_PAGE_POLICY, sharedGonePage } from "../../pages/link-pages.ts"
import { makeJsonBodies } from "../../server/body.ts"
import { bodyDecoder } from "../../server/decode-body.ts"
import { apiOf } from "../../server/group-api.ts"
import { problemSchema, invalidRequest, problem, problemResponse } from "../../server/problem.ts"
import { RequestLimits, tooManyResponse } from "../../server/rate-limit.ts"
import { resultResponse } from "../../server/responses.ts"
import { OwnerAccess } from "../../server/session.ts"
import { InvalidRequest } from "../mail/relay.ts"
import { RateLimited, RequestsPerMinute } from "../query.ts"
import { filesUnavailable, noFile, ownFile } from "./own-file.ts"

/** Longest message sent with a shared file, characters. */
const MAX_MESSAGE = 5000

/** The body that shares a file. */
const ShareRequest = Schema.Struct({
  recipients: Schema.Array(Schema.String.check(Schema.isMaxLength(320))).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(MAX_SHARE_RECIPIENTS)
  ),
  message: Schema.optionalKey(Schema.NullOr(Schema.String.check(Schema.isMaxLength(MAX_MESSAGE))))
}).annotate({ identifier: "ShareRequest" })

/** Sharing of results by mail. */
export class SharingGroup extends HttpApiGroup.make("sharing")
  .add(
    HttpApiEndpoint.post("shareFile", "/api/v1/files/:fileId/share", {
      params: { fileId: Schema.String },
      payload: ShareRequest,
      success: Schema.Struct({
        recipients: Schema.Int.annotate({
          description: "How many mails went out, or are queued for a retry."
        }),
        unsentRecipients: Schema.Array(Schema.String)
      }).annotate({ identifier: "Shared" }),
      error: [
        InvalidRequest,
        problemSchema("FILE_NOT_FOUND", {}),
        problemSchema("RESULT_NOT_READY", {}),
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
        problemSchema("RATE_LIMITED", {}),
        problemSchema("UNAVAILABLE", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Mails a link to the result",
        description:
          "Each recipient gets a mail of their own with a link that works for 14 days, or until the file is deleted. " +
          "`recipients` counts the mails that went out; the others are listed in `unsentRecipients`."
      })
    )
  )
  .middleware(OwnerAccess) {}

/** The pages behind shared links. There is no sign-in; the token authorises the caller. */
export class SharedGroup extends HttpApiGroup.make("shared")
  .add(
    HttpApiEndpoint.get("showShared", "/shared/:token", {
      params: { token: Schema.String },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE })),
      error: [problemSchema("NOT_FOUND", {}), problemSchema("UNAVAILABLE", {})]
    })
      .annotate(RequestsPerMinute, 120)
      .annotateMerge(
        OpenApi.annotations({
          summary: "A shared result",
          description: "The accessible HTML; 404 once the link has expired or the file was deleted."
        })
      )
  )
  .middleware(RateLimited) {}

/** Largest body of a share, bytes. */
const MAX_BODY = 64 * 1024

/** How many mails a customer's shares may be: a stolen token must not become a source of unwanted mail. */
const MAILS_OF_A_CUSTOMER = { limit: 200, window: "1 day" } as const

const decodeShare = bodyDecoder(ShareRequest)

/** The addresses as written, without duplicates, or the errors of the invalid ones. */
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
  apiOf(SharingGroup),
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
              StoreUnavailable: filesUnavailable
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
  apiOf(SharedGroup),
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
