import { Schema, Effect, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi, HttpApiBuilder } from "effect/http-api"

import { MAX_SHARE_RECIPIENTS, Sharing } from "../../../../application/conversion/sharing.ts"
import type { FileId } from "../../../../domain/ids.ts"
import { addressKey, addressOf, parseMailbox } from "../../../../domain/mail/address.ts"
import { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import { SharedFiles } from "../../../../ports/conversion/shared-files.ts"
import { FileObjects } from "../../../../ports/object-store.ts"
import { acceptsPages, pageResponse } from "../../pages/html-page.ts"
import { SHARED_PAGE_POLICY, sharedGonePage } from "../../pages/link-pages.ts"
import { CurrentOwner, OwnerAccess } from "../../server/access.ts"
import { apiOf, openQuery, Page } from "../../server/endpoint.ts"
import { readJson } from "../../server/json-body.ts"
import { makeOnce, onceHeaders, onceRefusals } from "../../server/once.ts"
import { bodyDecoder, InvalidRequest, invalidRequest, problem, problemSchema } from "../../server/problem.ts"
import { RateLimited, RequestLimits, RequestsPerMinute, takeOrRefuse } from "../../server/rate-limit.ts"
import { resultResponse } from "../../server/responses.ts"
import { fileParams, FileNotFound, filesAway, FilesUnavailable, noFile, ownFile } from "./own-file.ts"

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

const NotShared = problemSchema("NOT_FOUND", {})

/** Most shares of all files that are listed. */
const MAX_SHARES = 1000

const Share = Schema.Struct({
  email: Schema.String,
  sharedAt: Schema.String,
  expiresAt: Schema.String
}).annotate({ identifier: "Share" })

/** Sharing of results by mail. */
export class SharingGroup extends HttpApiGroup.make("sharing")
  .add(
    HttpApiEndpoint.post("shareFile", "/api/v1/files/:fileId/share", {
      params: fileParams,
      headers: onceHeaders,
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
        problemSchema("UNAVAILABLE", {}),
        ...onceRefusals
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
  .add(
    HttpApiEndpoint.get("listShares", "/api/v1/files/:fileId/shares", {
      params: fileParams,
      success: Schema.Struct({
        shares: Schema.Array(Share)
      }),
      error: [FileNotFound, FilesUnavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Whom the result is shared with, newest first",
        description: "Those whose links have expired are left out."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("listAllShares", "/api/v1/shares", {
      success: Schema.Struct({
        shares: Schema.Array(
          Schema.Struct({ fileId: Schema.String, fileName: Schema.String, ...Share.fields }).annotate({
            identifier: "FileShare"
          })
        )
      }),
      error: FilesUnavailable
    }).annotateMerge(
      OpenApi.annotations({
        summary: "What is shared with whom, over all files, newest first",
        description: `The ${MAX_SHARES} newest; those whose links have expired are left out.`
      })
    )
  )
  .add(
    HttpApiEndpoint.delete("stopSharing", "/api/v1/files/:fileId/shares", {
      params: fileParams,
      success: HttpApiSchema.NoContent,
      error: [FileNotFound, FilesUnavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Stops every link to the result that was made until now",
        description: "Those in answers to mailed documents and in messages about bulk orders among them."
      })
    )
  )
  .add(
    HttpApiEndpoint.delete("revokeShare", "/api/v1/files/:fileId/shares/:email", {
      params: { ...fileParams, email: Schema.String },
      success: HttpApiSchema.NoContent,
      error: [FileNotFound, NotShared, FilesUnavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Stops the links that were mailed to one address",
        description: "The address as `listShares` names it. The links of all others go on working."
      })
    )
  )
  .middleware(OwnerAccess) {}

/** The pages behind shared links. There is no sign-in; the token authorises the caller. */
export class SharedGroup extends HttpApiGroup.make("shared")
  .add(
    HttpApiEndpoint.get("showShared", "/shared/:token", {
      params: { token: Schema.String },
      success: Page,
      error: [NotShared, problemSchema("UNAVAILABLE", {})]
    })
      .annotate(RequestsPerMinute, 120)
      .annotateMerge(
        OpenApi.annotations({
          summary: "A shared result",
          description: "The accessible HTML; 404 once the link has expired or the file was deleted."
        })
      )
  )
  .middleware(RateLimited)
  .annotateEndpointsMerge(openQuery) {}

/** Largest body of a share, bytes. */
const MAX_BODY = 64 * 1024

/** How many mails a customer's shares may be: a stolen token must not become a source of unwanted mail. */
const MAILS_OF_A_CUSTOMER = { limit: 200, window: "1 day" } as const

const decodeShare = bodyDecoder(ShareRequest)

const notShared = problem("NOT_FOUND", "The file is not shared with this address")

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

/** `POST /api/v1/files/:fileId/share`. Raw: a file that is not the caller's is a 404 before the body is read. */
export const sharingHandlers = HttpApiBuilder.group(
  apiOf(SharingGroup),
  "sharing",
  Effect.fnUntraced(function* (handlers) {
    const fileOf = ownFile(yield* ConversionStore)
    const sharing = yield* Sharing
    const shared = yield* SharedFiles
    const limits = yield* RequestLimits
    const once = yield* makeOnce
    const share = Effect.fnUntraced(
      function* (
        fileId: FileId,
        given: Effect.Effect<unknown, Effect.Error<ReturnType<typeof readJson>>>,
        callId: string | undefined
      ) {
        const { customerId, id, resultKey } = yield* fileOf(fileId)
        const body = yield* Effect.flatMap(given, decodeShare)
        const recipients = yield* recipientsOf(body.recipients)
        if (resultKey === null) {
          return yield* Effect.fail(problem("RESULT_NOT_READY", "The file has no result to share yet"))
        }
        yield* takeOrRefuse(limits, {
          key: `shares ${customerId}`,
          ...MAILS_OF_A_CUSTOMER,
          amount: recipients.length
        })
        const message = body.message ?? undefined
        return yield* sharing.share({ callId, fileId: id, customerId, recipients, message })
      },
      Effect.catchTags({
        NoSuchFile: () => Effect.fail(noFile),
        StoreUnavailable: filesAway
      })
    )
    return handlers
      .handleAll({
        listShares: Effect.fnUntraced(function* ({ params }) {
          const { customerId, id } = yield* fileOf(params.fileId)
          const shares = yield* shared.shares({ fileId: id, customerId }).pipe(Effect.catch(filesAway))
          return { shares }
        }),
        listAllShares: Effect.fnUntraced(function* () {
          const { customerId } = yield* CurrentOwner
          const shares = yield* shared.allShares(customerId, MAX_SHARES).pipe(Effect.catch(filesAway))
          return { shares }
        }),
        stopSharing: Effect.fnUntraced(function* ({ params }) {
          const { customerId, id } = yield* fileOf(params.fileId)
          const stopped = yield* shared.stop({ fileId: id, customerId }).pipe(Effect.catch(filesAway))
          if (!stopped) return yield* Effect.fail(noFile)
        }),
        revokeShare: Effect.fnUntraced(function* ({ params: { email, fileId } }) {
          const { customerId, id } = yield* fileOf(fileId)
          const revoked = yield* shared
            .revoke({ fileId: id, customerId, email })
            .pipe(Effect.catch(filesAway))
          if (!revoked) return yield* Effect.fail(notShared)
        })
      })
      .handleRaw("shareFile", ({ headers, params: { fileId }, request }) =>
        once({ headers, route: ["shareFile", fileId], body: readJson(request, MAX_BODY) }, (call, body) =>
          share(fileId, body, call.repeatable ? call.id : undefined)
        )
      )
  })
)

/** A person's browser gets a page, a program a problem. */
const gone = (request: HttpServerRequest.HttpServerRequest) =>
  acceptsPages(request)
    ? Effect.succeed(pageResponse(sharedGonePage, { policy: SHARED_PAGE_POLICY, status: 404 }))
    : Effect.fail(problem("NOT_FOUND", "This link does not work, or not any more"))

/** A link is a secret: neither caches nor search engines keep what it shows. */
const PRIVATE = { "cache-control": "private, no-store", "x-robots-tag": "noindex, nofollow" }

/** `GET /shared/:token`. */
export const sharedHandlers = HttpApiBuilder.group(
  apiOf(SharedGroup),
  "shared",
  Effect.fnUntraced(function* (handlers) {
    const shared = yield* SharedFiles
    const objects = yield* FileObjects
    return handlers.handle(
      "showShared",
      Effect.fnUntraced(function* ({ params, request }) {
        const found = yield* shared.open(params.token).pipe(Effect.catch(filesAway))
        if (found === undefined) return yield* gone(request)
        return yield* resultResponse(objects, found.resultKey, request, PRIVATE).pipe(
          Effect.catchIf(
            ({ reason }) => reason === "missing",
            () => gone(request)
          ),
          Effect.catchTag("ObjectStoreError", filesAway)
        )
      })
    )
  })
)
