import { Clock, Duration, Effect, Redacted, Schema } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { Right } from "../../../../domain/accounts/principal.ts"
import { CustomerId } from "../../../../domain/ids.ts"
import { Access, type ListedToken } from "../../../../ports/accounts/access.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf, Text } from "../../server/endpoint.ts"
import { jsonBody, JsonBody } from "../../server/json-body.ts"
import {
  bodyRefusals,
  invalidRequest,
  problem,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"

/** Longest name of a token, characters. */
const MAX_NAME = 100

/** Longest life of a token that ends by itself, days. */
const MAX_DAYS = 3650

/** A token as lists show it: never its text. */
export const ListedTokenView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  rights: Schema.Array(Right),
  customerId: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  lastUsedAt: Schema.NullOr(Schema.String).annotate({ description: "To the minute; null: never." }),
  expiresAt: Schema.NullOr(Schema.String).annotate({ description: "null: when it is revoked." })
}).annotate({ identifier: "AccessToken" })

const PATH = "/api/admin/tokens"

/** Tokens that sign in and call the API, for admins. */
export class TokenGroup extends HttpApiGroup.make("tokens")
  .add(
    HttpApiEndpoint.get("listTokens", PATH, {
      success: Schema.Struct({ tokens: Schema.Array(ListedTokenView) }),
      error: [Unavailable]
    }).annotate(
      OpenApi.Summary,
      "The tokens of admins and owners that are in force, newest first; never their text"
    )
  )
  .add(
    HttpApiEndpoint.post("addToken", PATH, {
      payload: Schema.Struct({
        name: Text.check(
          Schema.isMaxLength(MAX_NAME),
          Schema.makeFilter((text) => text.trim() !== "" || "is empty")
        ),
        rights: Schema.Array(Right).check(Schema.isMinLength(1)),
        customerId: Schema.optionalKey(CustomerId).annotate({ description: "Of `owner`: for whom." }),
        days: Schema.optionalKey(
          Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_DAYS }))
        ).annotate({
          description: "It ends by itself then; else when it is revoked."
        })
      }).annotate({ identifier: "NewToken" }),
      success: Schema.Struct({ id: Schema.String, token: Schema.String })
        .annotate({ identifier: "NewTokenAnswer" })
        .pipe(HttpApiSchema.status(201)),
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(jsonBody(16 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Makes a token of an admin or an owner",
          description:
            "Its text is in this answer alone. One `token_added` row in `admin_audit_log` names who did it."
        })
      )
  )
  .add(
    HttpApiEndpoint.delete("revokeToken", `${PATH}/:tokenId`, {
      params: { tokenId: Schema.String },
      success: HttpApiSchema.NoContent,
      error: [problemSchema("NOT_FOUND", {}), Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Revokes a token, and ends the sessions that began with it",
        description:
          "It stops working at once, in every process. One `token_revoked` row in `admin_audit_log` names who did it."
      })
    )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

const away = unavailable("tokens cannot be reached", "Tokens cannot be reached now")

const iso = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())

export const tokenView = (token: ListedToken): typeof ListedTokenView.Type => ({
  id: token.id,
  name: token.name,
  rights: token.rights,
  customerId: token.customerId ?? null,
  createdAt: new Date(token.createdAt).toISOString(),
  lastUsedAt: iso(token.lastUsedAt),
  expiresAt: iso(token.expiresAt)
})

/** `/api/admin/tokens`. */
export const tokenHandlers = HttpApiBuilder.group(
  apiOf(TokenGroup),
  "tokens",
  Effect.fnUntraced(function* (handlers) {
    const access = yield* Access
    return handlers.handleAll({
      listTokens: () =>
        access.listTokens.pipe(
          Effect.map((found) => ({ tokens: found.map(tokenView) })),
          Effect.catch(away)
        ),
      addToken: Effect.fnUntraced(function* ({ payload: { customerId, days, name, rights } }) {
        const { actor } = yield* CurrentPrincipal
        const now = yield* Clock.currentTimeMillis
        const expiresAt = days === undefined ? undefined : now + Duration.toMillis(Duration.days(days))
        const made = yield* access
          .createToken({ name: name.trim(), rights: [...new Set(rights)], customerId, expiresAt }, actor)
          .pipe(
            Effect.catchTags({
              InvalidToken: ({ message }) => Effect.fail(invalidRequest([{ path: "customerId", message }])),
              StoreUnavailable: away
            })
          )
        return { id: made.id, token: Redacted.value(made.token) }
      }),
      revokeToken: Effect.fnUntraced(function* ({ params: { tokenId } }) {
        const { actor } = yield* CurrentPrincipal
        const revoked = yield* access.revokeToken(tokenId, actor).pipe(Effect.catch(away))
        if (!revoked) return yield* Effect.fail(problem("NOT_FOUND", "No token of this id is in force"))
      })
    })
  })
)
