import { Effect, FileSystem, Option, type PlatformError, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import * as Preferences from "../../adapters/postgres/mail/preferences.ts"
import * as Suppressions from "../../adapters/postgres/mail/suppression-list.ts"
import type { BadRecord } from "../../domain/mail/export-records.ts"
import { ListName } from "../../domain/mail/message.ts"
import { entryOf, suppressionReader } from "../../domain/mail/suppression/import.ts"
import {
  type Suppression,
  SUPPRESSION_REASONS,
  SuppressionReason
} from "../../domain/mail/suppression/policy.ts"
import { MailPreferences } from "../../ports/mail/preferences.ts"
import { SuppressionList } from "../../ports/mail/suppression-list.ts"
import { installation, onDatabase } from "./installation.ts"
import { CommandFailed, print, telling, Shell } from "./shell.ts"
import { counted, visible } from "./table.ts"

/** Entries that go to the database in one statement. */
const BATCH = 500

/** Bad lines that are named; the rest are counted. */
const MAX_NAMED = 20

/** What an import has come to. */
interface Outcome {
  readonly found: Record<SuppressionReason, number>
  added: number
  bad: number
  readonly badLines: Array<BadRecord>
}

type Save = (entries: ReadonlyArray<Suppression>) => Effect.Effect<number, CommandFailed>

type Found = Suppression | BadRecord

const unreadable = (path: string) => (error: PlatformError.PlatformError) =>
  new CommandFailed({ message: `${visible(path)} cannot be read: ${error.message}` })

const PARTIAL =
  "holds the first page of a list only (NextToken, has_more). Let this command read all pages by the API, with --from ses or --from resend; or write every page into the file"

/** The file's records as they come; fails at its end where that is the end of a page. */
const recordsOf = (path: string, reason: SuppressionReason | undefined) =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, (files) => {
      const reader = suppressionReader(reason)
      const pieces = Stream.decodeText(files.stream(path)).pipe(
        Stream.map((piece): ReadonlyArray<Found> => reader.feed(piece)),
        Stream.mapError(unreadable(path))
      )
      const end = Stream.suspend(() => {
        const last = Stream.make<ReadonlyArray<ReadonlyArray<Found>>>(reader.end())
        return reader.isPartial()
          ? Stream.concat(last, Stream.fail(new CommandFailed({ message: `${visible(path)} ${PARTIAL}` })))
          : last
      })
      return Stream.concat(pieces, end).pipe(Stream.flattenIterable)
    })
  )

/** The file's records, once it is known to be no mere page; what is no file on a disk can be read but once. */
const wholeFile = Effect.fnUntraced(function* (path: string, reason: SuppressionReason | undefined) {
  const files = yield* FileSystem.FileSystem
  const { type } = yield* Effect.mapError(files.stat(path), unreadable(path))
  if (type === "File") yield* Stream.runDrain(recordsOf(path, reason))
  return recordsOf(path, reason)
})

const SOURCES = ["ses", "resend", "postmark"] as const

/** A provider's own list, numbered. */
const listOf = (from: (typeof SOURCES)[number]) =>
  Effect.gen(function* () {
    const { credentials, settings } = yield* installation
    const { providerA, providerB } = settings
    if (from === "ses") {
      const { suppressionsOfAccount } = yield* Effect.promise(
        () => import("../../adapters/ses/suppressions.ts")
      )
      return suppressionsOfAccount({ region: providerB.region, endpoint: providerB.endpoint, credentials })
    }
    if (from === "postmark") {
      const { baseUrl, messageStream, serverToken } = settings.postmark
      if (serverToken === undefined)
        return yield* new CommandFailed({ message: "POSTMARK_SERVER_TOKEN is unset: give it a server token" })
      const { suppressionsOfServer } = yield* Effect.promise(
        () => import("../../adapters/postmark/suppressions.ts")
      )
      return suppressionsOfServer({ serverToken, baseUrl, messageStream })
    }
    const { apiKey, baseUrl, userAgent } = providerA
    if (apiKey === undefined)
      return yield* new CommandFailed({
        message: "PROVIDERA_API_KEY is unset: give it a key with full access"
      })
    const { suppressionsOfTeam } = yield* Effect.promise(
      () => import("../../adapters/resend/suppressions.ts")
    )
    return suppressionsOfTeam({ apiKey, baseUrl, userAgent })
  }).pipe(
    Effect.map((records) =>
      records.pipe(
        Stream.zipWithIndex,
        Stream.map(([record, index]) => entryOf({ ...record, line: index + 1 }, undefined)),
        Stream.mapError(
          ({ message }) =>
            new CommandFailed({
              message: `${message}. What was read so far is kept, and is not all: run the command again`
            })
        )
      )
    )
  )

