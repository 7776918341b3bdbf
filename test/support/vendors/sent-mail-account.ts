import { Effect } from "effect"

import type { ListedMail } from "../../../src/domain/delivery/listed-mail.ts"
import { ListFailure, type MailPage, SentMails } from "../../../src/ports/delivery/event-poll.ts"

/** The mails of an account and its list, in memory: pages of `pageSize`, newest first. */
export const makeAccount = (pageSize = 100) => {
  const mails: Array<ListedMail> = []
  let failures: Array<ListFailure | "hang" | undefined> = []
  let asked = 0
  const page = (after: string | undefined): Effect.Effect<MailPage, ListFailure> =>
    Effect.suspend(() => {
      asked += 1
      const failure = failures.shift()
      if (failure === "hang") return Effect.never
      if (failure !== undefined) return Effect.fail(failure)
      const newest = mails.toReversed()
      const at = newest.findIndex(({ id }) => id === after)
      if (after !== undefined && at === -1) {
        return Effect.fail(new ListFailure({ kind: "cursor", message: "no such mail" }))
      }
      const found = newest.slice(at + 1, at + 1 + pageSize)
      const next = at + 1 + pageSize < newest.length ? found.at(-1)?.id : undefined
      return Effect.succeed({ mails: found, unreadable: 0, next })
    })
  return {
    service: SentMails.of({ page }),
    asked: () => asked,
    /** The next pages fail so; undefined: this one does not. */
    fail: (next: ReadonlyArray<ListFailure | "hang" | undefined>) => {
      failures = [...next]
    },
    send: (id: string, sentAt: number | undefined, lastEvent = "sent") => {
      mails.push({
        id,
        lastEvent,
        sentAt,
        recipients: [`${id}@x.test`],
        from: "a@shop.test",
        subject: "s",
        raw: { id }
      })
    },
    move: (id: string, lastEvent: string) => {
      const at = mails.findIndex((mail) => mail.id === id)
      if (at !== -1) mails[at] = { ...mails[at]!, lastEvent }
    },
    /** The vendor forgets a mail. */
    forget: (id: string) => {
      const at = mails.findIndex((mail) => mail.id === id)
      if (at !== -1) mails.splice(at, 1)
    },
    mails
  }
}

export type Account = ReturnType<typeof makeAccount>
