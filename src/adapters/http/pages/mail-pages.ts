import { Clock, Effect } from "effect"

import { type MailStory, MailStories } from "../../../ports/delivery/mail-stories.ts"
import { DeferQueue } from "../../../ports/mail/defer-queue.ts"
import { isUuid } from "../server/endpoint.ts"
import { mailPage } from "./mail-page.ts"

/** How many dead letters are looked through for the one of a mail. */
const LETTERS = 200

const noMail = {
  title: "No such mail",
  main: `<h1>There is no such mail</h1>
<p>The log has no row of this id. <a href="/admin/email-log">Go to the email log</a></p>`,
  status: 404
}

const away = {
  title: "Not available",
  main: `<h1>The send log does not answer now</h1>
<p>Reload the page in a minute. <a href="/admin/email-log">Go to the email log</a></p>`,
  status: 503
}

/** The dead letter that holds the mail's retry; none where the queue does not answer. */
const letterOf = (queue: DeferQueue["Service"], { rows }: MailStory) => {
  const last = rows.at(-1)
  if (last?.status !== "deferred" || !queue.configured) return Effect.succeed(undefined)
  return queue.deadLetters({ limit: LETTERS }).pipe(
    Effect.map(
      (letters) =>
        letters.find(
          ({ message }) =>
            message?.details.idempotencyKey !== undefined &&
            message.details.idempotencyKey === last.idempotency_key
        )?.id
    ),
    Effect.catch((error) =>
      Effect.as(Effect.logWarning("the dead letters are not known to a mail's page", error), undefined)
    )
  )
}

/** Makes the page of the mail that the row of an id is part of. */
export const makeMailPages = Effect.gen(function* () {
  const stories = yield* MailStories
  const queue = yield* DeferQueue
  return Effect.fnUntraced(
    function* (id: string) {
      const story = isUuid(id) ? yield* stories.of(id) : undefined
      if (story === undefined) return noMail
      const deadLetter = yield* letterOf(queue, story)
      const now = yield* Clock.currentTimeMillis
      return { ...mailPage(story, { deadLetter, now }), script: "admin/mail.js" }
    },
    Effect.catch((error) => Effect.as(Effect.logWarning("a mail's page cannot be made", error), away))
  )
})
