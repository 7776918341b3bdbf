import { Context, Effect, Layer, Result, Schema, Scope } from "effect"
import { HttpApi, type HttpApiGroup, HttpApiSchema } from "effect/http-api"

import { parseMailbox } from "../../../domain/mail/address.ts"
import { PAGE_MEDIA_TYPE } from "../pages/paths.ts"
import { invalidRequest } from "./problem.ts"

/** The name under which every group of the API is built and served. */
export const API_NAME = "postlane"

/** An API of one group, so that a resource can build its handlers without knowing the others. */
export const apiOf = <Group extends HttpApiGroup.Constraint>(group: Group) =>
  HttpApi.make(API_NAME).add(group)

/**
 * Builds handlers with these services and no others of the process: each request copies all that its handlers were built with,
 * which takes a busy route a tenth of its processor time.
 */
export const builtWith = <A, E, R>(
  handlers: Layer.Layer<A, E, R>,
  ...services: ReadonlyArray<Context.Key<NoInfer<R>, unknown>>
) =>
  Layer.effectContext(
    Effect.updateContext(Layer.build(handlers), (context: Context.Context<R | Scope.Scope>) =>
      Context.pick(Scope.Scope, ...services)(context)
    )
  )

/** A page as the success of an endpoint. */
export const Page = Schema.String.pipe(HttpApiSchema.asText({ contentType: PAGE_MEDIA_TYPE }))

/** Text that Postgres accepts. */
export const Text = Schema.String.check(
  Schema.makeFilter((text) => !text.includes("\0") || "holds a NUL character")
)

/** An optional filter; an empty one counts as missing. */
export const filter = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.Union([schema, Schema.Literal("")]))

/** The number of rows of one page. */
export const page = (fallback: number, maximum: number) =>
  filter(
    Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum })).annotate({
      description: `1 to ${maximum}; ${fallback} where it is missing`
    })
  )

/** Rows of one page where the query names no number. */
export const DEFAULT_PAGE = 50

/** `nextCursor` of the page before. */
export const cursor = filter(Text.check(Schema.isMaxLength(200)))

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Whether a path names an id: what does not is answered as an unknown id, and never asked of the database. */
export const isUuid = (text: string): boolean => UUID.test(text)

/** The token of a link that authorises by itself: 32 random bytes in base64url. */
const LINK_TOKEN = /^[A-Za-z0-9_-]{43}$/
export const isLinkToken = (text: string): boolean => LINK_TOKEN.test(text)

/** The mailbox in a field of a body, or the 400. */
export const mailboxIn = (field: string, text: string, parse = parseMailbox) => {
  const parsed = parse(text.trim())
  return Result.isSuccess(parsed)
    ? Effect.succeed(parsed.success)
    : Effect.fail(invalidRequest([{ path: field, message: parsed.failure }]))
}
