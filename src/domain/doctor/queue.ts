import { type Verdict, verdictsOf } from "./verdict.ts"

/** Receives before a message is a dead letter (MAIL-54). */
const WANTED_RECEIVES = 3

/** The facts about the delayed retry queue. */
export type QueueFacts =
  | { readonly _tag: "None" }
  | { readonly _tag: "Postgres"; readonly name: string; readonly dead: number; readonly isConsumed: boolean }
  | { readonly _tag: "Unreachable"; readonly why: string }
  | {
      readonly _tag: "Sqs"
      readonly redrive:
        | {
            readonly maxReceives: number
            readonly deadLetterQueue: string
            readonly deadLetters: number | undefined
          }
        | undefined
      /** The queue's own visibility time, seconds. Postlane sets its own with each receive. */
      readonly visibilitySeconds: number | undefined
      readonly retentionSeconds: number | undefined
      readonly deadLetterRetentionSeconds: number | undefined
      /** Messages that were due and unclaimed at two checks, seconds apart. */
      readonly due: number
    }

const { fail, ok, warn } = verdictsOf("queue")

const deadVerdicts = (dead: number | undefined): ReadonlyArray<Verdict> =>
  dead === undefined || dead === 0
    ? []
    : [
        warn({
          what: `${dead} dead ${dead === 1 ? "letter waits" : "letters wait"}`,
          why: "these sends are not tried again",
          do: "postlane dead-letters, then postlane dead-letters redrive ID (remove ID, if it cannot be read)"
        })
      ]

const sqsVerdicts = (
  facts: Extract<QueueFacts, { _tag: "Sqs" }>,
  wantedVisibilitySeconds: number
): ReadonlyArray<Verdict> => {
  const { redrive, visibilitySeconds, retentionSeconds, deadLetterRetentionSeconds } = facts
  if (redrive === undefined) {
    return [
      fail({
        what: "the queue has no redrive policy",
        why: "a message that no consumer can handle comes back until the queue forgets it",
        do: `create a dead-letter queue and a redrive policy to it with maxReceiveCount ${WANTED_RECEIVES}`
      })
    ]
  }
  const verdicts: Array<Verdict> = [
    redrive.maxReceives === WANTED_RECEIVES
      ? ok(
          `the queue answers; dead letters go to ${redrive.deadLetterQueue} after ${WANTED_RECEIVES} receives`
        )
      : warn({
          what: `messages die after ${redrive.maxReceives} receives`,
          why: `three crashed consumers are what is allowed for`,
          do: `set maxReceiveCount of the redrive policy to ${WANTED_RECEIVES}`
        })
  ]
  if (visibilitySeconds !== undefined && visibilitySeconds < wantedVisibilitySeconds) {
    verdicts.push(
      warn({
        what: `the queue's visibility time is ${visibilitySeconds} s`,
        why: `consumers ask for ${wantedVisibilitySeconds} s; a consumer that does not ask has messages shown again sooner`,
        do: `set it to ${wantedVisibilitySeconds} s or more`
      })
    )
  }
  if (
    retentionSeconds !== undefined &&
    deadLetterRetentionSeconds !== undefined &&
    deadLetterRetentionSeconds <= retentionSeconds
  ) {
    verdicts.push(
      warn({
        what: "the dead-letter queue forgets as soon as the queue does",
        why: "a dead letter keeps the age that it had, and may be gone before anybody looks",
        do: "set its retention to 14 days, and the queue's to less"
      })
    )
  }
  if (facts.due > 0) {
    verdicts.push(
      warn({
        what: `${facts.due} deferred ${facts.due === 1 ? "mail is" : "mails are"} due, and no consumer takes ${facts.due === 1 ? "it" : "them"}`,
        why: "a consumer takes what is due at once",
        do: "start a process with the role retry on this EMAIL_DEFER_QUEUE_URL, or enable the function's mapping (aws lambda list-event-source-mappings)"
      })
    )
  }
  return [...verdicts, ...deadVerdicts(redrive.deadLetters)]
}

/** The verdicts on the delayed retry queue; `visibilitySeconds` is `EMAIL_DEFER_VISIBILITY_SECONDS`. */
export const queueVerdicts = (facts: QueueFacts, visibilitySeconds: number): ReadonlyArray<Verdict> => {
  switch (facts._tag) {
    case "None":
      return [
        warn({
          what: "there is no retry queue",
          why: "an ambiguous send ends failed, and it stays unknown whether it arrived",
          do: "set EMAIL_DEFER_QUEUE_URL to an SQS queue or to postgres:email-defer"
        })
      ]
    case "Unreachable":
      return [
        fail({
          what: "the retry queue cannot be reached",
          why: facts.why,
          do: "see that EMAIL_DEFER_QUEUE_URL names a queue of CLOUD_REGION and that the credentials may use it (sqs:GetQueueAttributes, SendMessage, ReceiveMessage, DeleteMessage, ChangeMessageVisibility)"
        })
      ]
    case "Postgres":
      return [
        facts.isConsumed
          ? ok(`the retry queue ${facts.name} is in the database, and a process takes from it`)
          : warn({
              what: `no process takes from the retry queue ${facts.name}`,
              why: "a deferred mail waits there until one does",
              do: "start postlane serve (role retry), or pass retry: true to sendEmail in a process that stays"
            }),
        ...deadVerdicts(facts.dead)
      ]
    case "Sqs":
      return sqsVerdicts(facts, visibilitySeconds)
  }
}
