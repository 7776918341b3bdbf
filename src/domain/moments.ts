import { Schema } from "effect"

/** Whether the text is a day, `YYYY-MM-DD`. The database knows no year 0. */
const isDay = (text: string): boolean =>
  /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && (new Date(`${text}T00:00:00Z`).toJSON() ?? "").startsWith(text)

/** A day, UTC. */
export const Day = Schema.String.check(Schema.makeFilter((day) => isDay(day) || "is no day (YYYY-MM-DD)"))

const TIME = /^T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/

/** Whether the text is a moment with its offset from UTC, to the microsecond. */
export const isMomentWithOffset = (text: string): boolean =>
  isDay(text.slice(0, 10)) && TIME.test(text.slice(10))
