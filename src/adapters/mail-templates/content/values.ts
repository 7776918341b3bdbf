import type { MailTemplate, MailTemplateKind } from "../../../domain/mail/templates/template.ts"
import { cleanLine, cleanText, cleanWithin, mailtoUrl, safeUrl } from "../clean.ts"
import type { Block, Limits, Words, MailContent } from "../mail-content.ts"

/** Writes values of any origin into words, within the limits of one mail. */
export interface Values {
  readonly limits: Limits
  /** One line; never empty. */
  readonly line: (value: string) => string
  readonly text: (value: string) => string
  /** The address of a link, where it is one that a mail may have. */
  readonly url: (url: string) => string | undefined
  readonly link: (words: string, url: string) => Words
  readonly address: (address: string) => Words
  /** The items that fit; the number of the others becomes a last entry, made by `rest`. */
  readonly some: <A, B>(
    all: ReadonlyArray<A>,
    show: (one: A) => B,
    rest: (more: number) => B
  ) => ReadonlyArray<B>
}

/** Binds the limits. */
export const valuesWithin = (limits: Limits): Values => {
  const line = (value: string) => cleanWithin(cleanLine, value, limits.line) || "(empty)"
  return {
    limits,
    line,
    text: (value) => cleanWithin(cleanText, value, limits.text) || "(empty)",
    url: safeUrl,
    link: (words, url) => ({ link: line(words), url: safeUrl(url) }),
    address: (address) => ({ link: line(address), url: safeUrl(mailtoUrl(address)) }),
    some: (all, show, rest) => {
      const shown = all.slice(0, limits.items).map(show)
      return all.length > shown.length ? [...shown, rest(all.length - shown.length)] : shown
    }
  }
}

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" })
const MONEY = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })
const COUNT = new Intl.NumberFormat("en-US")

/** A time in words, in UTC; other text is returned unchanged. */
export const moment = (iso: string): string => {
  const at = Date.parse(iso)
  return Number.isNaN(at) ? cleanWithin(cleanLine, iso, 40) : `${DATE.format(at)} UTC`
}

export const money = (usd: number): string => MONEY.format(usd)
export const count = (figure: number): string => COUNT.format(figure)

/** `1 page`, `2 pages`. */
export const counted = (figure: number, one: string, many: string): string =>
  `${count(figure)} ${figure === 1 ? one : many}`

export const paragraph = (...words: ReadonlyArray<Words>): Block => ({ piece: "paragraph", words })

/** Makes the content of one kind of mail. */
export type Writer<K extends MailTemplateKind> = (
  data: Extract<MailTemplate, { readonly kind: K }>,
  values: Values
) => MailContent
