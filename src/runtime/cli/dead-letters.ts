import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import { DeferQueue, withoutContent } from "../../ports/mail/defer-queue.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { deferQueue } from "../compose/mail/mail.ts"
import { onDatabase } from "./installation.ts"
import { CommandFailed, print, telling, Shell } from "./shell.ts"
import { type Column, layoutTable, counted, visible } from "./table.ts"

/** How many are read at once by `redrive --all`. */
const BATCH = 100

const unavailable = (error: StoreUnavailable) =>
  Effect.logDebug("the retry queue does not answer", error).pipe(
    Effect.andThen(Effect.fail(new CommandFailed({ message: `${error.reason}. See: postlane doctor` })))
  )

const onQueue = <A, E, R>(use: (queue: DeferQueue["Service"]) => Effect.Effect<A, E, R>) =>
  onDatabase((here) =>
    Effect.gen(function* () {
      const queue = yield* DeferQueue
      if (!queue.configured) {
        return yield* new CommandFailed({
          message:
            "There is no retry queue: EMAIL_DEFER_QUEUE_URL is empty or there is no database, and nothing is deferred"
        })
      }
      return yield* use(queue)
    }).pipe(Effect.provide(deferQueue(here.settings, { credentials: here.credentials })))
  )

type Shown = ReturnType<typeof withoutContent>

const COLUMNS: ReadonlyArray<Column<Shown>> = [
  { title: "ID", cell: ({ id }) => id },
  { title: "DIED (UTC)", cell: ({ diedAt }) => (diedAt ?? "-").slice(0, 19).replace("T", " ") },
  { title: "PROVIDER", cell: ({ provider }) => provider ?? "-" },
  { title: "TO", cell: ({ to }) => to?.join(", ") ?? "-", flexible: true },
  { title: "SUBJECT", cell: ({ subject }) => subject ?? "-", flexible: true },
  { title: "REASON", cell: ({ reason }) => reason ?? "-", flexible: true }
]

const limit = Flag.Int("limit").pipe(
  Flag.withAlias("n"),
  Flag.withDescription("How many to show, 1 to 200"),
  Flag.filter(
    (count) => count >= 1 && count <= 200,
    () => "must be from 1 to 200"
  ),
  Flag.withDefault(50)
)

const runList = (count: number) =>
  telling(
    Effect.gen(function* () {
      const letters = yield* onQueue((queue) =>
        queue.deadLetters({ limit: count }).pipe(Effect.catchTag("StoreUnavailable", unavailable))
      )
      const rows = letters.map(withoutContent)
      const table = layoutTable(COLUMNS, rows, (yield* Shell).columns)
      yield* print({
        json: { deadLetters: rows },
        text:
          rows.length === 0
            ? "No dead letters."
            : [...(table.heading === undefined ? [] : [table.heading]), ...rows.map(table.line)].join("\n")
      })
    })
  )

const list = Command.make("list", { limit }, (input) => runList(input.limit)).pipe(
  Command.withDescription("List the retries that have been given up.")
)

/** Redrives the letters that are dead now; one that dies again meanwhile is not redriven a second time. */
const redriveAll = (queue: DeferQueue["Service"]) =>
  Effect.gen(function* () {
    const done = new Set<string>()
    const gone = new Set<string>()
    while (true) {
      const letters = yield* queue.deadLetters({ limit: BATCH })
      const next = letters.map(({ id }) => id).filter((id) => !done.has(id) && !gone.has(id))
      if (next.length === 0) return [...done]
      for (const id of next) ((yield* queue.redrive(id)) ? done : gone).add(id)
    }
  }).pipe(Effect.catchTag("StoreUnavailable", unavailable))

const redrive = Command.make(
  "redrive",
  {
    id: Argument.String("id").pipe(
      Argument.withDescription("Id of a dead letter, as the list shows it"),
      Argument.optional
    ),
    all: Flag.Boolean("all").pipe(Flag.withDescription("All of them"), Flag.withDefault(false))
  },
  ({ all, id }) =>
    telling(
      Effect.gen(function* () {
        if (all === Option.isSome(id)) {
          return yield* new CommandFailed({ message: "Name one id, or say --all." })
        }
        if (Option.isSome(id)) {
          const found = yield* onQueue((queue) =>
            queue.redrive(id.value).pipe(Effect.catchTag("StoreUnavailable", unavailable))
          )
          yield* print({
            json: { redriven: found ? [id.value] : [] },
            text: found ? `${visible(id.value)} is queued again, due now.` : "",
            problem: found ? undefined : `There is no dead letter ${visible(id.value)}.`
          })
          return
        }
        const redriven = yield* onQueue(redriveAll)
        yield* print({
          json: { redriven },
          text:
            redriven.length === 0
              ? "No dead letters."
              : `${counted(redriven.length, "dead letter is", "dead letters are")} queued again, due now.`
        })
      })
    )
).pipe(
  Command.withDescription(
    "Queue dead letters again: due now, with three more receives, on the same key and provider."
  ),
  Command.withExamples([
    { command: "postlane dead-letters redrive --all", description: "Queue all of them again" }
  ])
)

const remove = Command.make(
  "remove",
  { id: Argument.String("id").pipe(Argument.withDescription("Id of a dead letter, as the list shows it")) },
  ({ id }) =>
    telling(
      Effect.gen(function* () {
        const removed = yield* onQueue((queue) =>
          queue.removeUnreadable(id).pipe(Effect.catchTag("StoreUnavailable", unavailable))
        )
        yield* print({
          json: { removed: removed ? [id] : [] },
          text: removed ? `${visible(id)} is removed.` : "",
          problem: removed
            ? undefined
            : `No unreadable dead letter has the id ${visible(id)}. A readable one is redriven; a day after its first attempt that sends nothing.`
        })
      })
    )
).pipe(
  Command.withDescription(
    "Remove a dead letter that cannot be read. The reason in the list says why it cannot."
  )
)

/** `postlane dead-letters`. */
export const deadLetters = Command.make("dead-letters", {}, () => runList(50)).pipe(
  Command.withDescription(
    "Retries that were received three times without an end, or that cannot be read. Without a subcommand: the list."
  ),
  Command.withSubcommands([list, redrive, remove])
)
