import { Effect, Option, Schema } from "effect"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

import { addressKey, parsePublicMailbox } from "../../../../domain/mail/address.ts"
import { ListName } from "../../../../domain/mail/message.ts"
import { type LeftRow, MailPreferences, MAX_LEFT_PAGE } from "../../../../ports/mail/preferences.ts"
import { AdminAccess, CurrentPrincipal } from "../../server/access.ts"
import { apiOf, DEFAULT_PAGE, filter, mailboxIn, page, Text } from "../../server/endpoint.ts"
import { JsonBody, jsonBody } from "../../server/json-body.ts"
import {
  bodyRefusals,
  invalidCursor,
  InvalidRequest,
  Unavailable,
  unavailable
} from "../../server/problem.ts"

const Note = Text.check(Schema.isMaxLength(1000))
const Address = Text.check(Schema.isMaxLength(320))

/** What an address gets. */
const Preferences = Schema.Struct({
  email: Schema.String,
  marketing: Schema.Boolean.annotate({ description: "False: it has left all marketing." }),
  leftLists: Schema.Array(Schema.String)
}).annotate({ identifier: "MailPreferences" })

const PreferencesChange = Schema.Struct({
  marketing: Schema.optionalKey(Schema.Boolean),
  lists: Schema.optionalKey(
    Schema.Record(ListName, Schema.Boolean).annotate({
      description: "By the name of a list: false leaves it, true comes back to it."
    })
  ),
  note: Schema.optionalKey(Note)
}).annotate({ identifier: "MailPreferencesChange" })

const UnsubscribedRow = Schema.Struct({
  email: Schema.String,
  list: Schema.NullOr(Schema.String).annotate({ description: "Null: all marketing." })
}).annotate({ identifier: "UnsubscribedRow" })

/** Unsubscribed people of another system. */
const UnsubscribedImport = Schema.Struct({
  rows: Schema.Array(
    Schema.Struct({ email: Address, list: Schema.optionalKey(Schema.NullOr(ListName)) })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_LEFT_PAGE)),
  note: Schema.optionalKey(Note)
}).annotate({ identifier: "UnsubscribedImport" })

const ALL = "/api/admin/email-unsubscribes"
const ONE = "/api/admin/email-preferences/:email"

/** Which mail people want (MAIL-67), for a page of preferences in the owner's own shop, and for moving in and out. */
export class PreferenceGroup extends HttpApiGroup.make("preferences")
  .add(
    HttpApiEndpoint.get("preferences", ONE, {
      params: { email: Schema.String },
      success: Preferences,
      error: [InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "What an address has left: all marketing, or single lists")
  )
  .add(
    HttpApiEndpoint.put("setPreferences", ONE, {
      params: { email: Schema.String },
      payload: PreferencesChange,
      success: Preferences,
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(jsonBody(64 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Changes what an address has left; what is not named stays",
          description:
            "Only as the address's owner wishes: `note` says how it is known. One `email_unsubscribe` or `email_resubscribe` row " +
            "in `admin_audit_log` tells of each change."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("listUnsubscribed", ALL, {
      query: {
        limit: page(DEFAULT_PAGE, MAX_LEFT_PAGE),
        cursor: filter(Text.check(Schema.isMaxLength(1000)))
      },
      success: Schema.Struct({
        rows: Schema.Array(UnsubscribedRow),
        nextCursor: Schema.NullOr(Schema.String)
      }),
      error: [InvalidRequest, Unavailable]
    }).annotate(OpenApi.Summary, "Who left what, in the order of their addresses: an export")
  )
  .add(
    HttpApiEndpoint.post("importUnsubscribed", ALL, {
      payload: UnsubscribedImport,
      success: Schema.Struct({ added: Schema.Int }),
      error: [...bodyRefusals(), Unavailable]
    })
      .annotateMerge(jsonBody(1024 * 1024))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Adds who left a list, or all marketing, elsewhere",
          description:
            "Again, it adds nothing twice. One `email_unsubscribe` row in `admin_audit_log` tells of it."
        })
      )
  )
  .middleware(JsonBody)
  .middleware(AdminAccess) {}

const away = unavailable("the preferences do not answer", "The preferences do not answer now")

const Cursor = Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.NullOr(Schema.String)]))
const decodeCursor = Schema.decodeUnknownOption(Cursor)

const afterOf = (cursor: string | undefined): Option.Option<LeftRow | undefined> =>
  cursor === undefined
    ? Option.some(undefined)
    : decodeCursor(Buffer.from(cursor, "base64url").toString("utf8")).pipe(
        Option.filter((parts) => parts.every((part) => part === null || !part.includes("\0"))),
        Option.map(([email, list]) => ({ email, list }))
      )

const cursorOf = ({ email, list }: LeftRow): string =>
  Buffer.from(JSON.stringify([email, list])).toString("base64url")

const keyIn = (path: string, text: string) =>
  Effect.map(mailboxIn(path, text, parsePublicMailbox), addressKey)

/** `/api/admin/email-preferences` and `/api/admin/email-unsubscribes`. */
export const preferenceHandlers = HttpApiBuilder.group(
  apiOf(PreferenceGroup),
  "preferences",
  Effect.fnUntraced(function* (handlers) {
    const preferences = yield* MailPreferences
    const shown = (email: string) =>
      preferences.of(email).pipe(
        Effect.map(({ all, lists }) => ({ email, marketing: !all, leftLists: lists })),
        Effect.catch(away)
      )
    return handlers.handleAll({
      preferences: ({ params }) => Effect.flatMap(keyIn("email", params.email), shown),
      setPreferences: Effect.fnUntraced(function* ({ params, payload }) {
        const email = yield* keyIn("email", params.email)
        const { actor } = yield* CurrentPrincipal
        const by = { actor, note: payload.note || undefined }
        const wanted: ReadonlyArray<readonly [string | null, boolean]> = [
          ...(payload.marketing === undefined ? [] : [[null, payload.marketing] as const]),
          ...Object.entries(payload.lists ?? {})
        ]
        const left = wanted.flatMap(([list, wants]) => (wants ? [] : [{ email, list }]))
        if (left.length > 0) yield* preferences.leaveAll({ entries: left, ...by }).pipe(Effect.catch(away))
        yield* Effect.forEach(
          wanted.filter(([, wants]) => wants),
          ([list]) => preferences.comeBack({ email, list: list ?? undefined, by }).pipe(Effect.catch(away))
        )
        return yield* shown(email)
      }),
      listUnsubscribed: Effect.fnUntraced(function* ({ query }) {
        const after = afterOf(query.cursor)
        if (Option.isNone(after)) return yield* invalidCursor("list")
        const limit = query.limit ?? DEFAULT_PAGE
        const rows = yield* preferences
          .page({ after: after.value, limit: limit + 1 })
          .pipe(Effect.catch(away))
        const shownRows = rows.slice(0, limit)
        const last = shownRows.at(-1)
        return {
          rows: shownRows,
          nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null
        }
      }),
      importUnsubscribed: Effect.fnUntraced(function* ({ payload }) {
        const { actor } = yield* CurrentPrincipal
        const entries = yield* Effect.forEach(payload.rows, ({ email, list = null }, at) =>
          Effect.map(keyIn(`rows.${at}.email`, email), (key) => ({ email: key, list }))
        )
        const added = yield* preferences
          .leaveAll({ entries, actor, note: payload.note || undefined })
          .pipe(Effect.catch(away))
        return { added }
      })
    })
  })
)
