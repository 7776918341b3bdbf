import { Context, Effect, Layer, Option, Result, Schema, SchemaGetter, Scope } from "effect"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, HttpApiSchema } from "effect/http-api"

import { parseMailbox } from "../../../domain/mail/address.ts"
import { isMomentWithOffset } from "../../../domain/moments.ts"
import { STRICT, StorableText as Text } from "../../../domain/request-body.ts"
import { invalidRequest } from "./problem.ts"
import { PAGE_MEDIA_TYPE } from "./representations.ts"

/** The name under which every group of the API is built and served. */
export const API_NAME = "postlane"

/** The query of an endpoint that declares none: a name in it would be dropped in silence. */
const NoQuery = Schema.Record(Schema.String, Schema.Unknown).check(
  Schema.makeFilter((query) =>
    Object.keys(query).map((name) => ({ path: [name], issue: "is not known here: this takes no query" }))
  )
)

/**
 * Ignores undeclared query parameters. For addresses that others extend: mail programs and link counters extend the links of a
 * mail, vendors and probes the addresses that they were given.
 */
export const openQuery = Context.make(HttpApi.QueryParseOptions, { errors: "all" })

const isOpen = ({ annotations }: HttpApiEndpoint.Top): boolean =>
  Option.isSome(Context.getOption(annotations, HttpApi.QueryParseOptions))

/** The group as served: an endpoint without a declared query refuses one. */
const closed = <Group extends HttpApiGroup.Constraint>(group: Group): Group => {
  const endpoints = Object.entries(group.endpoints as Readonly<Record<string, HttpApiEndpoint.Top>>).map(
    ([name, endpoint]): readonly [string, HttpApiEndpoint.Top] => [
      name,
      endpoint.query !== undefined || isOpen(endpoint)
        ? endpoint
        : (Object.create(endpoint, { query: { value: NoQuery } }) as HttpApiEndpoint.Top)
    ]
  )
  const value: Readonly<Record<string, HttpApiEndpoint.Top>> = Object.fromEntries(endpoints)
  return Object.create(group, { endpoints: { value } }) as Group
}

/**
 * An API of one group, so that a resource can build its handlers without knowing the others. Whatever a request names in its body or
 * its query and its endpoint does not declare is refused.
 */
export const apiOf = <Group extends HttpApiGroup.Constraint>(group: Group) =>
  HttpApi.make(API_NAME)
    .add(closed(group))
    .annotate(HttpApi.PayloadParseOptions, STRICT)
    .annotate(HttpApi.QueryParseOptions, STRICT)

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

export { Day } from "../../../domain/moments.ts"
export { StorableText as Text } from "../../../domain/request-body.ts"

/** An optional filter; an empty one is decoded as missing. */
export const filter = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.Union([schema, Schema.Literal("")])).pipe(
    Schema.decodeTo(Schema.optionalKey(Schema.toType(schema)), {
      decode: SchemaGetter.transformOptional(
        Option.filter((value): value is Exclude<S["Type"], ""> => value !== "")
      ),
      encode: SchemaGetter.transformOptional((value) => value)
    })
  )

/** The number of rows of one page, or of days, from 1. A query is text: the OpenAPI document says what the text has to be. */
export const page = (fallback: number, maximum: number) =>
  filter(
    Schema.String.check(
      Schema.makeFilter(() => true, {
        toJsonSchema: () => ({ type: "integer", minimum: 1, maximum, default: fallback })
      })
    ).pipe(
      Schema.decodeTo(
        Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum }))
      )
    )
  )

/** A moment with its offset from UTC, to the microsecond. In an address `+` is written `%2B`. */
export const Moment = Schema.String.check(
  Schema.makeFilter(
    (text) => isMomentWithOffset(text) || "is no moment (such as 2026-01-31T12:00:00Z; + is written %2B)"
  )
)

/** A number of seconds up to a maximum. */
export const seconds = (maximum: number, description: string) =>
  filter(
    Schema.String.check(
      Schema.makeFilter(() => true, {
        toJsonSchema: () => ({ type: "integer", minimum: 0, maximum, default: 0 })
      })
    )
      .annotate({ description })
      .pipe(
        Schema.decodeTo(
          Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum }))
        )
      )
  )

/** Rows of one page where the query names no number. */
export const DEFAULT_PAGE = 50

/** `nextCursor` of the page before. */
export const cursor = filter(Text.check(Schema.isMaxLength(200)))

/** What a path names as an id and is none is answered as an unknown one, and never asked of the database. */
export { isUuid } from "../../../domain/ids.ts"

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
