import { Redacted } from "effect"

/** What Postmark's webhook is given to authorise itself. */
interface WebhookCredentials {
  readonly user: string
  readonly password: Redacted.Redacted
}

const encoder = new TextEncoder()

/** Whether two texts are the same, in a time that does not tell where they differ. */
const isSame = (given: string, expected: string): boolean => {
  const [one, two] = [encoder.encode(given), encoder.encode(expected)]
  let difference = one.length ^ two.length
  for (const [index, byte] of two.entries()) difference |= byte ^ (one[index] ?? 0)
  return difference === 0
}

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i

const decoded = (base64: string): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    )
  } catch {
    return undefined
  }
}

/** Whether a header `Authorization` holds these basic credentials (RFC 7617, as UTF-8). */
export const hasCredentials = (authorization: unknown, { password, user }: WebhookCredentials): boolean => {
  const [, base64 = ""] = (typeof authorization === "string" ? BASIC.exec(authorization) : null) ?? []
  const given = decoded(base64)
  return given !== undefined && isSame(given, `${user}:${Redacted.value(password)}`)
}
