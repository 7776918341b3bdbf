import { Clock, Effect } from "effect"

import type { Known } from "../../domain/delivery/mail-advice.ts"
import type { MailStory } from "../../domain/delivery/mail-story.ts"
import { MailStories } from "../../ports/delivery/mail-stories.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"

/** How many dead letters are looked through for the one of a mail. */
const LETTERS = 200

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
      Effect.as(
        Effect.logWarning(
          "the retry queue does not answer: a mail's page is shown without its dead letter",
          error
        ),
        undefined
      )
    )
  )
}

/** Reads the story of the mail that a row is part of, with the facts for advice on it. */
export const makeStoryReader = Effect.gen(function* () {
  const stories = yield* MailStories
  const queue = yield* DeferQueue
  return Effect.fnUntraced(function* (rowId: string) {
    const story = yield* stories.of(rowId)
    if (story === undefined) return undefined
    const deadLetter = yield* letterOf(queue, story)
    return { story, known: { deadLetter, now: yield* Clock.currentTimeMillis } satisfies Known }
  })
})
