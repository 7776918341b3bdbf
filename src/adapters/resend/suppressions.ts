import { Effect, Option, Redacted, Schedule, Schema, Stream } from "effect"

import type { ExportRecord } from "../../domain/mail/export-records.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { type ProviderSuppressions, SuppressionsUnread } from "../../ports/mail/suppression-list.ts"
import { classifyResendError } from "./classify.ts"
import { makeClient, type ResendOptions, VENDOR_URL } from "./resend-provider.ts"

/** The vendor's largest page. */
const PAGE = 100

/** The vendor allows two calls a second. */
const PATIENCE = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 10 }))

const decodePage = Schema.decodeUnknownOption(
  Schema.Struct({
    data: Schema.Array(Schema.Struct({ id: Schema.String, email: Schema.String, origin: Schema.String })),
    has_more: Schema.Boolean
  })
)

const unread = (message: string) => new SuppressionsUnread({ message: `Resend: ${message}` })

interface Failure {
  readonly isBusy: boolean
  readonly message: string
}

const failureOf = (error: unknown, secret: string): Failure => {
  const { code, message } = classifyResendError(error)
  return {
    isBusy: code === "rate_limit_exceeded",
    message: failureText(code === undefined ? message : `${code}: ${message}`, [secret])
  }
}

/** The team's suppression list, every page; the key needs full access. */
export const suppressionsOfTeam = ({ apiKey, baseUrl, userAgent }: ResendOptions): ProviderSuppressions => {
  const secret = Redacted.value(apiKey)
  const client = makeClient(secret, baseUrl ?? VENDOR_URL, undefined, userAgent)
  if (client === undefined) return Stream.fail(unread("PROVIDERA_API_KEY is malformed"))
  const ask = (after: string | undefined) =>
    Effect.tryPromise({
      try: (signal) =>
        client.suppressions.list({ limit: PAGE, ...(after === undefined ? {} : { after }) }, { signal }),
      catch: (cause) => failureOf(cause, secret)
    }).pipe(
      Effect.flatMap(({ data, error }) =>
        error === null ? Effect.succeed<unknown>(data) : Effect.fail(failureOf(error, secret))
      ),
      Effect.retry({ schedule: PATIENCE, while: ({ isBusy }) => isBusy }),
      Effect.mapError(({ message }) => unread(message))
    )
  return Stream.paginate<string | undefined, ExportRecord, SuppressionsUnread>(
    undefined,
    Effect.fnUntraced(function* (after) {
      const page = decodePage(yield* ask(after))
      if (Option.isNone(page)) return yield* unread("the answer is no list of suppressions")
      const { data, has_more: more } = page.value
      const last = data.at(-1)?.id
      // A page that leads to itself would be read for ever, one that leads nowhere would pass for the end.
      if (more && (last === undefined || last === after)) return yield* unread("its pages do not go on")
      const records = data.map(({ email, origin }) => ({
        line: 0,
        fields: new Map([
          ["email", email],
          ["reason", origin]
        ])
      }))
      return [records, more ? Option.fromUndefinedOr(last) : Option.none()] as const
    })
  )
}
