import { type Context, type Logger, Result } from "effect"

import { lineLogger, type LogSink } from "./log-lines.ts"
import { scrubOf } from "./scrub.ts"
import { SETTING_NAMES, settingOf } from "./settings-table.ts"
import { decodeSettings, type Env, type SettingProblem, type Settings } from "./settings.ts"

/** What a worker gets as `env`: settings as texts, numbers and booleans, and bindings of other kinds. */
export type Bindings = Readonly<Record<string, unknown>>

// oxlint-disable-next-line no-console -- a worker's console is its log
const sink: LogSink = { write: (line) => console.log(line.trimEnd()) }

/** The settings of these groups. The listener's and the roles' mean nothing here, whatever a binding of that name holds. */
const envOf = (bindings: Bindings, groups: ReadonlySet<string>): Env => {
  const given: Record<string, string> = {}
  for (const name of SETTING_NAMES) {
    const { alias, group } = settingOf(name)
    if (!groups.has(group) || (group === "service" && name !== "BASE_URL")) continue
    for (const one of alias === undefined ? [name] : [name, alias]) {
      const value = bindings[one]
      if (typeof value === "string") given[one] = value
      else if (typeof value === "number" || typeof value === "boolean") given[one] = String(value)
    }
  }
  return given
}

/** The settings of a call, and the loggers that know its secrets. */
export interface BoundSettings {
  readonly settings: Result.Result<Settings, ReadonlyArray<SettingProblem>>
  readonly loggers: Context.Service.Shape<typeof Logger.CurrentLoggers>
}

/** Reads the settings of these groups at each call: bindings belong to it. */
export const readBindings = (bindings: Bindings, groups: ReadonlySet<string>): BoundSettings => {
  const settings = decodeSettings(envOf(bindings, groups), { embedded: false, library: true, edge: true })
  const scrub = Result.isSuccess(settings) ? scrubOf(settings.success) : (text: string) => text
  return { settings, loggers: new Set([lineLogger(sink, scrub)]) }
}
