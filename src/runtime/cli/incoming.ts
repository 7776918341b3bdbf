import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import * as PostgresMails from "../../adapters/postgres/inbound/incoming-mails.ts"
import { MailId } from "../../domain/ids.ts"
import { MailOutcome } from "../../domain/inbound/mail-outcome.ts"
import {
  type IncomingMailFilter,
  type IncomingMailRow,
  IncomingMails,
  MAIL_STEPS,
  MAX_MAIL_PAGE
} from "../../ports/inbound/incoming-mails.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { onDatabase } from "./installation.ts"
import { CommandFailed, print, Shell, telling } from "./shell.ts"
import { type Column, layoutTable, visible } from "./table.ts"

const unavailable = (error: StoreUnavailable) =>
  Effect.logDebug("the mails do not answer", error).pipe(
    Effect.andThen(
      Effect.fail(new CommandFailed({ message: "The mails do not answer now. See: postlane doctor" }))
    )
  )

const onMails = <A, E, R>(use: (mails: IncomingMails["Service"]) => Effect.Effect<A, E, R>) =>
  onDatabase(() => Effect.provide(IncomingMails.use(use), PostgresMails.layer))

/** How a mail ended, or what it waits for. */
const stateOf = ({ failingPart, outcome, step }: IncomingMailRow): string =>
  outcome ?? (failingPart === null ? step : `${step}, waits: ${failingPart}`)

const COLUMNS: ReadonlyArray<Column<IncomingMailRow>> = [
  { title: "ID", cell: ({ id }) => id },
  { title: "ARRIVED (UTC)", cell: ({ createdAt }) => createdAt.slice(0, 19).replace("T", " ") },
  { title: "FROM", cell: ({ envelopeFrom, sender }) => sender ?? `(${envelopeFrom})`, flexible: true },
  { title: "FILE", cell: ({ filename }) => filename ?? "-", flexible: true },
  { title: "CREDITS", cell: ({ creditsCharged }) => String(creditsCharged) },
  { title: "STATE", cell: stateOf },
  { title: "WHY", cell: ({ reason }) => reason ?? "-", flexible: true },
  {
    title: "REPLIES",
    cell: ({ replies }) => replies.map(({ kind, status }) => `${kind}: ${status}`).join(", ") || "-",
    flexible: true
  }
]

const id = Argument.String("id").pipe(
  Argument.withDescription("Id of a mail, as the list shows it"),
  Argument.filter(
    (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
    () => "must be an id of the list"
  )
)

const filters = {
  step: Flag.Literals("step", MAIL_STEPS).pipe(
    Flag.withDescription("Only those at this step"),
    Flag.optional
  ),
  outcome: Flag.Literals("outcome", MailOutcome.literals).pipe(
    Flag.withDescription("Only those that ended so"),
    Flag.optional
  ),
  from: Flag.String("from").pipe(Flag.withDescription("Only those of this address"), Flag.optional),
  limit: Flag.Int("limit").pipe(
    Flag.withAlias("n"),
    Flag.withDescription(`How many to show, 1 to ${MAX_MAIL_PAGE}`),
    Flag.filter(
      (count) => count >= 1 && count <= MAX_MAIL_PAGE,
      () => `must be from 1 to ${MAX_MAIL_PAGE}`
    ),
    Flag.withDefault(50)
  )
}

const runList = (filter: IncomingMailFilter) =>
  telling(
    Effect.gen(function* () {
      const { rows } = yield* onMails((mails) =>
        mails.page(filter).pipe(
          Effect.catchTag("StoreUnavailable", unavailable),
          // None is passed on.
          Effect.catchTag("InvalidCursor", Effect.die)
        )
      )
      const table = layoutTable(COLUMNS, rows, (yield* Shell).columns)
      yield* print({
        json: { mails: rows },
        text:
          rows.length === 0
            ? "No mails."
            : [...(table.heading === undefined ? [] : [table.heading]), ...rows.map(table.line)].join("\n")
      })
    })
  )

const list = Command.make("list", filters, ({ from, limit, outcome, step }) =>
  runList({
    limit,
    step: step._tag === "Some" ? step.value : undefined,
    outcome: outcome._tag === "Some" ? outcome.value : undefined,
    sender: from._tag === "Some" ? from.value.trim().toLowerCase() : undefined
  })
).pipe(Command.withDescription("List the mails to the convert address, newest first."))

/** What was done about a mail, or why not. */
const tell = (mailId: string, answer: string | undefined, done: string, ended: string) =>
  print({
    json: { mailId, done: answer !== undefined && answer !== "ended" },
    text: answer === undefined || answer === "ended" ? "" : done,
    problem:
      answer === undefined ? `There is no mail ${visible(mailId)}.` : answer === "ended" ? ended : undefined
  })

const retry = Command.make("retry", { id }, (input) =>
  telling(
    Effect.gen(function* () {
      const answer = yield* onMails((mails) =>
        mails.retry(MailId.make(input.id)).pipe(Effect.catchTag("StoreUnavailable", unavailable))
      )
      yield* tell(
        input.id,
        answer,
        `${input.id} is tried again now.`,
        "The mail has ended, and has no reply that did not go out."
      )
    })
  )
).pipe(
  Command.withDescription(
    "Try a mail again now: one that waits, or the replies of one that has ended that did not go out."
  )
)

const setAside = Command.make("set-aside", { id }, (input) =>
  telling(
    Effect.gen(function* () {
      const { user } = yield* Shell
      const answer = yield* onMails((mails) =>
        mails
          .setAside(MailId.make(input.id), {
            reason: `set aside by ${user} with postlane incoming`,
            reply: "The mail was set aside by the operator, and nothing in it was converted."
          })
          .pipe(Effect.catchTag("StoreUnavailable", unavailable))
      )
      yield* tell(input.id, answer, `${input.id} has ended; nothing was charged.`, "The mail has ended.")
    })
  )
).pipe(
  Command.withDescription(
    "End a mail that has not ended. Nothing is charged; a customer gets an error reply."
  )
)

/** `postlane incoming`: the list, unless a subcommand is named. */
export const incoming = Command.make("incoming", {}, () => runList({ limit: 50 })).pipe(
  Command.withDescription("What became of the mails to the convert address, and what can be done about one."),
  Command.withExamples([
    { command: "postlane incoming", description: "The newest" },
    {
      command: "postlane incoming list --outcome unverified",
      description: "Mails with an unverified sender"
    }
  ]),
  Command.withSubcommands([list, retry, setAside])
)
