import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import * as Suppressions from "../../adapters/postgres/mail/suppression-list.ts"
import { addressKey, parsePublicMailbox, writtenKey } from "../../domain/mail/address.ts"
import { ListedReason } from "../../domain/mail/suppression/policy.ts"
import {
  MAX_SUPPRESSION_PAGE,
  SuppressionList,
  type SuppressionRow
} from "../../ports/mail/suppression-list.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { onDatabase } from "./installation.ts"
import { CommandFailed, print, telling, Shell } from "./shell.ts"
import { type Column, layoutTable, counted, visible } from "./table.ts"

const email = Argument.String("email").pipe(Argument.withDescription("The address, bare or with a name"))
const note = (description: string) =>
  Flag.String("note").pipe(Flag.withDescription(description), Flag.optional)

const unavailable = (error: StoreUnavailable) =>
  Effect.logDebug("the suppression list does not answer", error).pipe(
    Effect.andThen(
      Effect.fail(
        new CommandFailed({ message: "The suppression list does not answer now. See: postlane doctor" })
      )
    )
  )

const onList = <A, E, R>(use: (list: SuppressionList["Service"]) => Effect.Effect<A, E, R>) =>
  onDatabase(() => Effect.provide(SuppressionList.use(use), Suppressions.layer))

const addressOf = (text: string) => {
  const parsed = parsePublicMailbox(text.trim())
  return Result.isSuccess(parsed)
    ? Effect.succeed(addressKey(parsed.success))
    : Effect.fail(new CommandFailed({ message: `${visible(text)}: ${parsed.failure}` }))
}

/** `postlane suppress`. */
export const suppress = Command.make(
  "suppress",
  { email, note: note("Why, for the list and the audit log") },
  (input) =>
    telling(
      Effect.gen(function* () {
        const address = yield* addressOf(input.email)
        const { user } = yield* Shell
        const row = yield* onList((list) =>
          list
            .add({ email: address, actor: `cli:${user}`, note: Option.getOrUndefined(input.note) })
            .pipe(Effect.catchTag("StoreUnavailable", unavailable))
        )
        yield* print({
          json: row,
          text: `${visible(row.email)} is suppressed: no mail of any category goes there.`
        })
      })
    )
).pipe(
  Command.withDescription(
    "Suppress an address by hand: no mail goes there any more, of any category. The audit log notes it; postlane unsuppress takes it back."
  ),
  Command.withExamples([
    {
      command: 'postlane suppress you@example.com --note "asked by phone"',
      description: "Suppress an address"
    }
  ])
)

/** `postlane unsuppress`. */
export const unsuppress = Command.make(
  "unsuppress",
  { email, note: note("Why, for the audit log") },
  (input) =>
    telling(
      Effect.gen(function* () {
        const address = writtenKey(input.email)
        const { user } = yield* Shell
        const removed = yield* onList((list) =>
          list
            .remove({ email: address, actor: `cli:${user}`, note: Option.getOrUndefined(input.note) })
            .pipe(Effect.catchTag("StoreUnavailable", unavailable))
        )
        if (removed === 0) {
          return yield* new CommandFailed({ message: `${visible(address)} is not suppressed.` })
        }
        yield* print({
          json: { email: address, removed },
          text: `${visible(address)} gets mail again (${counted(removed, "suppression")} removed).`
        })
      })
    )
).pipe(
  Command.withDescription(
    "Remove every suppression of an address, with its unsubscription from marketing, and note it in the audit log. Only where the address was mended, or its owner asked for mail again."
  ),
  Command.withExamples([
    {
      command: 'postlane unsuppress you@example.com --note "mailbox was full, works again"',
      description: "Remove the suppressions of an address"
    }
  ])
)

const COLUMNS: ReadonlyArray<Column<SuppressionRow>> = [
  { title: "SINCE (UTC)", cell: ({ created_at }) => created_at.slice(0, 19).replace("T", " ") },
  { title: "REASON", cell: ({ reason }) => reason },
  { title: "ADDRESS", cell: (row) => row.email, flexible: true },
  { title: "NOTE", cell: (row) => row.note ?? "", flexible: true }
]

/** `postlane suppressions`. */
export const suppressions = Command.make(
  "suppressions",
  {
    email: Flag.String("email").pipe(Flag.withDescription("Only this address"), Flag.optional),
    reason: Flag.Literals("reason", ListedReason.literals).pipe(
      Flag.withDescription("Only of this reason"),
      Flag.optional
    ),
    limit: Flag.Int("limit").pipe(
      Flag.withAlias("n"),
      Flag.withDescription(`Rows of a page, 1 to ${MAX_SUPPRESSION_PAGE}`),
      Flag.filter(
        (limit) => limit >= 1 && limit <= MAX_SUPPRESSION_PAGE,
        () => `must be from 1 to ${MAX_SUPPRESSION_PAGE}`
      ),
      Flag.withDefault(50)
    ),
    cursor: Flag.String("cursor").pipe(Flag.withDescription("Go on where a page ended"), Flag.optional)
  },
  (input) =>
    telling(
      Effect.gen(function* () {
        const found = yield* onList((list) =>
          list
            .page({
              email: Option.getOrUndefined(Option.map(input.email, writtenKey)),
              reason: Option.getOrUndefined(input.reason),
              cursor: Option.getOrUndefined(input.cursor),
              limit: input.limit
            })
            .pipe(
              Effect.catchTags({
                StoreUnavailable: unavailable,
                InvalidSuppressionCursor: () =>
                  Effect.fail(
                    new CommandFailed({
                      message: "unknown --cursor; use the one printed by the previous page"
                    })
                  )
              })
            )
        )
        const table = layoutTable(COLUMNS, found.rows, (yield* Shell).columns)
        const lines = [...(table.heading === undefined ? [] : [table.heading]), ...found.rows.map(table.line)]
        const more = found.nextCursor === null ? [] : [`\nMore: --cursor ${found.nextCursor}`]
        yield* print({
          json: found,
          text: found.rows.length === 0 ? "No suppressions." : [...lines, ...more].join("\n")
        })
      })
    )
).pipe(
  Command.withDescription(
    "List the addresses that get no mail, and those that unsubscribed from marketing, newest first."
  )
)
