import { Effect, Option, Redacted, Schedule, Schema, Stream } from "effect"

import type { ExportRecord } from "../../domain/mail/export-records.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { type ProviderSuppressions, SuppressionsUnread } from "../../ports/mail/suppression-list.ts"
import { ask, isToken, type PostmarkOptions } from "./api.ts"
import { classifyAnswer } from "./classify.ts"
import { MARKETING_STREAM } from "./request.ts"

/** Largest dump that is read, bytes: the vendor gives a list whole, in some hundred bytes an address. */
const MAX_DUMP = 256 * 1024 * 1024

const PATIENCE = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 10 }))

const decodeDump = Schema.decodeUnknownOption(
  Schema.Struct({
    Suppressions: Schema.Array(
      Schema.Struct({ EmailAddress: Schema.String, SuppressionReason: Schema.String })
    )
  })
)

const unread = (message: string) => new SuppressionsUnread({ message: `Postmark: ${message}` })

/** The list of one message stream. */
const dumpOf = (options: PostmarkOptions, stream: string) => {
  const text = (words: string) => failureText(words, [Redacted.value(options.serverToken)])
  return ask(options, `/message-streams/${encodeURIComponent(stream)}/suppressions/dump`, {
    maxBytes: MAX_DUMP
  }).pipe(
    Effect.mapError(({ why }) => ({ isBusy: false, message: text(why) })),
    Effect.flatMap((answer) => {
      if (answer.status === 200) return Effect.succeed(answer)
      const { code, message } = classifyAnswer(answer)
      return Effect.fail({
        isBusy: answer.status === 429,
        message: text(code === undefined ? `${answer.status}: ${message}` : `${code}: ${message}`)
      })
    }),
    Effect.retry({ schedule: PATIENCE, while: ({ isBusy }) => isBusy }),
    Effect.mapError(({ message }) => unread(`${stream}: ${message}`)),
    Effect.flatMap(({ body }) =>
      Option.match(decodeDump(body), {
        onNone: () => Effect.fail(unread(`${stream}: the answer is no list of suppressions`)),
        onSome: ({ Suppressions }) => Effect.succeed(Suppressions)
      })
    )
  )
}

/** The suppressions of both streams that mail goes to: Postmark keeps a list for each. */
export const suppressionsOfServer = (options: PostmarkOptions): ProviderSuppressions =>
  isToken(Redacted.value(options.serverToken))
    ? Stream.fromIterable(new Set([options.messageStream, MARKETING_STREAM])).pipe(
        Stream.mapEffect((stream) => dumpOf(options, stream)),
        Stream.flattenIterable,
        Stream.map(({ EmailAddress, SuppressionReason }): ExportRecord => ({
          line: 0,
          fields: new Map([
            ["email", EmailAddress],
            ["reason", SuppressionReason]
          ])
        }))
      )
    : Stream.fail(unread("POSTMARK_SERVER_TOKEN is malformed"))
