import { setTimeout as pause } from "node:timers/promises"

import type { OutboxMail } from "../../application/outbox-mail.ts"

/** How long {@link TestOutbox.expectOne} and `expectCount` wait by default, milliseconds. */
const WAIT_MS = 5_000

const LOOK_EVERY_MS = 20

/** Most mails that an error names. */
const MAX_NAMED = 10

/** A mail of the outbox, decoded. */
export interface TestMail extends Omit<OutboxMail, "headers" | "attachments"> {
  /** By their names in lower case; the values of a name that occurs more than once are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: ReadonlyArray<{
    readonly filename: string | null
    readonly contentType: string
    readonly inline: boolean
    readonly content: Uint8Array
  }>
}

/** What a mail is to have. A text is compared as a whole, a pattern anywhere in it; addresses whatever their case and name. */
export interface MailMatch {
  /** A recipient: To, Cc or Bcc. */
  readonly to?: string | undefined
  readonly from?: string | undefined
  readonly subject?: string | RegExp | undefined
  readonly idempotencyKey?: string | undefined
  readonly category?: string | undefined
  /** What sent it: a provider, or `telegram`. */
  readonly via?: string | undefined
}

/** What a list says of each mail. */
export type MailSummary = Pick<
  OutboxMail,
  "id" | "via" | "from" | "to" | "subject" | "at" | "idempotencyKey" | "category"
> &
  Partial<Pick<OutboxMail, "cc" | "bcc">>

/** Where mails are kept: in this process, or behind a server. */
interface MailSource {
  /** All of them, newest first; those from or to the address where one is given. */
  readonly list: (address: string | undefined) => Promise<ReadonlyArray<MailSummary>>
  readonly content: (id: string) => Promise<OutboxMail>
  readonly clear: () => Promise<unknown>
}

/** The mails that the simulated providers delivered. */
export interface TestOutbox {
  /** The matching mails, newest first. */
  readonly list: (match?: MailMatch) => Promise<ReadonlyArray<TestMail>>
  /**
   * Waits up to five seconds (`withinMs`) for a matching mail. Fails if none arrives, or if more than one matches. It does not wait for a
   * second mail, so call it after everything has been sent.
   */
  readonly expectOne: (match: MailMatch, options?: { readonly withinMs?: number }) => Promise<TestMail>
  /** Waits until so many mails match, and fails where fewer come in time (`withinMs`) or more are there. It reads no content. */
  readonly expectCount: (
    count: number,
    match: MailMatch,
    options?: { readonly withinMs?: number }
  ) => Promise<ReadonlyArray<MailSummary>>
  /** Fails where a mail matches now. */
  readonly expectNone: (match?: MailMatch) => Promise<void>
  readonly clear: () => Promise<void>
}

/** A mail is missing, or there are too many: the message names what is there. */
export class UnexpectedMails extends Error {
  override readonly name = "UnexpectedMails"
}

/** The bare address of `Ann <ann@x.test>`, in lower case. */
const bare = (box: string): string => (/<([^<>]*)>\s*$/.exec(box)?.[1] ?? box).trim().toLowerCase()

const isLike = (text: string, wanted: string | RegExp | undefined): boolean =>
  wanted === undefined || (typeof wanted === "string" ? text === wanted : text.search(wanted) >= 0)

const matches = (mail: MailSummary, match: MailMatch): boolean =>
  (match.from === undefined || bare(mail.from) === bare(match.from)) &&
  isLike(mail.subject, match.subject) &&
  (match.idempotencyKey === undefined || mail.idempotencyKey === match.idempotencyKey) &&
  (match.category === undefined || mail.category === match.category) &&
  (match.via === undefined || mail.via === match.via)

const isTo = ({ bcc, cc, to }: Pick<OutboxMail, "to" | "cc" | "bcc">, address: string): boolean =>
  [...to, ...cc, ...bcc].some((box) => bare(box) === address)

const decoded = (mail: OutboxMail): TestMail => {
  const headers: Record<string, string> = {}
  for (const { name, value } of mail.headers) {
    const key = name.toLowerCase()
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
  }
  return {
    ...mail,
    headers,
    attachments: mail.attachments.map((file) => ({ ...file, content: Buffer.from(file.content, "base64") }))
  }
}

const described = (match: MailMatch): string => {
  const parts = Object.entries(match).flatMap(([name, wanted]) =>
    wanted === undefined
      ? []
      : [`${name} ${wanted instanceof RegExp ? String(wanted) : JSON.stringify(wanted)}`]
  )
  return parts.length === 0 ? "any mail" : `a mail with ${parts.join(", ")}`
}

const named = (mails: ReadonlyArray<MailSummary>): string =>
  mails.length === 0
    ? "nothing"
    : mails
        .slice(0, MAX_NAMED)
        .map(
          ({ at, subject, to, via }) => `\n  ${JSON.stringify(subject)} to ${to.join(", ")} (${via}, ${at})`
        )
        .join("") + (mails.length > MAX_NAMED ? `\n  and ${mails.length - MAX_NAMED} older ones` : "")

/** The outbox of a test. */
export const makeTestOutbox = (source: MailSource): TestOutbox => {
  const listed = async (match: MailMatch, address?: string) =>
    (await source.list(address)).filter((mail) => matches(mail, match))
  const list = async (match: MailMatch = {}): Promise<ReadonlyArray<TestMail>> => {
    const address = match.to === undefined ? undefined : bare(match.to)
    const found = await listed(match, address)
    const mails = await Promise.all(found.map(({ id }) => source.content(id)))
    return mails.filter((mail) => address === undefined || isTo(mail, address)).map(decoded)
  }
  /** Looks until so many are there, or the time is over. */
  const counted = async <A extends MailSummary>(
    look: () => Promise<ReadonlyArray<A>>,
    count: number,
    match: MailMatch,
    withinMs: number
  ): Promise<ReadonlyArray<A>> => {
    const until = performance.now() + withinMs
    const wanted = count === 1 ? described(match) : `${count} times ${described(match)}`
    for (;;) {
      const found = await look()
      if (found.length === count) return found
      if (found.length > count)
        throw new UnexpectedMails(`There is more than ${wanted}, ${found.length}:${named(found)}`)
      if (performance.now() >= until) {
        const all = await source.list(undefined)
        throw new UnexpectedMails(
          `There is not ${wanted}, but ${found.length}. The outbox has: ${named(all)}`
        )
      }
      await pause(LOOK_EVERY_MS)
    }
  }
  return {
    list,
    expectOne: async (match, { withinMs = WAIT_MS } = {}) =>
      (await counted(() => list(match), 1, match, withinMs))[0]!,
    expectCount: (count, match, { withinMs = WAIT_MS } = {}) => {
      // Only the content names blind recipients.
      const look = match.to === undefined ? () => listed(match) : () => list(match)
      return counted<MailSummary>(look, count, match, withinMs)
    },
    expectNone: async (match) => {
      const found = await list(match)
      if (found.length > 0) throw new UnexpectedMails(`There should be no mail, but there is:${named(found)}`)
    },
    clear: async () => void (await source.clear())
  }
}
