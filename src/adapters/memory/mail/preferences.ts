import { Effect } from "effect"

import { type LeftRow, MailPreferences } from "../../../ports/mail/preferences.ts"

/** Addresses that left all marketing (`unsubscribes`). */
interface LeftMarketing {
  readonly has: (email: string) => boolean
  readonly add: (email: string) => void
  readonly lift: (email: string) => void
  readonly emails: () => ReadonlyArray<string>
}

const isAfter = (row: LeftRow, after: LeftRow | undefined): boolean =>
  after === undefined ||
  row.email > after.email ||
  (row.email === after.email && (row.list ?? "") > (after.list ?? ""))

/** What people have left, in memory. */
export const makePreferences = (marketing: LeftMarketing): MailPreferences["Service"] => {
  const lists = new Map<string, Set<string>>()
  const leave = (email: string, list: string): boolean => {
    const left = lists.get(email) ?? new Set()
    lists.set(email, left)
    const isNew = !left.has(list)
    left.add(list)
    return isNew
  }
  const rows = (): ReadonlyArray<LeftRow> =>
    [
      ...marketing.emails().map((email): LeftRow => ({ email, list: null })),
      ...[...lists].flatMap(([email, left]) => Array.from(left, (list): LeftRow => ({ email, list })))
    ].toSorted((a, b) => (isAfter(a, b) ? 1 : -1))
  const add = ({ email, list }: LeftRow): boolean => {
    if (list !== null) return leave(email, list)
    const isNew = !marketing.has(email)
    if (isNew) marketing.add(email)
    return isNew
  }
  return MailPreferences.of({
    of: (email) =>
      Effect.sync(() => ({ all: marketing.has(email), lists: [...(lists.get(email) ?? [])].toSorted() })),
    leave: ({ email, list }) => Effect.sync(() => void leave(email, list)),
    comeBack: ({ email, list }) =>
      Effect.sync(() => {
        if (list === undefined) marketing.lift(email)
        else lists.get(email)?.delete(list)
      }),
    leaveAll: ({ entries }) => Effect.sync(() => entries.filter(add).length),
    page: ({ after, limit }) =>
      Effect.sync(() =>
        rows()
          .filter((row) => isAfter(row, after))
          .slice(0, limit)
      )
  })
}
