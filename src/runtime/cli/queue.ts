import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import * as PostgresSendQueue from "../../adapters/postgres/mail/send-queue.ts"
import { isUuid, QueueId } from "../../domain/ids.ts"
import { Category } from "../../domain/mail/suppression/policy.ts"
import { type QueueOverview, SendQueue, type UpcomingMail } from "../../ports/mail/send-queue.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { onDatabase } from "./installation.ts"
import { CommandFailed, print, telling, Shell } from "./shell.ts"
import { type Column, layoutTable, visible } from "./table.ts"

const unavailable = (error: StoreUnavailable) =>
  Effect.logDebug("the send queue does not answer", error).pipe(
    Effect.andThen(
      Effect.fail(new CommandFailed({ message: "The send queue does not answer now. See: postlane doctor" }))
    )
  )

const onQueue = <A>(use: (queue: SendQueue["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
  onDatabase(() =>
    SendQueue.use(use).pipe(
      Effect.catchTag("StoreUnavailable", unavailable),
      Effect.provide(PostgresSendQueue.layer)
    )
  )

const shownTime = (iso: string | null): string => (iso ?? "-").slice(0, 19).replace("T", " ")
const isoOf = (at: number): string => new Date(at).toISOString()

const CATEGORIES: ReadonlyArray<Column<QueueOverview["categories"][number]>> = [
  { title: "CATEGORY", cell: ({ category }) => category },
  { title: "DUE", cell: ({ due }) => String(due) },
  { title: "LATER", cell: ({ later }) => String(later) },
  { title: "SENDING", cell: ({ sending }) => String(sending) },
  { title: "DEFERRED", cell: ({ deferred }) => String(deferred) },
  { title: "OLDEST DUE (UTC)", cell: ({ oldestDueAt }) => shownTime(oldestDueAt) }
]

const MAILS: ReadonlyArray<Column<UpcomingMail>> = [
  { title: "ID", cell: ({ id }) => id },
  {
    title: "NEXT (UTC)",
    cell: ({ nextAttemptAt }) => shownTime(nextAttemptAt === null ? null : isoOf(nextAttemptAt))
  },
  { title: "CATEGORY", cell: (mail) => mail.category },
  { title: "STATE", cell: ({ state }) => state },
  { title: "TO", cell: ({ to }) => to.join(", "), flexible: true },
  { title: "SUBJECT", cell: ({ subject }) => subject, flexible: true },
  { title: "ERROR", cell: ({ error }) => error ?? "-", flexible: true }
]

const limit = Flag.Int("limit").pipe(
  Flag.withAlias("n"),
  Flag.withDescription("How many mails to show, 1 to 200"),
  Flag.filter(
    (count) => count >= 1 && count <= 200,
    () => "must be from 1 to 200"
  ),
  Flag.withDefault(50)
)

const category = (description: string) =>
  Flag.Literals("category", Category.literals).pipe(Flag.withDescription(description), Flag.optional)

/** What holds mail back. */
const holds = ({ pace, paused }: QueueOverview): ReadonlyArray<string> => [
  ...paused.map(
    ({ actor, pausedAt, scope }) =>
      `Paused: ${scope === "*" ? "everything" : scope}, since ${shownTime(pausedAt)} UTC, by ${visible(actor)}.`
  ),
  ...pace.flatMap(({ heldUntil, provider }) =>
    heldUntil === null ? [] : [`${provider} takes nothing before ${shownTime(heldUntil)} UTC.`]
  )
]

const runList = (wanted: Category | undefined, count: number) =>
  telling(
    Effect.gen(function* () {
      const { overview, upcoming } = yield* onQueue((queue) =>
        Effect.all({
          overview: queue.overview,
          upcoming: queue.upcoming({ category: wanted, limit: count })
        })
      )
      const { columns } = yield* Shell
      const table = <Row>(
        of: ReadonlyArray<Column<Row>>,
        rows: ReadonlyArray<Row>
      ): ReadonlyArray<string> => {
        const { heading, line } = layoutTable(of, rows, columns)
        return rows.length === 0
          ? []
          : [[...(heading === undefined ? [] : [heading]), ...rows.map(line)].join("\n")]
      }
      yield* print({
        json: {
          ...overview,
          upcoming: upcoming.map(({ id, nextAttemptAt, sendAt, ...mail }) => ({
            queueId: id,
            ...mail,
            sendAt: isoOf(sendAt),
            nextAttemptAt: nextAttemptAt === null ? null : isoOf(nextAttemptAt)
          }))
        },
        text: [
          ...(overview.categories.length === 0 ? ["Nothing waits in the send queue."] : []),
          ...table(CATEGORIES, overview.categories),
          ...holds(overview),
          ...table(MAILS, upcoming)
        ].join("\n\n")
      })
    })
  )

const list = Command.make("list", { category: category("Only mails of this category"), limit }, (input) =>
  runList(Option.getOrUndefined(input.category), input.limit)
).pipe(Command.withDescription("Show what waits, what holds it back, and the mails that are sent next."))

const cancel = Command.make(
  "cancel",
  { id: Argument.String("id").pipe(Argument.withDescription("Id of a queued mail, as the list shows it")) },
  ({ id }) =>
    telling(
      Effect.gen(function* () {
        const state = isUuid(id) ? yield* onQueue((queue) => queue.cancel(QueueId.make(id))) : undefined
        const isCancelled = state === "cancelled"
        yield* print({
          json: { queueId: id, state: state ?? null },
          text: isCancelled ? `${id} is cancelled and will not be sent.` : "",
          problem: isCancelled
            ? undefined
            : state === undefined
              ? `There is no queued mail ${visible(id)}.`
              : `${id} cannot be cancelled any more: it is ${state}.`
        })
      })
    )
).pipe(
  Command.withDescription("Cancel a mail that waits. One that is being sent, or has ended, stays as it is.")
)

const switching = (name: "pause" | "resume", about: string) =>
  Command.make(name, { category: category("Only this category (default: everything)") }, (input) =>
    telling(
      Effect.gen(function* () {
        const { user } = yield* Shell
        const chosen = Option.getOrUndefined(input.category)
        const isPaused = name === "pause"
        const { changed, overview } = yield* onQueue((queue) =>
          Effect.all({
            changed: queue.pause({ category: chosen, actor: `cli:${user}`, isPaused }),
            overview: queue.overview
          })
        )
        const now = isPaused ? "paused" : "not paused"
        // A category and the whole are paused each by itself (QUEUE-8).
        const others = overview.paused.filter(({ scope }) => chosen === undefined || scope === "*")
        const rest = isPaused ? [] : holds({ ...overview, pace: [], paused: others })
        yield* print({
          json: { scope: chosen ?? "*", paused: isPaused, changed },
          text: [
            `The send queue is ${changed ? "" : "already "}${now}: ${chosen ?? "everything"}${rest.length > 0 ? ", but for another pause" : ""}.`,
            ...rest
          ].join("\n")
        })
      })
    )
  ).pipe(Command.withDescription(about))

/** `postlane queue`. */
export const queue = Command.make("queue", {}, () => runList(undefined, 50)).pipe(
  Command.withDescription(
    "The send queue: mails that leave at the pace of their provider, or at their time. Without a subcommand: the list."
  ),
  Command.withSubcommands([
    list,
    cancel,
    switching(
      "pause",
      "Send nothing more of the queue, or of one category of it. What is under way ends; new mails are queued."
    ),
    switching(
      "resume",
      "Send again. Without a category only the pause of everything is lifted: a category that was paused stays so."
    )
  ])
)
