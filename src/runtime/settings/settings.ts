import { Result } from "effect"

import { contradictions, requirements } from "./checks.ts"
import { nearestName } from "./setting.ts"
import { assemble, type DecodeOptions, type Env, type SettingProblem, type Settings } from "./shape.ts"
import { SETTING_NAMES, type SettingName, settingOf, type Values } from "./table.ts"

export { advice, requirements } from "./checks.ts"
export type { CloudCredentials, DecodeOptions, Env, SettingProblem, Settings } from "./shape.ts"
export type { DeferQueueAddress, Role } from "./readers.ts"

/** Prefixes used by Postlane only: an unknown name with one is probably a typo. */
const OUR_PREFIX = /^(?:EMAIL|POSTLANE|PROVIDERA|PROVIDERB|BATCH_CONVERSION|MAILAPI|HIFI)_/

const names: ReadonlyArray<string> = SETTING_NAMES.flatMap((name) => {
  const { alias } = settingOf(name)
  return alias === undefined ? [name] : [name, alias]
})

/** What is generated and kept in the data folder under `POSTLANE_EMBEDDED=1`, where it is unset. */
export const GENERATED_SECRETS: ReadonlyArray<SettingName> = SETTING_NAMES.filter(
  (name) => settingOf(name).generated === true
)

/** The trimmed text of a setting, `undefined` where it is unset or empty. Edge bindings may hold values of other types. */
const textOf = (env: Env, name: string): string | undefined => {
  const value: unknown = env[name]
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined
}

const readAll = (env: Env, problems: Array<SettingProblem>): Values => {
  const values: Partial<Record<SettingName, unknown>> = {}
  for (const name of SETTING_NAMES) {
    const setting = settingOf(name)
    const own = textOf(env, name)
    const viaAlias = own === undefined && setting.alias !== undefined ? textOf(env, setting.alias) : undefined
    const given = own ?? viaAlias ?? setting.fallback
    if (given === undefined) continue
    const read = setting.read(given)
    if (Result.isSuccess(read)) values[name] = read.success
    else {
      const fallback = setting.fallback ?? setting.otherwise
      const advice = fallback === undefined ? "" : ` (unset: ${fallback})`
      problems.push({
        setting: viaAlias === undefined ? name : setting.alias!,
        message: `${read.failure}${advice}`
      })
      if (setting.fallback !== undefined) values[name] = Result.getOrUndefined(setting.read(setting.fallback))
    }
  }
  return values as Values
}

const unknownNames = (env: Env): ReadonlyArray<SettingProblem> =>
  Object.keys(env)
    .filter((name) => OUR_PREFIX.test(name) && !names.includes(name))
    .map((name) => {
      const nearest = nearestName(name, names)
      return {
        setting: name,
        message: `is not a setting, and is ignored${nearest === undefined ? "" : `; did you mean ${nearest}?`}`
      }
    })

/** Decodes all settings. Pure; every problem is reported, each under the name of its setting. */
export const decodeSettings = (
  env: Env,
  options: DecodeOptions
): Result.Result<Settings, ReadonlyArray<SettingProblem>> => {
  const unreadable: Array<SettingProblem> = []
  const values = readAll(env, unreadable)
  const settings = assemble(env, values, options, [])
  const { problems, warnings } = contradictions(
    values,
    settings,
    options,
    new Set(unreadable.map((problem) => problem.setting))
  )
  const wrong = [...unreadable, ...problems]
  const missing = options.server === true && !settings.embedded ? requirements(settings) : []
  const all = [...wrong, ...missing.filter(({ setting }) => !wrong.some((one) => one.setting === setting))]
  return all.length > 0
    ? Result.fail(all)
    : Result.succeed({ ...settings, warnings: [...unknownNames(env), ...warnings] })
}

/** Problems as the lines that a person reads. */
export const formatProblems = (problems: ReadonlyArray<SettingProblem>): string =>
  problems.map(({ setting, message }) => `  ${setting} ${message}`).join("\n")
