import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { assert, layer, vi } from "@effect/vitest"
import { Stack } from "aws-cdk-lib"
import { Template } from "aws-cdk-lib/assertions"
import { Effect } from "effect"

import { cloudApp } from "../../infra/aws/app.ts"
import { readPlan } from "../../infra/aws/plan.ts"
import { makeLambda } from "../../src/runtime/entries/lambda.ts"
import type { HttpResult } from "../../src/runtime/lambda/http-event.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { listening } from "../support/vendors/fake-peers.ts"
import { fakeSes } from "../support/vendors/fake-ses.ts"
import { httpEvent } from "../support/vendors/lambda-events.ts"
import { startSqs } from "../support/vendors/sqs.ts"

const SECRET = "proxy-shared-secret"

/** What the service itself puts into a function's environment: its region, and its role's keys. */
const OWN = {
  AWS_REGION: "eu-west-1",
  AWS_ACCESS_KEY_ID: "ASIAFUNCTION",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_SESSION_TOKEN: "session-token-1"
}

/** The environment of the function that is deployed with these settings, whose references lead to the very same values. */
const deployed = (given: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const outdir = mkdtempSync(join(tmpdir(), "postlane-function-"))
  const settings = { ...given, FUNCTION_CODE: "s3://example-code/postlane.zip" }
  const stack = cloudApp(readPlan(settings), outdir)
    .node.children.filter((child) => child instanceof Stack)
    .find(({ stackName }) => stackName === "postlane-function")!
  const [made] = Object.values(Template.fromStack(stack).findResources("AWS::Lambda::Function"))
  const variables: Readonly<Record<string, unknown>> = made!["Properties"].Environment.Variables
  rmSync(outdir, { recursive: true })
  const values = Object.entries(variables).map(([name, value]) => {
    const isReference = typeof value !== "string" || value.startsWith("{{resolve:")
    return [name, isReference ? given[name]! : value] as const
  })
  return { ...Object.fromEntries(values), ...OWN }
}

layer(layerPostgres, { excludeTestServices: true })("a function as it is deployed", (test) => {
  test.effect("sends and defers by its role's keys, which are renewed in its environment", () =>
    Effect.gen(function* () {
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      vi.stubEnv("CDK_VALIDATION", "false")
      const { url } = yield* TestDatabase
      const sqs = yield* startSqs
      const queue = yield* sqs.createQueue("defer", 3)
      const ses = yield* listening(() => fakeSes())
      const env = deployed({
        DB_URL: url,
        SENDER_DOMAIN: "mail.example",
        BASE_URL: "https://api.mail.example",
        ALERT_EMAIL: "ops@mail.example",
        FILES_BUCKET: "files",
        EMAIL_PRIMARY: "provider_b",
        PROVIDERB_ENDPOINT: ses.url,
        SQS_ENDPOINT: sqs.endpoint,
        EMAIL_DEFER_QUEUE_URL: queue.url,
        PROXY_SHARED_SECRET: SECRET,
        CLOUD_ACCESS_KEY_ID: "AKIAOPERATOR",
        CLOUD_SECRET_ACCESS_KEY: "the operator's",
        POSTLANE_LOG_LEVEL: "fatal"
      })
      for (const [name, value] of Object.entries(OWN)) vi.stubEnv(name, value)
      const lambda = yield* Effect.acquireRelease(
        Effect.sync(() => makeLambda(env)),
        ({ close }) => Effect.promise(close)
      )
      const relay = Effect.fnUntraced(function* (idempotencyKey: string) {
        const mail = {
          to: "ann@x.test",
          subject: "Hello",
          text: "Hi",
          category: "transactional",
          source: "api:a"
        }
        const event = httpEvent({
          method: "POST",
          path: "/internal/send-email",
          headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
          body: JSON.stringify({ ...mail, idempotencyKey })
        })
        const context = { getRemainingTimeInMillis: () => 30_000 }
        const { body } = (yield* Effect.promise(() => lambda.handler(event, context))) as HttpResult
        return JSON.parse(body).status as unknown
      })

      assert.strictEqual(yield* relay("order-19"), "sent")
      vi.stubEnv("AWS_SESSION_TOKEN", "session-token-2")
      assert.strictEqual(yield* relay("order-20"), "sent")
      const signed = ses.requests.map(({ headers }) => headers)
      for (const { authorization } of signed)
        assert.match(authorization ?? "", /Credential=ASIAFUNCTION\/\d+\/eu-west-1\/ses\//)
      assert.deepStrictEqual(
        signed.map((headers) => headers["x-amz-security-token"]),
        ["session-token-1", "session-token-2"]
      )
      yield* Effect.promise(() => ses.script(["504"]))
      assert.strictEqual(yield* relay("order-21"), "deferred")
      assert.strictEqual(yield* sqs.count(queue.url), 1)
    })
  )
})
