import { Schema } from "effect"

/** The types of events that a hook may ask for. */
const HOOK_TYPES = [
  "email.sent",
  "email.deferred",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.complained",
  "email.failed",
  "email.suppressed",
  "email.cancelled",
  "email.opened",
  "email.clicked",
  "suppression.added",
  "suppression.removed",
  "conversion.completed",
  "conversion.failed",
  "conversion.cancelled"
] as const

const AREAS = ["email.*", "suppression.*", "conversion.*"] as const

/** What a hook asks for: a type, all of an area, or everything. */
export const WantedType = Schema.Literals(["*", ...AREAS, ...HOOK_TYPES])
export type WantedType = typeof WantedType.Type

/** Whether a hook with these types asks for events of the type. Equals `hook_wants` of the database. */
export const wants = (types: ReadonlyArray<WantedType>, type: string): boolean =>
  types.some((wanted) => wanted === "*" || wanted === type || wanted === `${type.split(".")[0]}.*`)

/** The waits after the first, second, … failed try, seconds: the event is dead when the try after the last one fails. */
export const RETRY_DELAYS_SECONDS: ReadonlyArray<number> = [
  5,
  5 * 60,
  30 * 60,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3600)
]

/** How long a receiver has for its receipt: a status of 2xx. */
export const RECEIPT_WITHIN_SECONDS = 15

/** Days without a receipt after which a hook switches itself off, if a try of the last day failed. */
export const SILENT_DAYS = 5

/** Hours for which a secret that was replaced still signs. */
export const ROTATION_HOURS = 24

/** Limit on the bytes of an answer that are read, and on the characters of it that are kept. */
export const MAX_ANSWER_BYTES = 64 * 1024
export const KEPT_ANSWER_CHARACTERS = 1_000

/** Why the text is not the address of a hook; undefined where it is one. */
export const hookUrlFault = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return "must be an address that starts with https:// or http://"
  }
  if (url.username !== "" || url.password !== "") return "must hold no user name or password"
  return url.hash === "" ? undefined : "must hold no fragment (#…)"
}
