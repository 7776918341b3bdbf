import { Effect, Redacted, Schedule } from "effect"

import { layerSingle, WriteSql } from "../../src/adapters/postgres/client.ts"
import { claimLeaseMs } from "../../src/application/mail/sending.ts"
import { type Fake, makeFolder, startFake } from "../support/processes/child.ts"

export const SECRET = "crash-test-secret"

/** The waits and limits of these tests, so short that a schedule is over in seconds. */
export const TIMES = {
  attemptTimeoutMs: 500,
  dbTimeoutMs: 700,
  delaysSeconds: [1, 1, 2],
  visibilitySeconds: 2
} as const

/** How long a claim outlives its process, milliseconds. */
export const LEASE_MS = claimLeaseMs(TIMES)

/** Both providers and a folder for their logs. */
export interface World {
  readonly resend: Fake
  readonly ses: Fake
  /** The settings of a Postlane process on these providers. */
  readonly env: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

export const makeWorld = async (databaseUrl: string): Promise<World> => {
  const folder = await makeFolder()
  const [resend, ses] = await Promise.all([startFake("resend", folder.path), startFake("ses", folder.path)])
  return {
    resend,
    ses,
    env: {
      DB_URL: databaseUrl,
      // The test server trusts everybody; without a password the URL counts as incomplete.
      DB_SECRET_KEY: "unused",
      PROXY_SHARED_SECRET: SECRET,
      PROVIDERA_API_KEY: "re_crash",
      PROVIDERA_BASE_URL: resend.url,
      PROVIDERB_ENDPOINT: ses.url,
      CLOUD_ACCESS_KEY_ID: "AKIACRASH",
      CLOUD_SECRET_ACCESS_KEY: "crash",
      EMAIL_FALLBACK: "provider_b",
      EMAIL_DEFER_QUEUE_URL: "postgres:email-defer",
      EMAIL_DEFER_DELAYS_SECONDS: TIMES.delaysSeconds.join(","),
      EMAIL_DEFER_VISIBILITY_SECONDS: String(TIMES.visibilitySeconds),
      EMAIL_ATTEMPT_TIMEOUT_MS: String(TIMES.attemptTimeoutMs),
      EMAIL_DB_TIMEOUT_MS: String(TIMES.dbTimeoutMs)
    },
    close: async () => {
      await Promise.all([resend.destroy(), ses.destroy()])
      await folder.remove()
    }
  }
}

/** How often a connection is tried, a second apart: the server may be just starting again, or its machine be busy. */
const CONNECTS = 30

/** Runs a statement on a connection of its own. */
export const query = <Row extends object>(url: string, statement: string): Promise<ReadonlyArray<Row>> =>
  Effect.runPromise(
    WriteSql.use((sql) => sql.unsafe<Row>(statement).unprepared).pipe(
      Effect.provide(layerSingle({ url: Redacted.make(url) })),
      Effect.retry({
        times: CONNECTS,
        schedule: Schedule.spaced("1 second"),
        while: (error) => /Connection timed out|ECONNREFUSED|starting up/.test(String(error))
      })
    )
  )

export interface Answer {
  /** HTTP status; 0 where there was no answer. */
  readonly status: number
  /** Milliseconds since the epoch. */
  readonly askedAt: number
  readonly at: number
  readonly body: {
    readonly ok?: boolean
    readonly status?: string | number
    readonly code?: string
    readonly kind?: string
    readonly retryable?: boolean
    readonly sendId?: string
    readonly queueId?: string
    readonly provider?: string | null
    readonly providerMessageId?: string | null
  }
}

/** Calls the relay once. A call that fails or takes longer than `patienceMs` is an answer with status 0. */
export const relay = async (
  url: string,
  key: string,
  extra: Readonly<Record<string, unknown>> = {},
  patienceMs = 4_000
): Promise<Answer> => {
  const askedAt = Date.now()
  const call = async (): Promise<Pick<Answer, "status" | "body">> => {
    const response = await fetch(`${url}/internal/send-email`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
      body: JSON.stringify({
        to: "reader@example.com",
        subject: `Crash test ${key}`,
        text: "Text",
        category: "transactional",
        source: "test:crash",
        idempotencyKey: key,
        ...extra
      }),
      signal: AbortSignal.timeout(patienceMs)
    })
    return { status: response.status, body: (await response.json()) as Answer["body"] }
  }
  const answer = await call().catch(() => ({ status: 0, body: {} }))
  return { ...answer, askedAt, at: Date.now() }
}
