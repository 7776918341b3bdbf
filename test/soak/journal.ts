import type { Answer } from "../crash/world.ts"

/** One mail that a client wanted to send, and every answer to it. */
export interface MailStory {
  /** Stands in its subject, and in no other's. */
  readonly token: string
  readonly key: string | undefined
  readonly answers: Array<Answer>
  /** Why nobody may ever get it. */
  never?: string
}

/** A delivery event that Postlane said it took. */
export interface TakenEvent {
  readonly messageId: string
  readonly what: "delivered" | "bounced"
  readonly to: string
}

/** A conversion that Postlane said it took. */
export interface TakenConversion {
  readonly jobId: string
  readonly pages: number
}

/** One mail to convert that was answered 250. */
export interface TakenMail {
  readonly token: string
  readonly sender: string
}

/** What the clients of a soak saw. */
export interface Journal {
  readonly mails: Array<MailStory>
  readonly events: Array<TakenEvent>
  readonly uploads: Array<string>
  readonly conversions: Array<TakenConversion>
  readonly mailed: Array<TakenMail>
  readonly counts: Record<string, number>
  /** Of each answer to a request: when it was asked, and when it was there. */
  readonly answered: Array<readonly [askedAt: number, at: number]>
  /** When a request got none. */
  readonly refused: Array<number>
  /** Answers of 500, with the time and route. */
  readonly internal: Array<string>
}

export const makeJournal = (): Journal => ({
  mails: [],
  events: [],
  uploads: [],
  conversions: [],
  mailed: [],
  counts: {},
  answered: [],
  refused: [],
  internal: []
})

export const count = (counts: Record<string, number>, what: string, by = 1): void => {
  counts[what] = (counts[what] ?? 0) + by
}

/** The token in a subject. */
export const tokenIn = (subject: string | null | undefined): string | undefined =>
  /soak-[a-z]+-\d+/.exec(subject ?? "")?.[0]
