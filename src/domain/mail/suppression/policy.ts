import { Schema } from "effect"

import type { Mood } from "../../mood.ts"

/** What kind of mail a send is; it decides which suppressions apply (MAIL-6). */
export const Category = Schema.Literals(["auth", "transactional", "notification", "alert", "marketing"])
export type Category = typeof Category.Type

/** Category of a row that only delivery events wrote: mail that was sent outside the library. */
export const UNKNOWN_CATEGORY = "unknown"

/** What is known of a reason for which an address gets no mail. */
interface ReasonFacts {
  /** Strongest first: of several reasons the one that a person would have to lift first is shown. */
  readonly strength: number
  /** The categories of mail that it does not block (MAIL-61). */
  readonly lets: ReadonlyArray<Category>
  /** In the error of a send. */
  readonly text: string
  readonly mood: Mood
  /** Of those of the list: several of them, and what the exports of Resend, Amazon SES, Postmark and SendGrid call it. */
  readonly listed?: { readonly many: string; readonly words: ReadonlyArray<string> }
}

/** Why an address gets no mail (MAIL-60): for a reason of the list, by an unsubscription (MAIL-65), or since its person was erased (MAIL-66). */
export const SUPPRESSION_REASONS = {
  hard_bounce: {
    strength: 2,
    lets: ["alert"],
    text: "hard bounce",
    mood: "bad",
    listed: { many: "hard bounces", words: ["bounce", "bounced", "hardbounce"] }
  },
  complaint: {
    strength: 3,
    lets: ["alert", "auth"],
    text: "complaint",
    mood: "bad",
    listed: { many: "complaints", words: ["complaint", "complained", "spamcomplaint", "spamreport", "spam"] }
  },
  manual: {
    strength: 4,
    lets: [],
    text: "manually suppressed",
    mood: "",
    // An unsubscribed address of another list gets nothing, which only this reason means.
    listed: { many: "manual", words: ["manual", "manualsuppression", "unsubscribe", "unsubscribed"] }
  },
  unsubscribed: {
    strength: 1,
    lets: ["auth", "transactional", "notification", "alert"],
    text: "unsubscribed",
    mood: ""
  },
  erased: { strength: 5, lets: [], text: "erased", mood: "" }
} as const satisfies Readonly<Record<string, ReasonFacts>>

/** Why an address may not get this mail. */
export type BlockReason = keyof typeof SUPPRESSION_REASONS
const REASONS = Object.keys(SUPPRESSION_REASONS) as ReadonlyArray<BlockReason>
export const BlockReason = Schema.Literals(REASONS)

type Listed<Reason extends BlockReason> = Reason extends unknown
  ? (typeof SUPPRESSION_REASONS)[Reason] extends { readonly listed: object }
    ? Reason
    : never
  : never

/** Why an address is on the suppression list (MAIL-60). */
export type SuppressionReason = Listed<BlockReason>
export const SuppressionReason = Schema.Literals(
  REASONS.filter((reason): reason is SuppressionReason => "listed" in SUPPRESSION_REASONS[reason])
)

/** One row of the suppression list; `email` is bare and lower-case. */
export interface Suppression {
  readonly email: string
  readonly reason: SuppressionReason
}

/** What the list shows: its own reasons, and people who unsubscribed by a link (MAIL-65). */
export const ListedReason = Schema.Literals([...SuppressionReason.literals, "unsubscribed"] as const)
export type ListedReason = typeof ListedReason.Type

/** What a look-up says of an address; `email` is bare and lower-case. */
export interface Block {
  readonly email: string
  readonly reason: BlockReason
  /** The list that the person left; absent where the reason is about all mail that it blocks. */
  readonly list?: string
}

/** What of a mail decides who may get it. */
export interface Kind {
  readonly category: Category
  /** The mailing list that it belongs to. */
  readonly list?: string | undefined
}

const factsOf = (reason: BlockReason): ReasonFacts => SUPPRESSION_REASONS[reason]

/** Whether a suppression blocks a send of this category (MAIL-61). */
export const blocks = (category: Category, reason: BlockReason): boolean =>
  !factsOf(reason).lets.includes(category)

/** As {@link blocks}; who left a list gets everything but that list (MAIL-67). */
export const blocksMail = (mail: Kind, { list, reason }: Pick<Block, "reason" | "list">): boolean =>
  list === undefined ? blocks(mail.category, reason) : list === mail.list

const STRONGEST_FIRST = REASONS.toSorted((a, b) => factsOf(b).strength - factsOf(a).strength)

/** The addresses that this send must not reach, each with the strongest reason that blocks it. */
export const blockedAddresses = (
  mail: Kind,
  suppressions: ReadonlyArray<Block>
): ReadonlyMap<string, BlockReason> => {
  const blocked = new Map<string, BlockReason>()
  for (const block of suppressions) {
    if (!blocksMail(mail, block)) continue
    const { email, reason } = block
    const known = blocked.get(email)
    if (known === undefined || factsOf(reason).strength > factsOf(known).strength) blocked.set(email, reason)
  }
  return blocked
}

/**
 * The `error` of a send when all its To recipients are blocked: `Recipient suppressed: <reason text>`. `isAmbiguous`: an earlier
 * attempt on its key was ambiguous.
 */
export const suppressedError = (reasons: Iterable<BlockReason>, isAmbiguous = false): string => {
  const present = new Set(reasons)
  const text = `Recipient suppressed: ${STRONGEST_FIRST.filter((reason) => present.has(reason))
    .map((reason) => factsOf(reason).text)
    .join(", ")}`
  return isAmbiguous ? `${text}; an earlier attempt may have been accepted` : text
}
