import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"

import { makeStoryReader } from "../../../../application/delivery/mail-story.ts"
import { EMAIL_LOG_COLUMNS } from "../../../../domain/delivery/email-log-row.ts"
import { adviceOn, type Known, standingRow, type Step } from "../../../../domain/delivery/mail-advice.ts"
import type { MailStory } from "../../../../domain/delivery/mail-story.ts"
import { Attempt } from "../../../../domain/mail/logged-attempt.ts"
import { Provider } from "../../../../domain/mail/provider.ts"
import { EmailStatus } from "../../../../domain/mail/status.ts"
import { ListedReason } from "../../../../domain/mail/suppression/policy.ts"
import { MOST_ROWS_OF_MAIL } from "../../../../ports/delivery/email-log-query.ts"
import { MAX_STORY_ROWS } from "../../../../ports/delivery/mail-stories.ts"
import { isUuid } from "../../server/endpoint.ts"
import { problem, problemSchema, Unavailable, unavailable } from "../../server/problem.ts"

const { raw: _, ...fields } = EMAIL_LOG_COLUMNS

/** A row of a list. */
export const ListedMail = Schema.Struct({
  ...EMAIL_LOG_COLUMNS,
  retry_at: Schema.optionalKey(Schema.NullOr(Schema.String)),
  attempt_count: Schema.optionalKey(Schema.Int),
  rows_of_mail: Schema.optionalKey(
    Schema.Int.annotate({
      description: `With \`by=mail\`: how many rows its mail has; ${MOST_ROWS_OF_MAIL} stands for that many or more`
    })
  )
}).annotate({ identifier: "EmailLogRow" })

const SendAttempt = Schema.Struct({
  ...Attempt.fields,
  startedAt: Schema.Finite,
  durationMs: Schema.Finite
}).annotate({ identifier: "SendAttempt" })

const LoggedEvent = Schema.Struct({
  number: Schema.Int.annotate({
    description: "1 for the first of its row that arrived; numbers that are missing in between were not kept"
  }),
  event: Schema.String,
  at: Schema.String,
  by: Schema.Literals(["webhook", "poll"]),
  raw: Schema.Json.annotate({
    description: "The body as it came; null where there is none, or it is too large or erased"
  }),
  bytes: Schema.Int
}).annotate({ identifier: "LoggedEvent" })

const Story = Schema.Struct({
  standing: Schema.Struct({
    status: EmailStatus,
    title: Schema.String,
    why: Schema.String,
    steps: Schema.Array(
      Schema.Struct({
        text: Schema.String,
        command: Schema.NullOr(Schema.String),
        unsuppress: Schema.NullOr(Schema.String),
        redrive: Schema.NullOr(Schema.String)
      })
    )
  }),
  rows: Schema.Array(
    Schema.Struct({
      ...fields,
      attempts: Schema.Array(SendAttempt),
      retry_at: Schema.NullOr(Schema.String),
      queued: Schema.NullOr(Schema.Struct({ queuedAt: Schema.String, sendAt: Schema.String })),
      events: Schema.Array(LoggedEvent),
      suppression_marks: Schema.Array(Schema.String),
      tags: Schema.Record(Schema.String, Schema.String)
    }).annotate({ identifier: "MailStoryRow" })
  ),
  claim: Schema.NullOr(
    Schema.Struct({
      state: Schema.Literals(["held", "accepted", "deferred", "refused", "ambiguous", "ended"]),
      provider: Provider,
      firstAttemptAt: Schema.String,
      leaseUntil: Schema.NullOr(Schema.String)
    })
  ),
  alerts: Schema.Array(
    Schema.Struct({
      sendId: Schema.String,
      claimedAt: Schema.String,
      attempts: Schema.Int,
      confirmedAt: Schema.NullOr(Schema.String),
      dueAt: Schema.NullOr(Schema.String)
    })
  ),
  suppressions: Schema.Array(
    Schema.Struct({
      email: Schema.String,
      reason: ListedReason,
      note: Schema.NullOr(Schema.String),
      since: Schema.String
    })
  ),
  deadLetter: Schema.NullOr(Schema.String)
}).annotate({ identifier: "MailStory" })

/** There is no such row, or letter. */
export const NoSuchThing = problemSchema("NOT_FOUND", {})

/** What the page of a mail shows, for machines (EVENT-62). */
export const mailStory = HttpApiEndpoint.get("mailStory", "/api/admin/email-log/:sendId", {
  params: { sendId: Schema.String },
  success: Story,
  error: [NoSuchThing, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "The story of one mail: where it stands, what to do, its attempts and events",
    description:
      `\`rows\` are those of its idempotency key, the newest ${MAX_STORY_ROWS}, oldest first; the mail stands where \`standing\` says. A step that has a route of its own ` +
      "names what it is about: `unsuppress` an address, `redrive` a dead letter. Bodies of events end after a megabyte, the earliest come first."
  })
)

const stepOf = (step: Step): (typeof Story.Type)["standing"]["steps"][number] => ({
  text: step.text,
  command: step.command ?? null,
  unsuppress: step._tag === "Unsuppress" ? step.email : null,
  redrive: step._tag === "Redrive" ? step.id : null
})

const shownStory = (story: MailStory, known: Known): typeof Story.Type => {
  const { steps, title, why } = adviceOn(story, known)
  return {
    ...story,
    standing: { status: standingRow(story.rows).status, title, why, steps: steps.map(stepOf) },
    claim: story.claim ?? null,
    deadLetter: known.deadLetter ?? null
  }
}

/** What answers where the log is away. */
export const logAway = unavailable("the send log does not answer", "The send log does not answer now")

/** The story that a row of the log is part of. */
export const makeMailStoryHandler = Effect.map(makeStoryReader, (read) =>
  Effect.fnUntraced(function* (sendId: string) {
    const found = isUuid(sendId) ? yield* read(sendId).pipe(Effect.catch(logAway)) : undefined
    return found === undefined
      ? yield* Effect.fail(problem("NOT_FOUND", "The send log has no row of this id"))
      : shownStory(found.story, found.known)
  })
)
