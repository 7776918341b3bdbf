import { unknownName } from "../../domain/nearest-name.ts"
import type { DropInOptions } from "./send.ts"

type Env = Readonly<Record<string, unknown>>

/** What Resend's constructor takes, and what our request names beyond it. */
export interface ResendOptions extends DropInOptions {
  /** Where requests go in place of Resend's own address. */
  readonly baseUrl?: string | undefined
  readonly userAgent?: string | undefined
}

const OPTIONS = ["baseUrl", "userAgent", "category", "source", "env", "retry", "send"]

/** Where and as whom it sends, as Resend's SDK finds it out. */
export interface ResendSettings {
  /** For the SDK's own requests. */
  readonly vendor: () => {
    readonly key: string | undefined
    readonly baseUrl: string
    readonly userAgent: string | undefined
  }
  /** The settings of a call: all of them. */
  readonly env: () => Env
}

const VENDOR_URL = "https://api.resend.com"

const named = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined

/** Reads the SDK's variables once, as it does, and Postlane's settings at each call; throws on an option that is not known. */
export const settingsOf = (
  apiKey: string | undefined,
  options: ResendOptions,
  ambient: Env
): ResendSettings => {
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name))
  if (unknown !== undefined) throw new Error(`${unknown} ${unknownName(unknown, OPTIONS)}`)
  const given = options.env ?? ambient
  const key = named(options.env?.["PROVIDERA_API_KEY"]) ?? named(apiKey) ?? named(given["RESEND_API_KEY"])
  const { RESEND_BASE_URL, RESEND_USER_AGENT } = given
  const read = () => ({
    key: key ?? named(given["PROVIDERA_API_KEY"]),
    baseUrl: named(options.baseUrl) ?? named(given["PROVIDERA_BASE_URL"]) ?? named(RESEND_BASE_URL),
    userAgent: named(options.userAgent) ?? named(given["PROVIDERA_USER_AGENT"]) ?? named(RESEND_USER_AGENT)
  })
  return {
    vendor: () => {
      const { baseUrl = VENDOR_URL, ...rest } = read()
      return { baseUrl, ...rest }
    },
    env: () => {
      const all = read()
      return {
        ...given,
        PROVIDERA_API_KEY: all.key,
        PROVIDERA_BASE_URL: all.baseUrl,
        PROVIDERA_USER_AGENT: all.userAgent
      }
    }
  }
}
