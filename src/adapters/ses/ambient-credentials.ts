import {
  cachedCredentials,
  type Credentials,
  type CredentialSource,
  CredentialsUnavailable
} from "./credentials.ts"
import { askInstanceRole } from "./instance-role.ts"

/** What the sources outside this process are asked with. */
interface AmbientOptions {
  /** `CLOUD_REGION`: where STS is asked. */
  readonly region: string
  /** `STS_ENDPOINT`; the vendor's for the region where absent. */
  readonly stsEndpoint?: string | undefined
  /** `IMDS_ENDPOINT`; the link-local address where absent. */
  readonly imdsEndpoint?: string | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** One place that credentials may come from. */
interface Source {
  /** In words, for people. */
  readonly name: string
  readonly ask: () => Promise<Credentials>
}

/** Shorter than an attempt at a provider, which would be ambiguous where it ended in here. */
const TIME_LIMIT_MS = 8_000

/** One request to STS or to the container's endpoint, milliseconds. */
const REQUEST_MS = 2_000

const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

const isSet = (name: string): boolean => (process.env[name] ?? "") !== ""

/** What the service itself said, which holds no secret; a program's or a file's words may. */
const saidOf = (cause: unknown): string =>
  cause instanceof Error && "$fault" in cause
    ? `: ${cause.name}: ${cause.message.split(/[\r\n]/, 1)[0]?.slice(0, 300)}`
    : ""

/** The source's credentials under its name, or why it has none, within the time limit. */
const asked = async ({ ask, name }: Source): Promise<Credentials> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), TIME_LIMIT_MS)
    timer.unref()
  })
  try {
    return { ...(await Promise.race([ask(), late])), source: name }
  } catch (cause) {
    throw cause instanceof CredentialsUnavailable
      ? cause
      : new CredentialsUnavailable(`${name} gives no credentials${saidOf(cause)}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Keys in the environment, as a function has them. */
const environment: Source = {
  name: "AWS_ACCESS_KEY_ID in the environment",
  ask: async () => {
    const { fromEnv } = await import("@aws-sdk/credential-provider-env")
    return fromEnv()()
  }
}

/** A pod's role by its service account's token, or a build's by its runner's; the file is read again at each renewal. */
const webIdentity = ({ region, stsEndpoint }: AmbientOptions): Source => ({
  name: "AWS_WEB_IDENTITY_TOKEN_FILE",
  ask: async () => {
    const { fromTokenFile } = await import("@aws-sdk/credential-provider-web-identity")
    const clientConfig = {
      region,
      maxAttempts: 2,
      ignoreConfiguredEndpointUrls: true,
      requestHandler: {
        connectionTimeout: REQUEST_MS,
        requestTimeout: REQUEST_MS,
        throwOnRequestTimeout: true
      },
      ...(stsEndpoint === undefined ? {} : { endpoint: stsEndpoint })
    }
    return fromTokenFile({ clientConfig })()
  }
})

const PROFILE = "AWS_PROFILE"

/** A profile of the shared files: keys, a role to take, a program to run, a sign-in. Read each time. */
const profile = (): Source => ({
  name: `profile ${isSet(PROFILE) ? process.env[PROFILE] : "default"} of the shared files`,
  ask: async () => {
    const { fromIni } = await import("@aws-sdk/credential-provider-ini")
    return fromIni({
      ignoreCache: true,
      logger: SILENT,
      clientConfig: { ignoreConfiguredEndpointUrls: true }
    })()
  }
})

/** Said of a profile that is not there, or that holds no credentials: `[default]` often holds a region alone. */
const NO_PROFILE = /^Could not resolve credentials using profile/

/** The default profile's credentials, where it has some. */
const defaultProfile = () =>
  asked(profile()).catch((error: unknown) => {
    const { cause } = Object(error) as { readonly cause?: unknown }
    if (cause instanceof Error && NO_PROFILE.test(cause.message)) return undefined
    throw error
  })

/** A task's role (ECS), or a pod's (EKS pod identity). */
const container: Source = {
  name: "container credentials endpoint",
  ask: async () => {
    const { fromHttp } = await import("@aws-sdk/credential-provider-http")
    return fromHttp({ timeout: REQUEST_MS, maxRetries: 1, logger: SILENT })()
  }
}

const instanceRole = ({ imdsEndpoint }: AmbientOptions): Source => ({
  name: "instance role (IMDSv2)",
  ask: () => askInstanceRole(imdsEndpoint)
})

/**
 * The credentials that this machine gives to its processes, by the SDK's own providers, in the order of every AWS tool: keys of the
 * environment, web identity, the shared files, the container's endpoint, the instance's role (Node only).
 *
 * The first that the environment names is the one: where it fails there are no credentials, since the next one would be somebody
 * else's – a node's role in place of its pod's. Keys of the environment are never kept: they are renewed in place.
 */
export const ambientCredentials = (options: AmbientOptions): CredentialSource => {
  const held = cachedCredentials(async () => {
    if (isSet("AWS_WEB_IDENTITY_TOKEN_FILE") && isSet("AWS_ROLE_ARN")) return asked(webIdentity(options))
    if (isSet(PROFILE)) return asked(profile())
    const found = await defaultProfile()
    if (found !== undefined) return found
    return isSet("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") || isSet("AWS_CONTAINER_CREDENTIALS_FULL_URI")
      ? asked(container)
      : asked(instanceRole(options))
  }, options.now)
  return async () => {
    if (!isSet("AWS_ACCESS_KEY_ID") || !isSet("AWS_SECRET_ACCESS_KEY")) return held()
    // A client keeps what has no end, or a far one, and would not ask again.
    return { ...(await asked(environment)), expiration: new Date(options.now()) }
  }
}
