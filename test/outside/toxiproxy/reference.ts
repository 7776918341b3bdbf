import { Effect, Redacted } from "effect"

import { migrateDatabase } from "../../../src/runtime/compose/database/database-start.ts"
import { startTestServer } from "../../support/postgres/postgres-server.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { startVersity } from "../contracts/reference.ts"
import { arrived } from "../installation.ts"
import type { Place, Reference } from "../reference.ts"
import { goPackage } from "../tools.ts"
import { convertThrough } from "./documents.ts"
import { sendThrough } from "./mails.ts"
import { type Proxy, startToxiproxy, TOXICS, TOXIPROXY } from "./proxy.ts"

/** Longer than the limit for the database, and than an attempt's time. */
const FELT_MS = 2_000

const before = async <A>(place: Place, port: number, work: (proxy: Proxy) => Promise<A>): Promise<A> => {
  const proxy = await startToxiproxy(place.cache, port)
  try {
    return await work(proxy)
  } finally {
    await proxy.stop()
  }
}

const all = async ({ under }: Proxy): Promise<void> => {
  for (const toxic of TOXICS) await under(toxic)
}

const beforePostgres: Reference["run"] = async (place) => {
  const postgres = await startTestServer()
  try {
    await Effect.runPromise(migrateDatabase({ url: Redacted.make(postgres.url) }))
    const url = new URL(postgres.url)
    return await before(place, Number(url.port), (proxy) => {
      url.port = String(proxy.port)
      return sendThrough({
        settings: { DB_URL: url.href, DB_SECRET_KEY: "unused", EMAIL_DEFER_DELAYS_SECONDS: "2,2,2" },
        make: () => all(proxy),
        copies: async (server, key) => (await arrived(server, key)).length,
        isFelt: (slowest) => slowest > FELT_MS
      })
    })
  } finally {
    await postgres.stop()
  }
}

/** The vendor dedupes. The provider that takes over from it delivers into the outbox. */
const beforeVendor: Reference["run"] = async (place) => {
  const resend = fakeResend()
  await resend.listen()
  try {
    return await before(place, resend.port, (proxy) =>
      sendThrough({
        settings: {
          PROVIDERA_API_KEY: "re_outside",
          PROVIDERA_BASE_URL: `http://127.0.0.1:${proxy.port}`,
          EMAIL_ATTEMPT_TIMEOUT_MS: String(FELT_MS),
          // The last of them comes after the trouble.
          EMAIL_DEFER_DELAYS_SECONDS: "15,15,20"
        },
        make: async () => {
          await all(proxy)
          await proxy.closed()
        },
        copies: async (server, key) => {
          const own = resend.accepted.filter(({ payload }) => JSON.stringify(payload).includes(`"${key}"`))
          return own.length + (await arrived(server, key)).length
        },
        isFelt: (_, answers) => answers.some((answer) => answer?.status === "deferred")
      })
    )
  } finally {
    await resend.close()
  }
}

const beforeObjects: Reference["run"] = async (place) => {
  const { port, stop } = await startVersity(place, ["files", "convert-email-files"])
  try {
    return await before(place, port, (proxy) =>
      convertThrough(
        {
          FILES_BUCKET: "files",
          S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`,
          CLOUD_ACCESS_KEY_ID: "outside",
          CLOUD_SECRET_ACCESS_KEY: "outside-secret",
          CLOUD_REGION: "us-east-1"
        },
        async () => {
          await all(proxy)
          await proxy.closed()
        }
      )
    )
  } finally {
    await stop()
  }
}

const referenceOf = (name: string, checks: string, run: Reference["run"]): Reference => ({
  name,
  version: TOXIPROXY.version,
  checks: `${checks}, behind a network that delays, cuts, swallows and tears`,
  needs: ["go"],
  install: async ({ cache }) => void (await goPackage(cache, TOXIPROXY)),
  run
})

export const toxiproxy: ReadonlyArray<Reference> = [
  referenceOf("toxiproxy", "sends before PostgreSQL: none lost, none twice, the log true", beforePostgres),
  referenceOf(
    "toxiproxy-vendor",
    "sends before a vendor: what callers are answered, what leaves and what the log says agree",
    beforeVendor
  ),
  referenceOf("toxiproxy-s3", "conversions before an object store: each whole, each paid once", beforeObjects)
]
