import { Effect, Layer } from "effect"

import { MailReader, UnreadableMail } from "../../ports/inbound/mails.ts"
import { readHead } from "./read-head.ts"
import { readMail } from "./read-mail.ts"

/**
 * Parses mails with postal-mime in this process, where there are no child processes (on the edge): their structure is bounded
 * before they are parsed. Elsewhere they are read by `process-mail-reader.ts`.
 */
export const layer: Layer.Layer<MailReader> = Layer.succeed(
  MailReader,
  MailReader.of({
    readHead,
    read: (raw) =>
      Effect.flatMap(
        Effect.promise(() => readMail(raw)),
        (answer) =>
          answer.kind === "read"
            ? Effect.succeed(answer.mail)
            : Effect.fail(new UnreadableMail({ message: answer.message, deadly: false }))
      )
  })
)
