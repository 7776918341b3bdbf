import { Result } from "effect"

import { type CloudNames, cloudNames } from "../../src/domain/doctor/cloud-side.ts"
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
  /** Which of its values; undefined: the one that is current when the reference is resolved, which only a changed reference is again. */
  readonly secretVersion: string | undefined
  /** The private network in which its database is; undefined: none. */
  readonly network: { readonly subnetIds: string[]; readonly securityGroupIds: string[] } | undefined
  /** How many run at once; 0: as many as the account allows. */
  readonly concurrency: number
}

/** What the cloud side is made from: the very settings that the processes run with, so that no name is written down twice. */
export interface Plan {
  readonly settings: Settings
  readonly names: CloudNames
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

/** Each opens up to 15 connections, and PostgreSQL takes 100 where nobody changed it. */
const CONCURRENCY = 6

/** `FUNCTION_CODE=s3://BUCKET/KEY.zip` with `FUNCTION_SECRET`: what is read from nowhere else than here. */
const functionCode = (env: Env, names: CloudNames): FunctionCode | undefined => {
  const place = env["FUNCTION_CODE"] ?? ""
  if (place === "") return undefined
  const [, bucket, key] = /^s3:\/\/([a-z0-9.-]+)\/(.+\.zip)$/.exec(place) ?? []
  if (bucket === undefined || key === undefined)
    throw new Error("FUNCTION_CODE must be s3://BUCKET/KEY.zip: the function's code")
  const ids = (name: string) => (env[name] ?? "").split(",").flatMap((id) => id.trim() || [])
  const [subnetIds, securityGroupIds] = [ids("FUNCTION_SUBNETS"), ids("FUNCTION_SECURITY_GROUPS")]
  if ((subnetIds.length === 0) !== (securityGroupIds.length === 0))
    throw new Error("FUNCTION_SUBNETS and FUNCTION_SECURITY_GROUPS name the function's network together")
  const concurrency = Number(env["FUNCTION_CONCURRENCY"] || CONCURRENCY)
  if (!Number.isInteger(concurrency) || concurrency < 0 || (concurrency > 0 && concurrency < 3))
    throw new Error("FUNCTION_CONCURRENCY must be 3 or more, or 0 for no limit")
  return {
    bucket,
    key,
    secretVersion: env["FUNCTION_SECRET_VERSION"] || undefined,
    network: subnetIds.length === 0 ? undefined : { subnetIds, securityGroupIds },
    concurrency,
    secretName: env["FUNCTION_SECRET"] ?? `${names.prefix}/settings`
  }
}

/** Reads the plan from the environment; the error lists everything that is missing. */
export const readPlan = (env: Env): Plan => {
  const decoded = decodeSettings(env, { embedded: false, library: true })
  if (Result.isFailure(decoded))
    throw new Error(`the settings are wrong:\n${formatProblems(decoded.failure)}`)
  const settings = decoded.success
  const { installation } = settings.cloud
  const names = cloudNames(installation)
  const alertEmail = settings.alerts.email
  const { filesBucket } = settings.conversion
  const missing = [
    ...(/\S/.test(env["SENDER_DOMAIN"] ?? "") ? [] : ["  SENDER_DOMAIN is unset: mail is sent from it"]),
    ...(settings.http.baseUrl.startsWith("https://")
      ? []
      : ["  BASE_URL must start with https://: the event bus delivers to nothing else"]),
    // Configuration sets are one list for the account: the other installation's are in it already.
    ...(installation === undefined || (env["PROVIDERB_CONFIGURATION_SET"] ?? "") !== ""
      ? []
      : [
          `  PROVIDERB_CONFIGURATION_SET is unset: an installation with a name has a set of its own, such as ${installation}-outreach-set`
        ]),
    ...(alertEmail === undefined ? ["  ALERT_EMAIL is unset: alarms go there"] : []),
    ...(filesBucket === undefined ? ["  FILES_BUCKET is unset: it names the bucket to make"] : [])
  ]
  if (alertEmail === undefined || filesBucket === undefined || missing.length > 0)
    throw new Error(`the cloud side needs more settings:\n${missing.join("\n")}`)
  const configurationSet =
    settings.providerB.configurationSet ??
    [installation, DEFAULT_CONFIGURATION_SET].filter((part) => part !== undefined).join("-")
  return { settings, names, alertEmail, filesBucket, configurationSet, code: functionCode(env, names), env }
}
