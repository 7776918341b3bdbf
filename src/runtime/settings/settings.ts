import { Result, Schema, SchemaIssue } from "effect"

import { contradictions, degradations, edgeLimits, oddities, requirements, unknownNames } from "./checks.ts"
import { complete, type DecodeOptions, type Env, type SettingProblem, type Settings } from "./complete.ts"
import type { ProviderArea } from "./providers.ts"
import { SETTINGS, Values } from "./table.ts"

export { advice, requirements } from "./checks.ts"
export type { DecodeOptions, Env, SettingProblem, Settings } from "./complete.ts"
export type { Role } from "./shapes.ts"

/** The slices of the settings that each area takes. */
export type MailSettings = Pick<
  Settings,
  | "cloud"
  | "bounceAddress"
  | "domains"
  | "embedded"
  | "http"
  | ProviderArea
  | "retryQueue"
  | "sendQueue"
  | "sending"
>
export type DeliverySettings = Pick<
  Settings,
  | "access"
  | "alerts"
  | "bounceAddress"
  | "domains"
  | "embedded"
  | "eventHooks"
  | "events"
  | "http"
  | ProviderArea
>
export type AccountSettings = Pick<Settings, "access" | "alerts" | "domains" | "embedded" | "http">
export type StoreSettings = Pick<
  Settings,
  "batch" | "cloud" | "conversion" | "dataDir" | "embedded" | "intake" | "roles"
>
export type BatchSettings = Pick<Settings, "batch" | "cloud" | "conversion" | "embedded">
export type ConversionSettings = BatchSettings & StoreSettings
export type InboundSettings = Pick<
  Settings,
  | "bounceAddress"
  | "cloud"
  | "conversion"
  | "domains"
  | "embedded"
  | "http"
  | "intake"
  | "sending"
  | "submission"
>
export type SharingSettings = Pick<Settings, "domains" | "http" | "sending">
export type OutreachSettings = Pick<Settings, "domains" | "http" | "providerB" | "sending">

/** What is generated and kept in the data folder under `POSTLANE_EMBEDDED=1`, where it is unset. */
export const GENERATED_SECRETS = SETTINGS.filter(({ generated }) => generated === true).map(
  ({ name }) => name
)

/** The trimmed text of a setting, `undefined` where it is unset or empty. Edge bindings may hold values of other types. */
const textOf = (env: Env, name: string): string | undefined => {
  const value: unknown = env[name]
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined
}

/** The texts by area and field: as set, or the default when unset or in `refused`. */
const textsOf = (env: Env, refused: ReadonlyMap<string, unknown>) => {
  const texts: Record<string, Record<string, string | undefined>> = {}
  for (const { alias, area, fallback, field, name } of SETTINGS) {
    const set = refused.has(name) ? undefined : (textOf(env, name) ?? textOf(env, alias ?? name))
    texts[area] = { ...texts[area], [field]: set ?? fallback }
  }
  return texts
}

const decode = Schema.decodeUnknownResult(Values, { errors: "all" })
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** What is wrong with each setting that cannot be read, by its name. */
const unreadable = (env: Env, error: Schema.SchemaError): ReadonlyMap<string, SettingProblem> =>
  new Map(
    issuesOf(error.issue).issues.flatMap(({ message, path }) =>
      SETTINGS.filter(({ area, field }) => path?.[0] === area && path[1] === field).map(
        ({ alias, fallback, name, otherwise }) => {
          const unset = fallback ?? otherwise
          return [
            name,
            {
              setting: textOf(env, name) === undefined ? (alias ?? name) : name,
              message: unset === undefined ? message : `${message} (unset: ${unset})`
            }
          ] as const
        }
      )
    )
  )

/** Decodes all settings. Pure; every problem is reported, each under the name of its setting. */
export const decodeSettings = (
  env: Env,
  options: DecodeOptions
): Result.Result<Settings, ReadonlyArray<SettingProblem>> => {
  const first = decode(textsOf(env, new Map()))
  const refused = Result.isSuccess(first) ? new Map<string, never>() : unreadable(env, first.failure)
  const values = Result.getOrThrow(refused.size === 0 ? first : decode(textsOf(env, refused)))
  const completed = complete(env, values, options)
  const readable = (...names: ReadonlyArray<string>) => !names.some((name) => refused.has(name))
  const given = { values, settings: completed, readable }
  const degraded = degradations(given)
  const staysUp = options.library === true || completed.embedded
  const warnings = [...unknownNames(env), ...(staysUp ? degraded : []), ...oddities(given)]
  const settings = { ...completed, warnings }
  const wrong = [
    ...refused.values(),
    ...contradictions(given),
    ...(options.edge === true ? edgeLimits(given) : []),
    ...(staysUp ? [] : degraded)
  ]
  const missing = options.server === true && !settings.embedded ? requirements(settings) : []
  const all = [...wrong, ...missing.filter(({ setting }) => !wrong.some((one) => one.setting === setting))]
  return all.length > 0 ? Result.fail(all) : Result.succeed(settings)
}

/** Problems as the lines that a person reads. */
export const formatProblems = (problems: ReadonlyArray<SettingProblem>): string =>
  problems.map(({ setting, message }) => `  ${setting} ${message}`).join("\n")
