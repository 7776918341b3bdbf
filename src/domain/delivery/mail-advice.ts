import { IDEMPOTENCY_WINDOW_MS } from "../mail/failover.ts"
import { dedupes, isProvider } from "../mail/provider.ts"
import { type EmailStatus, isUndelivered } from "../mail/status.ts"
import type { Mood } from "../mood.ts"
import type { MailStory, StoryRow } from "./mail-story.ts"

/** What can be done about a mail: by a button where there is a route for it, and by a command. */
export type Step =
  | { readonly _tag: "Say"; readonly text: string; readonly command?: string }
  | { readonly _tag: "Unsuppress"; readonly email: string; readonly text: string; readonly command: string }
  | { readonly _tag: "Redrive"; readonly id: string; readonly text: string; readonly command: string }

/** A mail's state in words, and what to do next. */
interface Advice {
  readonly mood: Mood
  readonly title: string
  readonly why: string
  readonly steps: ReadonlyArray<Step>
}

/** Facts that the advice depends on, in addition to the story. */
export interface Known {
  /** The dead letter that holds the mail's retry. */
  readonly deadLetter: string | undefined
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** How long a retry may be late before somebody should look: the queue's consumer may be busy. */
const LATE_MS = 2 * 60_000

/** The row that decides the mail's state: the newest that a provider accepted, else the newest. */
export const standingRow = (rows: ReadonlyArray<StoryRow>): StoryRow =>
  rows.findLast(({ outcome, provider_message_id: id }) => id !== null || outcome === "sent") ?? rows.at(-1)!

/** An argument of a command, as a shell takes it. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

const postlane = (...words: ReadonlyArray<string>): string => `npx postlane ${words.map(quoted).join(" ")}`

const say = (text: string, command?: string): Step =>
  command === undefined ? { _tag: "Say", text } : { _tag: "Say", text, command }

const unsuppress = (email: string): Step => ({
  _tag: "Unsuppress",
  email,
  text: `Mail ${email} again, once the address is fixed or its owner asked for it.`,
  command: postlane("unsuppress", email)
})

/** A step for each recipient that is on the list. */
const lift = ({ suppressions }: MailStory): ReadonlyArray<Step> =>
  [...new Set(suppressions.map(({ email }) => email))].map(unsuppress)

const sendAgain = ({ idempotency_key: key }: StoryRow): Step =>
  say(
    key === null
      ? "Send it again from where it came."
      : `Make the same call again, with the same idempotency key (${key}): the key is free, since nothing was accepted.`
  )

const waiting = (row: StoryRow, { deadLetter, now }: Known): Advice => {
  const advice = { mood: "wait", title: "Waiting for its retry" } as const
  if (deadLetter !== undefined) {
    return {
      mood: "bad",
      title: "Its retry is a dead letter",
      why: "The retry was received three times without an end and has been given up.",
      steps: [
        {
          _tag: "Redrive",
          id: deadLetter,
          text: "Put it back into the queue: it goes out on its own key, unless an event has proven by then that it arrived.",
          command: postlane("dead-letters", "redrive", deadLetter)
        }
      ]
    }
  }
  const isLate = row.retry_at !== null && now > Date.parse(row.retry_at) + LATE_MS
  const written = Date.parse(row.created_at)
  if (now - written >= IDEMPOTENCY_WINDOW_MS)
    return {
      mood: "bad",
      title: "Its retry never came to an end",
      why: "No retry goes out a day after the first attempt. Whether the first one arrived, no event has said.",
      steps: [say("Ask a recipient whether the mail came before you send it under a new key.")]
    }
  return {
    ...advice,
    why: "The provider gave no clear answer: the mail may be out. The same request goes out again on the same key, unless an event proves before that it arrived.",
    steps: isLate
      ? [say("The retry is overdue. See whether a worker runs.", postlane("doctor"))]
      : [say("Nothing to do. Do not send it under another key: that could make a second copy.")]
  }
}

const doubtful = (row: StoryRow, { now }: Known): Advice => {
  const { created_at: written, idempotency_key: key, provider } = row
  const safe = isProvider(provider) && dedupes(provider) && now - Date.parse(written) < IDEMPOTENCY_WINDOW_MS
  return {
    mood: "bad",
    title: "Unknown whether it arrived",
    why: "An attempt ended without a clear answer, and no delivery event has settled it.",
    steps: [
      safe && key !== null
        ? say(
            `Within a day of the first attempt the same call with the same key (${key}) is safe: the provider delivers one copy for it.`
          )
        : say(
            "Ask a recipient whether the mail came before you send it under a new key: a second copy cannot be ruled out."
          )
    ]
  }
}

const refused = (row: StoryRow): Advice => ({
  mood: "bad",
  title: "Not sent",
  why:
    row.error_kind === "rejected"
      ? "The provider refused this mail, and no other would take it. Nothing left."
      : "No provider could take it. Nothing left.",
  steps: [
    ...(row.error_kind === "rejected" ? [say("Correct what the provider complains about.")] : []),
    sendAgain(row)
  ]
})

/** A bounce that names its type, and not as permanent: a mailbox that is full, a mail that is too large. */
const TEMPORARY = /^(?!permanent\b)[a-z]+(?:[/:]|$)/i

const undelivered = (story: MailStory, { error }: StoryRow): Advice => ({
  mood: "bad",
  title: "Not delivered",
  why: `The recipient’s server did not take it, and the provider has given up: ${error ?? "it gave no reason"}.`,
  steps: [
    say(
      "Send it again under a new key, once the reason is dealt with. The address is not suppressed for it."
    ),
    ...lift(story)
  ]
})

const bounced = (story: MailStory, row: StoryRow): Advice =>
  row.error !== null && TEMPORARY.test(row.error)
    ? undelivered(story, row)
    : {
        mood: "bad",
        title: "Bounced",
        why: "The recipient’s server refused it for good.",
        steps: [say("Correct the address where it is written wrong, and send to that one."), ...lift(story)]
      }

/** What a temporary bounce says of a mail that was delivered. */
const afterDelivery = (row: StoryRow): string => {
  const isToMany = new Set([...row.to_addresses, ...row.other_addresses]).size > 1
  if (row.error !== null && isToMany) return ` Not to every recipient, though: ${row.error}.`
  return row.events.some(({ event }) => event === "bounce_transient")
    ? " An automatic reply came back, such as a note of absence."
    : ""
}

const BY_STATUS = {
  sent: { mood: "", title: "Accepted by the provider", why: "No delivery event has come yet." },
  delivery_delayed: {
    mood: "wait",
    title: "The recipient’s server keeps it waiting",
    why: "The provider keeps trying by itself."
  },
  delivered: { mood: "good", title: "Delivered", why: "The recipient’s server took it." },
  opened: { mood: "good", title: "Delivered and opened", why: "The recipient opened it." },
  clicked: { mood: "good", title: "Delivered and read", why: "The recipient followed a link in it." }
} as const satisfies Partial<Record<EmailStatus, Omit<Advice, "steps">>>

/** A mail's state in words, and what to do next. */
export const adviceOn = (story: MailStory, known: Known): Advice => {
  const row = standingRow(story.rows)
  switch (row.status) {
    case "deferred":
      return waiting(row, known)
    case "bounced":
      return bounced(story, row)
    case "complained":
      return {
        mood: "bad",
        title: "Reported as spam",
        why: "It was delivered, and a recipient complained.",
        steps: [say("Do not mail this recipient again, except what they need to sign in."), ...lift(story)]
      }
    case "suppressed":
      return row.outcome === "suppressed"
        ? {
            mood: "bad",
            title: "Not sent: every recipient is suppressed",
            why: row.error ?? "Their addresses are on the suppression list.",
            steps: [...lift(story), sendAgain(row)]
          }
        : {
            mood: "bad",
            title: "Held back by the provider",
            why: "The provider has the address on a suppression list of its own.",
            steps: [say("Take the address off the provider’s list, in its console."), ...lift(story)]
          }
    case "failed":
      if (row.outcome !== "failed")
        return {
          mood: "bad",
          title: "The provider could not deliver it",
          why: row.error ?? "It gave no reason.",
          steps: [say("Send it again under a new key, once the reason is dealt with.")]
        }
      return row.error_kind === "ambiguous" ? doubtful(row, known) : refused(row)
    default: {
      if (isUndelivered(row)) return undelivered(story, row)
      const advice = BY_STATUS[row.status]
      return { ...advice, why: advice.why + afterDelivery(row), steps: [say("Nothing to do.")] }
    }
  }
}
