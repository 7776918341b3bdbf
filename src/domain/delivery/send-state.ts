import { IDEMPOTENCY_WINDOW_MS } from "../mail/failover.ts"
import type { SendStatus } from "../mail/send-result.ts"
import { standingRow } from "./mail-advice.ts"
import type { StoryRow } from "./mail-story.ts"

const ageOf = ({ created_at }: StoryRow): number => Date.parse(created_at)

const isApart = (older: StoryRow, newer: StoryRow): boolean =>
  ageOf(newer) - ageOf(older) >= IDEMPOTENCY_WINDOW_MS

/** The rows of the same use of a key as the one of this id: the rows of another use are a day or more apart. Oldest first. */
const rowsOfUse = (rows: ReadonlyArray<StoryRow>, id: string): ReadonlyArray<StoryRow> => {
  let use: Array<StoryRow> = []
  for (const row of rows) {
    const last = use.at(-1)
    if (last !== undefined && isApart(last, row)) {
      if (use.some((one) => one.id === id)) break
      use = []
    }
    use.push(row)
  }
  return use
}

/** A send's deciding row, and the result that a call would get now: `sent` when a provider accepted it, by its answer or by an event. */
export const standingOf = (
  rows: ReadonlyArray<StoryRow>,
  id: string
): { readonly row: StoryRow; readonly outcome: SendStatus | null } => {
  const row = standingRow(rowsOfUse(rows, id))
  return { row, outcome: row.provider_message_id === null ? row.outcome : "sent" }
}