/** Saves what is found in batches, as it comes: it is never held as a whole. */
const save = Effect.fnUntraced(function* <R>(found: Stream.Stream<Found, CommandFailed, R>, write: Save) {
  const outcome: Outcome = {
    found: Object.fromEntries(SuppressionReason.literals.map((reason) => [reason, 0])) as Outcome["found"],
    added: 0,
    bad: 0,
    badLines: []
  }
  yield* found.pipe(
    Stream.filter((one): one is Suppression => {
      if ("email" in one) {
        outcome.found[one.reason] += 1
        return true
      }
      outcome.bad += 1
      if (outcome.badLines.length < MAX_NAMED) outcome.badLines.push(one)
      return false
    }),
    Stream.grouped(BATCH),
    Stream.runForEach((entries) => Effect.map(write(entries), (added) => void (outcome.added += added)))
  )
  return outcome
})

const total = ({ found }: Outcome) =>
  SuppressionReason.literals.reduce((sum, reason) => sum + found[reason], 0)

const textOf = (outcome: Outcome, dryRun: boolean): string => {
  const { added, found } = outcome
  const known = total(outcome) - added
  return [
    `${counted(total(outcome), "suppression")} in all: ${SuppressionReason.literals
      .map((reason) => `${found[reason]} ${SUPPRESSION_REASONS[reason].listed.many}`)
      .join(", ")}.`,
    dryRun
      ? "Nothing was imported (--dry-run)."
      : `${added} added; ${known} stood on the list already, or twice in what was read.`
  ].join("\n")
}

/** The lines that could not be read, and why. */
const problemOf = ({ bad, badLines }: Outcome): string | undefined =>
  bad === 0
    ? undefined
    : [
        `${counted(bad, "line")} could not be read:`,
        ...badLines.map(({ line, problem }) => `  line ${line}: ${visible(problem)}`),
        ...(bad > badLines.length ? [`  and ${bad - badLines.length} more`] : [])
      ].join("\n")

const input = {
  file: Argument.String("file").pipe(
    Argument.withDescription("The export: CSV, JSON, or one JSON object a line"),
    Argument.optional
  ),
  from: Flag.Literals("from", SOURCES).pipe(
    Flag.withDescription(
      "Read the list of Amazon SES (ses), Resend (resend) or Postmark (postmark) by its API instead, all of it"
    ),
    Flag.optional
  ),
  reason: Flag.Literals("reason", SuppressionReason.literals).pipe(
    Flag.withDescription("Of lines that name no reason, such as SendGrid's spam reports (complaint)"),
    Flag.optional
  ),
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withDescription("Read and count, and write nothing"),
    Flag.withDefault(false)
  ),
  note: Flag.String("note").pipe(Flag.withDescription("For the list and the audit log"), Flag.optional)
}

/** Writes batches into the list of the installation. */
const saved = (found: Stream.Stream<Found, CommandFailed, FileSystem.FileSystem>, note: string | undefined) =>
  onDatabase(() =>
    Effect.gen(function* () {
      const list = yield* SuppressionList
      const { user } = yield* Shell
      return yield* save(found, (entries) =>
        list.addAll({ entries, actor: `cli:${user}`, note }).pipe(
          Effect.mapError(
            () =>
              new CommandFailed({
                message:
                  "The suppression list does not answer now. What was read so far is kept: import it again. See: postlane doctor"
              })
          )
        )
      )
    }).pipe(Effect.provide(Suppressions.layer))
  )

