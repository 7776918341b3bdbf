import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

import { type OutboxError, SimulatedMail } from "../../../ports/simulated-mail.ts"
import { DevApi } from "../api/api.ts"
import { messagePage, outboxPage, PAGE_POLICY } from "../dev-page.ts"
import { problem } from "../problem.ts"

/** Most messages that the list and the page show. */
const MAX_MESSAGES = 200

const html = (body: string) =>
  HttpServerResponse.text(body, {
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": PAGE_POLICY }
  })

const unavailable = (error: OutboxError) =>
  Effect.logWarning("the outbox cannot be read", error).pipe(
    Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The outbox cannot be read now")))
  )

/** The local outbox and the simulated providers. */
export const devHandlers = HttpApiBuilder.group(
  DevApi,
  "embedded",
  Effect.fnUntraced(function* (handlers) {
    const { outbox, script } = yield* SimulatedMail
    const list = outbox.list({ limit: MAX_MESSAGES }).pipe(Effect.catch(unavailable))
    const get = Effect.fnUntraced(function* (id: string) {
      const raw = yield* outbox.get(id).pipe(Effect.catch(unavailable))
      return raw ?? (yield* Effect.fail(problem("NOT_FOUND", "There is no message of this id")))
    })
    return handlers.handleAll({
      page: () => Effect.map(list, (messages) => html(outboxPage(messages))),
      messagePage: ({ params: { id } }) => Effect.map(get(id), (raw) => html(messagePage(id, raw))),
      outbox: () =>
        Effect.map(list, (messages) => ({
          messages: messages.map(({ id, via, from, to, subject, at }) => ({ id, via, from, to, subject, at }))
        })),
      message: ({ params: { id } }) =>
        Effect.map(get(id), (raw) =>
          HttpServerResponse.uint8Array(raw, {
            contentType: "message/rfc822",
            headers: {
              "content-disposition": `attachment; filename="${id}.eml"`,
              "content-security-policy": "default-src 'none'; sandbox"
            }
          })
        ),
      simulate: ({ payload }) =>
        Effect.as(script(payload.provider, payload.outcomes, payload.otherwise), payload)
    })
  })
)
