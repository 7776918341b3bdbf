import { Effect, Option, Redacted, Schema } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { boundedBody, MAX_ANSWER } from "../../domain/bounded-body.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { type Chat, ChatFailure } from "../../ports/delivery/alert-channels.ts"

/** What the adapter is made from. */
interface TelegramOptions {
  /** `CHAT_BOT_TOKEN`. It is part of every call's path, so that no URL of a call may be shown. */
  readonly token: Redacted.Redacted
  /** `CHAT_ID`. */
  readonly chatId: string
  /** `CHAT_API_BASE_URL`; the vendor's where absent. */
  readonly baseUrl?: string | undefined
  /** Time limit of one post with its repetitions, milliseconds; 10,000 where absent. */
  readonly deadlineMs?: number | undefined
}

const VENDOR_URL = "https://api.telegram.org"
const DEADLINE_MS = 10_000

/** Longest `retry_after` that is waited for, seconds: more would not fit into the deadline. */
const MAX_RETRY_AFTER = 5

/** Longest text that the Bot API takes, UTF-16 units. */
const MAX_TEXT = 4096

const Answer = Schema.fromJsonString(
  Schema.Struct({
    ok: Schema.Boolean,
    description: Schema.optionalKey(Schema.String),
    parameters: Schema.optionalKey(
      Schema.Struct({
        retry_after: Schema.optionalKey(Schema.Finite),
        migrate_to_chat_id: Schema.optionalKey(Schema.Union([Schema.Finite, Schema.String]))
      })
    )
  })
)
const decodeAnswer = Schema.decodeUnknownOption(Answer)

const cut = (text: string): string => {
  if (text.length <= MAX_TEXT) return text
  const end = text.charCodeAt(MAX_TEXT - 2)
  const splitsPair = end >= 0xd800 && end <= 0xdbff
  return `${text.slice(0, splitsPair ? MAX_TEXT - 2 : MAX_TEXT - 1)}…`
}

/**
 * Telegram's `sendMessage`, as plain text. A 429 is waited out once where that is short; a chat that became a supergroup
 * is followed to its new id. Calls have no idempotency: after a time-out it is not known whether the message is there.
 */
export const makeTelegramChat = (options: TelegramOptions): Chat => {
  const token = Redacted.value(options.token)
  const url = `${(options.baseUrl ?? VENDOR_URL).replace(/(?<!\/)\/+$/, "")}/bot${token}/sendMessage`
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS
  let chatId = options.chatId

  const failure = (message: string) =>
    new ChatFailure({ message: `telegram: ${failureText(message, [token, encodeURIComponent(token)])}` })

  const call = (text: string) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ chat_id: chatId, text }),
          redirect: "manual",
          signal
        })
        const body = boundedBody(MAX_ANSWER)
        for await (const chunk of response.body ?? []) body.add(chunk)
        return { status: response.status, body: body.text() }
      },
      // The cause may name the URL, which holds the token.
      catch: () => failure("the connection failed")
    })

  const attempt = Effect.fnUntraced(function* (
    text: string,
    left: { readonly waits: number; readonly moves: number }
  ): Effect.fn.Return<void, ChatFailure> {
    const { body, status } = yield* call(text)
    const answer = Option.getOrUndefined(decodeAnswer(body))
    if (status === 200 && answer?.ok === true) return
    const { migrate_to_chat_id: movedTo, retry_after: seconds } = answer?.parameters ?? {}
    if (
      status === 429 &&
      seconds !== undefined &&
      seconds >= 0 &&
      seconds <= MAX_RETRY_AFTER &&
      left.waits > 0
    ) {
      yield* Effect.sleep(seconds * 1000)
      return yield* attempt(text, { ...left, waits: left.waits - 1 })
    }
    if (status === 400 && movedTo !== undefined && left.moves > 0) {
      chatId = String(movedTo)
      yield* Effect.logWarning("the alert chat has a new id: change CHAT_ID", { chatId })
      return yield* attempt(text, { ...left, moves: left.moves - 1 })
    }
    return yield* failure(`${status} ${answer?.description ?? "without an answer of the Bot API"}`)
  })

  return {
    configured: true,
    where: `Telegram, chat ${options.chatId}`,
    post: (text) =>
      withDeadline(attempt(cut(text), { waits: 1, moves: 1 }), {
        duration: deadlineMs,
        onTimeout: () => Effect.fail(failure(`no answer within ${deadlineMs} ms; it may have arrived`))
      })
  }
}
