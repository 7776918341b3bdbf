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

/** Whether a suppression blocks a send of this category (MAIL-61). */
export const blocks = (category: Category, reason: SuppressionReason): boolean => {
  switch (reason) {
    case "manual":
      return true
    case "hard_bounce":
      return category !== "alert"
    case "complaint":
      return category !== "alert" && category !== "auth"
  }
}

const REASON_TEXT: Readonly<Record<SuppressionReason, string>> = {
  manual: "manually suppressed",
  hard_bounce: "hard bounce",
  complaint: "complaint"
}

/** Strongest first: of several reasons, the one that a person would have to lift first is shown. */
const STRENGTH: ReadonlyArray<SuppressionReason> = ["manual", "complaint", "hard_bounce"]

/** The addresses that this send must not reach, each with the strongest reason that blocks it. */
export const blockedAddresses = (
  category: Category,
  suppressions: ReadonlyArray<Suppression>
): ReadonlyMap<string, SuppressionReason> => {
  const blocked = new Map<string, SuppressionReason>()
  for (const { email, reason } of suppressions) {
    if (!blocks(category, reason)) continue
    const known = blocked.get(email)
    if (known === undefined || STRENGTH.indexOf(reason) < STRENGTH.indexOf(known)) blocked.set(email, reason)
  }
  return blocked
}

/**
 * The `error` of a send whose To recipients are all blocked: `Recipient suppressed: <reason text>`. `isAmbiguous`: an earlier attempt on
 * its key was.
 */
export const suppressedError = (reasons: Iterable<SuppressionReason>, isAmbiguous = false): string => {
  const present = new Set(reasons)
  const text = `Recipient suppressed: ${STRENGTH.filter((reason) => present.has(reason))
    .map((reason) => REASON_TEXT[reason])
    .join(", ")}`
  return isAmbiguous ? `${text}; an earlier attempt may have been accepted` : text
}
