import { Effect, Layer } from "effect"

import type { ReturnedMail } from "../../domain/delivery/returned/report.ts"
import { ReturnReader, ReturnUnread } from "../../ports/delivery/return-reader.ts"
import { readReturn, type ReturnAnswer } from "./read-return.ts"

export const mailOfAnswer = (answer: ReturnAnswer): Effect.Effect<ReturnedMail, ReturnUnread> =>
  answer.kind === "read"
    ? Effect.succeed(answer.mail)
    : Effect.fail(new ReturnUnread({ reason: "unreadable", message: answer.message }))

/**
 * Reads mails to the bounce address in this process, where there are no child processes (on the edge). Elsewhere they are read by
 * `process-return-reader.ts`.
 */
export const layer: Layer.Layer<ReturnReader> = Layer.succeed(
  ReturnReader,
  ReturnReader.of({
    read: (raw) =>
      Effect.flatMap(
        Effect.promise(() => readReturn(raw)),
        mailOfAnswer
      )
  })
)
