import { Effect, FileSystem, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import * as Suppressions from "../../adapters/postgres/mail/suppression-list.ts"
import type { BadRecord } from "../../domain/mail/export-records.ts"
import { suppressionReader } from "../../domain/mail/suppression/import.ts"
import { type Suppression, SuppressionReason } from "../../domain/mail/suppression/policy.ts"
import { SuppressionList } from "../../ports/mail/suppression-list.ts"
import { onDatabase } from "./installation.ts"
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

/** Reads the file as it comes, and saves its entries in batches: neither is ever held as a whole. */
const importFile = Effect.fnUntraced(function* (
  path: string,
  reason: SuppressionReason | undefined,
  save: Save
) {
  const files = yield* FileSystem.FileSystem
  const outcome: Outcome = {
    found: { hard_bounce: 0, complaint: 0, manual: 0 },
    added: 0,
    bad: 0,
    badLines: []
  }
  const reader = suppressionReader(reason)
  const pieces = Stream.decodeText(files.stream(path)).pipe(Stream.map((piece) => reader.feed(piece)))
  yield* Stream.concat(
    pieces,
    Stream.suspend(() => Stream.make(reader.end()))
  ).pipe(
    Stream.flattenIterable,
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
    Stream.runForEach((entries) => Effect.map(save(entries), (added) => void (outcome.added += added))),
    Effect.catchTag("PlatformError", (error) =>
      Effect.fail(new CommandFailed({ message: `${visible(path)} cannot be read: ${error.message}` }))
    )
  )
  return outcome
})

const total = ({ found }: Outcome) => found.hard_bounce + found.complaint + found.manual

const textOf = (outcome: Outcome, dryRun: boolean): string => {
  const { added, found } = outcome
  const known = total(outcome) - added
  return [
    `${counted(total(outcome), "suppression")} in the file: ${found.hard_bounce} hard bounces, ${found.complaint} complaints, ${found.manual} manual.`,
    dryRun
      ? "Nothing was imported (--dry-run)."
      : `${added} added; ${known} stood on the list already, or twice in the file.`
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

const suppressions = Command.make(
  "suppressions",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("The export: CSV, JSON, or one JSON object a line")
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
  },
  ({ dryRun, file, note, reason }) =>
    telling(
      Effect.gen(function* () {
        const { user } = yield* Shell
        const run = (save: Save) => importFile(file, Option.getOrUndefined(reason), save)
        const outcome = yield* dryRun
          ? run(() => Effect.succeed(0))
          : onDatabase(() =>
              Effect.gen(function* () {
                const list = yield* SuppressionList
                return yield* run((entries) =>
                  list.addAll({ entries, actor: `cli:${user}`, note: Option.getOrUndefined(note) }).pipe(
                    Effect.mapError(
                      () =>
                        new CommandFailed({
                          message:
                            "The suppression list does not answer now. What was read so far is kept: import the file again. See: postlane doctor"
                        })
                    )
                  )
                )
              }).pipe(Effect.provide(Suppressions.layer))
            )
        if (total(outcome) === 0 && outcome.bad === 0) {
          return yield* new CommandFailed({ message: `${visible(file)} holds no suppressions` })
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
    "Import the suppression list of Resend, Amazon SES, Postmark or SendGrid as they export it. Importing again adds nothing twice. Lines that cannot be read are named, the others are imported."
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
    }
  ])
)

/** `postlane import`. */
export const importCommand = Command.make("import").pipe(
  Command.withDescription("Bring along what another provider knows."),
  Command.withShortDescription("Import from another provider"),
  Command.withSubcommands([suppressions])
)
