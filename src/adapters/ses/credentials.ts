import { Redacted } from "effect"

/** What a request is signed with. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  /** Absent for keys that do not expire. */
  readonly expiration?: Date
  /** Where they are from, in words. */
  readonly source?: string
}

/** Asked before each request; rejects without credentials. The adapter counts a rejection as `unavailable`. */
export type CredentialSource = () => Promise<Credentials>

/** Name of the error for every failure to get credentials: no request was made. */
export const CREDENTIALS_ERROR = "CredentialsProviderError"

/** No credentials: none are configured, or their source returns none. */
export class CredentialsUnavailable extends Error {
  override readonly name = CREDENTIALS_ERROR
}

/** The settings `CLOUD_ACCESS_KEY_ID`, `CLOUD_SECRET_ACCESS_KEY`, `CLOUD_SESSION_TOKEN`. */
interface StaticKeys {
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: Redacted.Redacted<string> | undefined
  readonly sessionToken: Redacted.Redacted<string> | undefined
}

/**
 * The keys where both halves are set, else `otherwise` (what the machine gives on Node; nothing on the edge; MAIL-22). Half a pair is
 * an oversight and not filled up from elsewhere.
 */
export const credentialSource = (
  keys: StaticKeys,
  otherwise: CredentialSource = noCredentials
): CredentialSource => {
  const { accessKeyId, secretAccessKey, sessionToken } = keys
  if (accessKeyId === undefined && secretAccessKey === undefined) return otherwise
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return () =>
      Promise.reject(
        new CredentialsUnavailable("only one of CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY is set")
      )
  }
  const credentials: Credentials = {
    accessKeyId,
    secretAccessKey: Redacted.value(secretAccessKey),
    ...(sessionToken === undefined ? {} : { sessionToken: Redacted.value(sessionToken) }),
    source: "CLOUD_ACCESS_KEY_ID"
  }
  return () => Promise.resolve(credentials)
}

/** The source of a runtime that has none. */
const noCredentials: CredentialSource = () =>
  Promise.reject(new CredentialsUnavailable("no cloud credentials are configured"))

/** How long before their end credentials are renewed, and how soon a failed renewal is tried again. */
const RENEW_BEFORE_MS = 5 * 60_000
const RENEW_AGAIN_MS = 30_000

/**
 * Keeps credentials until 5 minutes before they end and renews them once, however many wait. When the renewal fails, the current
 * ones serve until they end, never longer: ended ones would only be refused.
 */
export const cachedCredentials = (source: CredentialSource, now: () => number): CredentialSource => {
  let held: Credentials | undefined
  let renewal: Promise<Credentials> | undefined
  let notBefore = 0

  const remaining = (credentials: Credentials): number =>
    credentials.expiration === undefined ? Infinity : credentials.expiration.getTime() - now()

  const renew = async (): Promise<Credentials> => {
    try {
      const fresh = await source()
      if (remaining(fresh) <= 0)
        throw new CredentialsUnavailable("the credentials that were given out have expired")
      held = fresh
      return fresh
    } catch (cause) {
      if (held === undefined || remaining(held) <= 0) throw cause
      notBefore = now() + RENEW_AGAIN_MS
      return held
    } finally {
      renewal = undefined
    }
  }

  return () => {
    if (held !== undefined && remaining(held) > RENEW_BEFORE_MS) return Promise.resolve(held)
    if (held !== undefined && remaining(held) > 0 && now() < notBefore) return Promise.resolve(held)
    return (renewal ??= renew())
  }
}
