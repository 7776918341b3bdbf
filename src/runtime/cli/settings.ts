import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"

import { nearestName } from "../../domain/nearest-name.ts"
import { defaultOf, type Setting } from "../settings/setting.ts"
import { AREAS, SETTINGS } from "../settings/table.ts"
import { CommandFailed, print, Shell, telling } from "./shell.ts"
import { type Column, layoutTable } from "./table.ts"

const name = Argument.String("name").pipe(
  Argument.withDescription("The setting, such as DB_URL, or a part of its name; all where it is left out"),
  Argument.optional
)

/** An entry without its value, which may be a secret. */
interface Shown {
  readonly name: string
  readonly alias: string | null
  readonly secret: boolean
  readonly default: string
  readonly isSet: boolean
  readonly about: string
}

const shownOf =
  (env: Readonly<Record<string, string | undefined>>) =>
  (setting: Setting): Shown => {
    const { about, alias, name: own, secret } = setting
    const isSet = [own, alias].some((one) => one !== undefined && (env[one] ?? "") !== "")
    return {
      name: own,
      alias: alias ?? null,
      secret,
      default: defaultOf(setting, (value) => value),
      isSet,
      about
    }
  }

const entryOf = ({ about, alias, default: standard, isSet, name: own, secret }: Shown): string =>
  [
    `${own}${alias === null ? "" : ` (or ${alias})`}${secret ? ", a secret" : ""}`,
    `  ${about}`,
    `  Default: ${standard}. Here it is ${isSet ? "set" : "not set"}.`
  ].join("\n")

const COLUMNS: ReadonlyArray<Column<Shown>> = [
  { title: "NAME", cell: ({ name: own }) => own },
  { title: "SET", cell: ({ isSet }) => (isSet ? "yes" : "") },
  { title: "MEANING", cell: ({ about }) => about, flexible: true }
]

/** All of them, by area. */
const listOf = (shown: (setting: Setting) => Shown, width: number | undefined): string =>
  Object.values(AREAS)
    .map(({ settings: all, title }) => {
      const rows = Object.values<Setting>(all).map(shown)
      const { line } = layoutTable(COLUMNS, rows, width)
      return [title, ...rows.map((row) => `  ${line(row)}`)].join("\n")
    })
    .join("\n\n")

/** Settings with this name, or with a part of it in theirs. */
const foundBy = (text: string): ReadonlyArray<Setting> => {
  const wanted = text.toUpperCase()
  const exact = SETTINGS.filter(({ alias, name: own }) => own === wanted || alias === wanted)
  return exact.length > 0 ? exact : SETTINGS.filter(({ name: own }) => own.includes(wanted))
}

/** `postlane settings`. */
export const settings = Command.make("settings", { name }, (input) =>
  telling(
    Effect.gen(function* () {
      const { columns, env } = yield* Shell
      const shown = shownOf(env)
      const asked = Option.getOrUndefined(input.name)
      if (asked === undefined)
        return yield* print({ json: { settings: SETTINGS.map(shown) }, text: listOf(shown, columns) })
      const found = foundBy(asked).map(shown)
      if (found.length === 0) {
        const near = nearestName(
          asked,
          SETTINGS.map(({ name: own }) => own)
        )
        return yield* new CommandFailed({
          message: `There is no setting ${asked}${near === undefined ? "." : `; is it ${near}?`} All of them: postlane settings`
        })
      }
      yield* print({ json: { settings: found }, text: found.map(entryOf).join("\n\n") })
    })
  )
).pipe(
  Command.withDescription(
    "Say what the settings mean, what holds while they are unset, and which are set here. Values are not shown."
  ),
  Command.withExamples([
    { command: "postlane settings", description: "All of them" },
    { command: "postlane settings EMAIL_DEFER", description: "Those with this in their name" }
  ])
)
