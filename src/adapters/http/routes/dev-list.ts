import { Effect, Schema } from "effect"

import { parseOutboxSearch } from "../../../domain/mail/outbox-search.ts"
import type { OutboxEntry, SimulatedMail } from "../../../ports/mail/simulated-mail.ts"
import { readAssets } from "../pages/assets.ts"
import { type Asked, MAX_MESSAGES, type MailList } from "../pages/dev/mail-list.ts"
import type { Beside } from "../pages/dev/message.ts"
import { type ShellPage, shellResponse } from "../pages/shell.ts"
import { filter, Text } from "../server/endpoint.ts"
import { problem, unavailable } from "../server/problem.ts"

type Outbox = SimulatedMail["Service"]["outbox"]

/** A message's id in a path or a query. */
export const MessageId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/u, { message: "is not the id of a message" })
)

/** Which messages a list has. */
export const listQuery = {
  q: filter(Text.check(Schema.isMaxLength(200))),
  address: filter(Text.check(Schema.isMaxLength(400))),
  before: filter(MessageId),
  after: filter(MessageId)
}

interface ListQuery {
  readonly q?: string
  readonly address?: string
  readonly before?: string
  readonly after?: string
}

export const outboxAway = unavailable("the outbox cannot be read", "The outbox cannot be read now")
export const noMessage = problem("NOT_FOUND", "There is no message of this id")

/** Answers with a page of the outbox. */
export const makeReaderPages = () => {
  const { pathOf } = readAssets()
  return (content: ShellPage) => shellResponse(pathOf, content)
}

export const askedIn = ({ address = "", after = "", before = "", q = "" }: ListQuery): Asked => ({
  search: q.trim() === "" ? undefined : q.trim(),
  address: address === "" ? undefined : address.normalize("NFC").toLowerCase(),
  before: before === "" ? undefined : before,
  after: after === "" ? undefined : after
})

const listOf = (outbox: Outbox, asked: Asked) =>
  Effect.map(
    // One more than are shown says whether there are more of them on that side.
    outbox.page({ ...asked, limit: MAX_MESSAGES + 1 }),
    (page): MailList => ({ ...page, asked, understood: parseOutboxSearch(asked.search ?? "") })
  )

/** The list that is asked for. The newest messages form a full page, however few are newer. */
export const shownList = (outbox: Outbox, asked: Asked) =>
  Effect.flatMap(listOf(outbox, asked), (found) =>
    asked.after !== undefined && found.entries.length <= MAX_MESSAGES
      ? listOf(outbox, { ...asked, after: undefined })
      : Effect.succeed(found)
  )

/** The list that was asked for, where the mail is on its page; else the one that begins with it. */
const listAround = Effect.fnUntraced(function* (outbox: Outbox, entry: OutboxEntry, asked: Asked) {
  const list = yield* shownList(outbox, asked)
  const isShown = list.entries.slice(0, MAX_MESSAGES).some(({ id }) => id === entry.id)
  if (isShown) return list
  const from = yield* listOf(outbox, { ...asked, after: undefined, before: entry.id })
  return { ...from, entries: [entry, ...from.entries] }
})

/** The list of an open mail, and its neighbours in the search. */
export const besideOf = Effect.fnUntraced(function* (outbox: Outbox, entry: OutboxEntry, asked: Asked) {
  const { address, search } = asked
  const list = yield* listAround(outbox, entry, asked)
  const [older] = yield* outbox.list({ address, search, before: entry.id, limit: 1 })
  const [newer] = yield* outbox.list({ address, search, after: entry.id, limit: 1 })
  return { list, older: older?.id, newer: newer?.id } satisfies Beside
})
