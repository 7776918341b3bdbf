import { Result } from "effect"

import {
  decodeSettings,
  type Env,
  formatProblems,
  type Settings
} from "../../src/runtime/settings/settings.ts"

/** Where the code and the secrets of the serverless entry are. */
export interface FunctionCode {
  readonly bucket: string
  readonly key: string
  /** In Secrets Manager: JSON with the names of settings as keys. */
  readonly secretName: string
}

/** What the cloud side is made from: the very settings that the processes run with, so that no name is written down twice. */
export interface Plan {
  readonly settings: Settings
  readonly alertEmail: string
  readonly filesBucket: string
  /** The identity's default set. */
  readonly configurationSet: string
  /** Undefined: no function is made. */
  readonly code: FunctionCode | undefined
  /** The environment that the settings were read from. */
  readonly env: Env
}

const DEFAULT_CONFIGURATION_SET = "transactional-set"

const DEFAULT_SECRET = "postlane/settings"

/** `FUNCTION_CODE=s3://BUCKET/KEY.zip` with `FUNCTION_SECRET`: what is read from nowhere else than here. */
const functionCode = (env: Env): FunctionCode | undefined => {
  const place = env["FUNCTION_CODE"] ?? ""
  if (place === "") return undefined
  const [, bucket, key] = /^s3:\/\/([a-z0-9.-]+)\/(.+\.zip)$/.exec(place) ?? []
  if (bucket === undefined || key === undefined)
    throw new Error("FUNCTION_CODE must be s3://BUCKET/KEY.zip: the function's code")
  return { bucket, key, secretName: env["FUNCTION_SECRET"] ?? DEFAULT_SECRET }
}

/** Reads the plan from the environment; the error lists everything that is missing. */
export const readPlan = (env: Env): Plan => {
  const decoded = decodeSettings(env, { embedded: false, library: true })
  if (Result.isFailure(decoded))
    throw new Error(`the settings are wrong:\n${formatProblems(decoded.failure)}`)
  const settings = decoded.success
  const alertEmail = settings.alerts.email
  const { filesBucket } = settings.conversion
  const missing = [
    ...(/\S/.test(env["SENDER_DOMAIN"] ?? "") ? [] : ["  SENDER_DOMAIN is unset: mail is sent from it"]),
    ...(settings.http.baseUrl.startsWith("https://")
      ? []
      : ["  BASE_URL must start with https://: the event bus delivers to nothing else"]),
    ...(alertEmail === undefined ? ["  ALERT_EMAIL is unset: alarms go there"] : []),
    ...(filesBucket === undefined ? ["  FILES_BUCKET is unset: it names the bucket to make"] : [])
  ]
  if (alertEmail === undefined || filesBucket === undefined || missing.length > 0)
    throw new Error(`the cloud side needs more settings:\n${missing.join("\n")}`)
  const configurationSet = settings.providerB.configurationSet ?? DEFAULT_CONFIGURATION_SET
  return { settings, alertEmail, filesBucket, configurationSet, code: functionCode(env), env }
}