const suppressions = Command.make("suppressions", input, ({ dryRun, file, from, note, reason }) =>
  telling(
    Effect.gen(function* () {
      if (Option.isSome(file) === Option.isSome(from))
        return yield* new CommandFailed({ message: "Name either a file or, with --from, a provider" })
      const found = Option.isSome(from)
        ? yield* listOf(from.value)
        : yield* wholeFile(
            Option.getOrElse(file, () => ""),
            Option.getOrUndefined(reason)
          )
      const outcome = yield* dryRun
        ? save(found, () => Effect.succeed(0))
        : saved(found, Option.getOrUndefined(note))
      if (total(outcome) === 0 && outcome.bad === 0) {
        const where = Option.isSome(from)
          ? `The list of ${from.value}`
          : visible(Option.getOrElse(file, () => ""))
        return yield* new CommandFailed({ message: `${where} holds no suppressions` })
      }
      yield* print({
        json: { ok: outcome.bad === 0, dryRun, ...outcome },
        text: textOf(outcome, dryRun),
        problem: problemOf(outcome)
      })
    })
  )
).pipe(
  Command.withDescription(
    "Import the suppression list of Resend, Amazon SES, Postmark or SendGrid as they export it, or the one of Amazon SES, Resend or Postmark by its API. A file that holds only the first page of a list is refused. Importing again adds nothing twice. Lines that cannot be read are named, the others are imported."
  ),
  Command.withShortDescription("Import another provider's suppression list"),
  Command.withExamples([
    {
      command: "postlane import suppressions postmark.json --dry-run",
      description: "See what would be imported"
    },
    {
      command: "postlane import suppressions spam_reports.csv --reason complaint",
      description: "A file that does not say why"
    },
    { command: "postlane import suppressions --from ses", description: "The whole list of Amazon SES" }
  ])
)

const unsubscribes = Command.make(
  "unsubscribes",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("Addresses: CSV, JSON, or one JSON object a line")
    ),
    list: Flag.String("list").pipe(
      Flag.withSchema(ListName),
      Flag.withDescription("The list that they left (default: all marketing)"),
      Flag.optional
    ),
    note: input.note
  },
  ({ file, list, note }) =>
    telling(
      Effect.gen(function* () {
        const found = yield* wholeFile(file, "manual")
        const { user } = yield* Shell
        const outcome = yield* onDatabase(() =>
          Effect.gen(function* () {
            const preferences = yield* MailPreferences
            return yield* save(found, (entries) =>
              preferences
                .leaveAll({
                  entries: entries.map(({ email }) => ({ email, list: Option.getOrNull(list) })),
                  actor: `cli:${user}`,
                  note: Option.getOrUndefined(note)
                })
                .pipe(
                  Effect.mapError(
                    () =>
                      new CommandFailed({
                        message:
                          "The database does not answer now. What was read so far is kept: import it again. See: postlane doctor"
                      })
                  )
                )
            )
          }).pipe(Effect.provide(Preferences.layer))
        )
        const { added, bad, badLines } = outcome
        if (total(outcome) === 0 && bad === 0)
          return yield* new CommandFailed({ message: `${visible(file)} holds no addresses` })
        yield* print({
          json: { ok: bad === 0, found: total(outcome), added, bad, badLines },
          text: `${counted(total(outcome), "address", "addresses")} in all; ${added} added.`,
          problem: problemOf(outcome)
        })
      })
    )
).pipe(
  Command.withDescription(
    "Import who unsubscribed elsewhere: they get no marketing, or no mail of one list, and everything else. Importing again adds nothing twice."
  ),
  Command.withShortDescription("Import who unsubscribed elsewhere"),
  Command.withExamples([
    { command: "postlane import unsubscribes global_unsubscribes.csv", description: "Off all marketing" },
    { command: "postlane import unsubscribes weekly.csv --list weekly", description: "Off one list" }
  ])
)

/** `postlane import`. */
export const importCommand = Command.make("import").pipe(
  Command.withDescription("Bring along what another provider knows."),
  Command.withShortDescription("Import from another provider"),
  Command.withSubcommands([suppressions, unsubscribes])
)
