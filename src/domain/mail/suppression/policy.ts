import { Schema } from "effect"

/** What kind of mail a send is; it decides which suppressions apply (MAIL-6). */
export const Category = Schema.Literals(["auth", "transactional", "notification", "alert", "marketing"])
export type Category = typeof Category.Type

/** Category of a row that only delivery events wrote: mail that was sent outside the library. */
export const UNKNOWN_CATEGORY = "unknown"

/** Why an address is on the suppression list (MAIL-60). */
export const SuppressionReason = Schema.Literals(["hard_bounce", "complaint", "manual"])
export type SuppressionReason = typeof SuppressionReason.Type

/** One row of the suppression list; `email` is bare and lower-case. */
export interface Suppression {
  readonly email: string
  readonly reason: SuppressionReason
}

/** What the list shows: its own reasons, and people who unsubscribed by a link (MAIL-65). */
export const ListedReason = Schema.Literals([...SuppressionReason.literals, "unsubscribed"])
export type ListedReason = typeof ListedReason.Type

/** Why an address may not get this mail: it is on the list, or its person was erased while the mail waited (MAIL-66). */
export const BlockReason = Schema.Literals([...ListedReason.literals, "erased"])
export type BlockReason = typeof BlockReason.Type

/** What a look-up says of an address; `email` is bare and lower-case. */
export interface Block {
  readonly email: string
  readonly reason: BlockReason
}

/** Whether a suppression blocks a send of this category (MAIL-61). */
export const blocks = (category: Category, reason: BlockReason): boolean => {
  switch (reason) {
    case "manual":
    case "erased":
      return true
    case "unsubscribed":
      return category === "marketing"
    case "hard_bounce":
      return category !== "alert"
    case "complaint":
      return category !== "alert" && category !== "auth"
  }
}

const REASON_TEXT: Readonly<Record<BlockReason, string>> = {
  erased: "erased",
  manual: "manually suppressed",
  hard_bounce: "hard bounce",
  complaint: "complaint",
  unsubscribed: "unsubscribed"
}

/** Strongest first: of several reasons, the one that a person would have to lift first is shown. */
const STRENGTH: ReadonlyArray<BlockReason> = ["erased", "manual", "complaint", "hard_bounce", "unsubscribed"]

/** The addresses that this send must not reach, each with the strongest reason that blocks it. */
export const blockedAddresses = (
  category: Category,
  suppressions: ReadonlyArray<Block>
): ReadonlyMap<string, BlockReason> => {
  const blocked = new Map<string, BlockReason>()
  for (const { email, reason } of suppressions) {
    if (!blocks(category, reason)) continue
    const known = blocked.get(email)
    if (known === undefined || STRENGTH.indexOf(reason) < STRENGTH.indexOf(known)) blocked.set(email, reason)
  }
  return blocked
}

/**
 * The `error` of a send when all its To recipients are blocked: `Recipient suppressed: <reason text>`. `isAmbiguous`: an earlier
 * attempt on its key was ambiguous.
 */
export const suppressedError = (reasons: Iterable<BlockReason>, isAmbiguous = false): string => {
  const present = new Set(reasons)
  const text = `Recipient suppressed: ${STRENGTH.filter((reason) => present.has(reason))
    .map((reason) => REASON_TEXT[reason])
    .join(", ")}`
  return isAmbiguous ? `${text}; an earlier attempt may have been accepted` : text
}
