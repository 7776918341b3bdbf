import { Effect, Redacted, Result, Schema } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { NewSenderToken, readSenderToken } from "../../../../domain/mail/sender-token.ts"
import { Category } from "../../../../domain/mail/suppression/policy.ts"
import { type ListedSenderToken, SenderTokens } from "../../../../ports/mail/sender-tokens.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf } from "../../server/endpoint.ts"
import { jsonBody, JsonBody } from "../../server/json-body.ts"
import {
  bodyRefusals,
  invalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"

const Listed = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  categories: Schema.Array(Category).annotate({ description: "Empty: any." }),
  from: Schema.Array(Schema.String).annotate({ description: "Empty: any." }),
  ratePerMinute: Schema.NullOr(Schema.Int).annotate({ description: "null: no limit." }),
  createdAt: Schema.String,
  lastUsedAt: Schema.NullOr(Schema.String).annotate({ description: "To the minute; null: never." })
}).annotate({ identifier: "SenderToken" })

const PATH = "/api/admin/sender-tokens"

/** Tokens of programs that send, for admins. */
export class SenderTokenGroup extends HttpApiGroup.make("senderTokens")
  .add(
    HttpApiEndpoint.get("listSenderTokens", PATH, {
      success: Schema.Struct({ tokens: Schema.Array(Listed) }),
      error: [Unavailable]
    }).annotate(OpenApi.Summary, "The sender tokens in force, newest first; never their text")
  )
  .add(
    HttpApiEndpoint.post("addSenderToken", PATH, {
      payload: NewSenderToken,
      success: Schema.Struct({ id: Schema.String, token: Schema.String })
        .annotate({ identifier: "CreateSenderTokenAnswer" })
        .pipe(HttpApiSchema.status(201)),
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(jsonBody(32 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Makes a sender token",
          description:
            "For SMTP submission, the relay and Resend's API. Its text is in this answer alone. One `sender_token_added` row in " +
            "`admin_audit_log` names who did it."
        })
      )
  )
  .add(
    HttpApiEndpoint.delete("revokeSenderToken", `${PATH}/:tokenId`, {
      params: { tokenId: Schema.String },
      success: HttpApiSchema.NoContent,
      error: [problemSchema("NOT_FOUND", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Revokes a sender token",
        description:
          "It stops working at once, in every process. One `sender_token_revoked` row in `admin_audit_log` names who did it."
      })
    )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

const away = unavailable("sender tokens cannot be reached", "Sender tokens cannot be reached now")

const isoOrNull = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

const shown = ({ createdAt, lastUsedAt, ratePerMinute, ...token }: ListedSenderToken) => ({
  ...token,
  ratePerMinute: ratePerMinute ?? null,
  createdAt: new Date(createdAt).toISOString(),
  lastUsedAt: isoOrNull(lastUsedAt)
})

/** `/api/admin/sender-tokens`. */
export const senderTokenHandlers = HttpApiBuilder.group(
  apiOf(SenderTokenGroup),
  "senderTokens",
  Effect.fnUntraced(function* (handlers) {
    const tokens = yield* SenderTokens
    return handlers.handleAll({
      listSenderTokens: () =>
        tokens.list.pipe(
          Effect.map((found) => ({ tokens: found.map(shown) })),
          Effect.catch(away)
        ),
      addSenderToken: Effect.fnUntraced(function* ({ payload }) {
        const { actor } = yield* CurrentPrincipal
        const token = readSenderToken(payload)
        if (Result.isFailure(token)) return yield* Effect.fail(invalidRequest(token.failure))
        const made = yield* tokens.create(token.success, actor).pipe(Effect.catch(away))
        return { id: made.id, token: Redacted.value(made.token) }
      }),
      revokeSenderToken: Effect.fnUntraced(function* ({ params: { tokenId } }) {
        const { actor } = yield* CurrentPrincipal
        const revoked = yield* tokens.revoke(tokenId, actor).pipe(Effect.catch(away))
        if (!revoked)
          return yield* Effect.fail(problem("NOT_FOUND", "No sender token of this id is in force"))
      })
    })
  })
)
