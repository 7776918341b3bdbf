import { readFileSync } from "node:fs"

import { Effect, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { PIPELINE_PATHS } from "../../src/domain/inbound/pipeline-wire.ts"
import { SETTINGS } from "../../src/runtime/settings/table.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { bundleForEdge } from "../support/processes/edge-bundle.ts"
import { until } from "../support/until.ts"
import { rawMail } from "../support/worlds/edge-mail.ts"

const folder = new URL("../../infra/cloudflare/", import.meta.url)

interface Config {
  readonly name: string
  readonly main: string
  readonly compatibility_date: string
  readonly compatibility_flags?: ReadonlyArray<string>
  readonly triggers?: { readonly crons: ReadonlyArray<string> }
  readonly r2_buckets?: ReadonlyArray<{ readonly binding: string; readonly bucket_name: string }>
  readonly services?: ReadonlyArray<{ readonly binding: string; readonly service: string }>
  readonly vars: Readonly<Record<string, string>>
}

/** A configuration; its comments stand on lines of their own. */
const configOf = (worker: string): Config =>
  JSON.parse(readFileSync(new URL(`${worker}/wrangler.jsonc`, folder), "utf8").replace(/^\s*\/\/.*$/gm, ""))

const email = configOf("convert-email")
const pipeline = configOf("pipeline")

interface Simulator {
  readonly dispatchFetch: (url: string, init?: object) => Promise<Response>
  readonly getR2Bucket: (
    binding: string,
    worker: string
  ) => Promise<{ list: () => Promise<{ objects: ReadonlyArray<unknown> }> }>
  readonly dispose: () => Promise<void>
}

/** A worker as its configuration deploys it. */
const workerOf = async (config: Config, folderName: string, secrets: Readonly<Record<string, string>>) => ({
  name: config.name,
  modules: [
    {
      type: "ESModule",
      path: "worker.js",
      contents: (await bundleForEdge(new URL(`${folderName}/${config.main}`, folder))).script
    }
  ],
  compatibilityDate: config.compatibility_date,
  compatibilityFlags: config.compatibility_flags ?? [],
  bindings: { ...config.vars, ...secrets },
  r2Buckets: Object.fromEntries((config.r2_buckets ?? []).map((one) => [one.binding, one.bucket_name])),
  serviceBindings: Object.fromEntries((config.services ?? []).map((one) => [one.binding, one.service]))
})

/** Its own declarations do not pass the library check. */
const moduleName: string = "miniflare"

const postgres = ManagedRuntime.make(layerPostgres)
const handedOn: Array<string> = []
let simulator: Simulator

beforeAll(async () => {
  const { Miniflare, Response: Answer } = (await import(moduleName)) as {
    readonly Miniflare: new (options: object) => Simulator
    readonly Response: typeof Response
  }
  const { url } = await postgres.runPromise(TestDatabase)
  const secrets = {
    DB_URL: url,
    DB_SECRET_KEY: "database-password",
    PROXY_SHARED_SECRET: "proxy-secret",
    PROVIDERA_API_KEY: "re_key"
  }
  simulator = new Miniflare({
    unsafeTriggerHandlers: true,
    handleStructuredLogs: () => undefined,
    workers: [
      {
        ...(await workerOf(email, "convert-email", secrets)),
        outboundService: () => new Answer(JSON.stringify({ id: "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794" }))
      },
      {
        ...(await workerOf(pipeline, "pipeline", {})),
        outboundService: (request: Request) => {
          handedOn.push(`${request.method} ${request.url} ${request.headers.get("x-proxy-secret") ?? ""}`)
          return new Answer(JSON.stringify({ pages: 3 }), { headers: { "content-type": "application/json" } })
        }
      }
    ]
  })
})
afterAll(() => Promise.all([simulator.dispose(), postgres.dispose()]))

describe("the workers, as their configurations deploy them", () => {
  it("name settings that exist, and each other", () => {
    const names: ReadonlyArray<string> = SETTINGS.map(({ name }) => name)
    for (const name of [
      ...Object.keys(email.vars),
      ...(email.r2_buckets ?? []).map(({ binding }) => binding)
    ]) {
      assert.include(names, name)
    }
    assert.deepStrictEqual(email.services, [{ binding: "PIPELINE", service: pipeline.name }])
    assert.deepStrictEqual(email.triggers?.crons, ["* * * * *"])
  })

  it("have everything that the Email Worker asks for", async () => {
    const health = await simulator.dispatchFetch("https://app.example.com/convert-email/health")
    assert.strictEqual(health.status, 200, await health.text())
  })

  it("take a mail into the bucket, hand its document to the origin, and run on the schedule", async () => {
    await postgres.runPromise(
      WriteSql.use(
        (sql) =>
          sql`insert into customers (email, plan_type, credits_remaining) values ('ann@reader.test', 'paid', 20)`
      ).pipe(Effect.orDie)
    )
    const raw = await rawMail({
      from: "ann@reader.test",
      to: "convert@in.example.com",
      subject: "Convert this",
      messageId: "<one@reader.test>",
      attachments: [{ filename: "Report.pdf", content: numbered(2) }]
    })
    const to = encodeURIComponent("convert@in.example.com")
    const answer = await simulator.dispatchFetch(
      `https://app.example.com/cdn-cgi/handler/email?from=${encodeURIComponent("ann@reader.test")}&to=${to}&format=json`,
      { method: "POST", body: raw }
    )
    assert.match(await answer.text(), /"outcome":"ok"/)
    const scheduled = await simulator.dispatchFetch(
      "https://app.example.com/cdn-cgi/handler/scheduled?cron=*+*+*+*+*"
    )
    assert.strictEqual(scheduled.status, 200)
    const wanted = `POST https://pipeline.example.com${PIPELINE_PATHS.pages} proxy-secret`
    await until(`${wanted} is handed on`, () => handedOn.includes(wanted))
    const { objects } = await (await simulator.getR2Bucket("CONVERT_EMAIL_BUCKET", email.name)).list()
    assert.isNotEmpty(objects)
  })
})
