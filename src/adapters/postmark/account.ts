import { Effect, Redacted } from "effect"

import { fieldsOf, listOf, textOf } from "../../domain/delivery/untrusted.ts"
import type { PostmarkFacts, PostmarkStream, PostmarkWebhook } from "../../domain/doctor/postmark.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { addressOfApi, type Answer, ask, isToken, type PostmarkOptions } from "./api.ts"
import { classifyAnswer } from "./classify.ts"
import { MARKETING_STREAM } from "./request.ts"

const reader = (options: PostmarkOptions) => {
  const text = (words: string) => failureText(words, [Redacted.value(options.serverToken)])

  const factsOf = (answer: Answer): PostmarkFacts => {
    const { code, message } = classifyAnswer(answer)
    const why = text(code === undefined ? `${answer.status}: ${message}` : `${code}: ${message}`)
    return answer.status === 401 ? { _tag: "Refused", why } : { _tag: "Unknown", why }
  }

  const get = (path: string): Effect.Effect<Answer, PostmarkFacts> =>
    Effect.mapError(ask(options, path), ({ why }): PostmarkFacts => ({
      _tag: "Unknown",
      why: text(`there is no answer from ${addressOfApi(options)}: ${why}`)
    }))

  const body = (path: string) =>
    Effect.flatMap(get(path), (answer) =>
      answer.status === 200 ? Effect.succeed(fieldsOf(answer.body)) : Effect.fail(factsOf(answer))
    )

  const stream = Effect.fnUntraced(function* (id: string): Effect.fn.Return<PostmarkStream, PostmarkFacts> {
    const answer = yield* get(`/message-streams/${encodeURIComponent(id)}`)
    if (answer.status === 404 || answer.status === 422) return { id, found: undefined }
    if (answer.status !== 200) return yield* Effect.fail(factsOf(answer))
    const { ArchivedAt, MessageStreamType } = fieldsOf(answer.body)
    const archived = textOf(ArchivedAt) !== undefined
    return { id, found: { type: textOf(MessageStreamType) ?? "", archived } }
  })

  return { body, stream }
}

const EVENTS = ["Delivery", "Bounce", "SpamComplaint"] as const

const webhookOf = (item: unknown): PostmarkWebhook => {
  const { HttpAuth, MessageStream, Triggers, Url } = fieldsOf(item)
  const triggers = fieldsOf(Triggers)
  return {
    url: textOf(Url) ?? "",
    stream: textOf(MessageStream) ?? "",
    user: textOf(fieldsOf(HttpAuth)["Username"]),
    lacks: EVENTS.filter((event) => fieldsOf(triggers[event])["Enabled"] !== true)
  }
}

const malformed: PostmarkFacts = {
  _tag: "Refused",
  why: "the token is malformed: it holds blanks or other characters"
}

/** Asks for the server of the token, its message streams and its webhooks. Sends nothing. */
export const examineAccount = (options: PostmarkOptions): Effect.Effect<PostmarkFacts> => {
  if (!isToken(Redacted.value(options.serverToken))) return Effect.succeed(malformed)
  const { body, stream } = reader(options)
  return Effect.gen(function* () {
    const server = yield* body("/server")
    const streams = yield* Effect.forEach(new Set([options.messageStream, MARKETING_STREAM]), stream)
    const { Webhooks } = yield* body("/webhooks")
    return {
      _tag: "Server" as const,
      name: textOf(server["Name"]) ?? "",
      delivers: server["DeliveryType"] !== "Sandbox",
      streams,
      webhooks: listOf(Webhooks).map(webhookOf)
    }
  }).pipe(Effect.catch((facts) => Effect.succeed<PostmarkFacts>(facts)))
}
