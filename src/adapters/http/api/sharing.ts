import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { MAX_SHARE_RECIPIENTS } from "../../../domain/callers/sharing.ts"
import { PAGE_MEDIA_TYPE } from "../html-page.ts"
import { problemSchema } from "../problem.ts"
import { OwnerAccess } from "./access.ts"
import { RateLimited, RequestsPerMinute } from "./rate-limit.ts"
import { InvalidRequest } from "./relay.ts"

/** Longest message beside a shared file, characters. */
const MAX_MESSAGE = 5000

/** The body that shares a file. */
export const ShareRequest = Schema.Struct({
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

/** Where the links lead. Nobody signs in; the token is what lets a caller pass. */
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
