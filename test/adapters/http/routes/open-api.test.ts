import { readFileSync } from "node:fs"

import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { describe, expect, it } from "vitest"

import { Api, openApiDocument, openApiText } from "../../../../src/adapters/http/routes/api.ts"
import { RepeatsWithoutKey } from "../../../../src/adapters/http/server/once.ts"
import { PROBLEMS } from "../../../../src/adapters/http/server/problem.ts"
import type { Json } from "../harness.ts"

/** What an operation's name may begin with: what its caller does. */
const VERBS = new Set(
  (
    "accept add advance begin cancel change check claim clear close convert count delete download draw end enqueue export find get " +
    "grant import invite list make pause poll preserve preview process raise read receive redeliver redrive reflow remove report request " +
    "resume retry revoke rotate search send set share show simulate start stop stream test try unsubscribe upload use write"
  ).split(" ")
)

const document = openApiDocument() as Json
const operations: ReadonlyArray<readonly [string, Json]> = Object.entries<Json>(document.paths).flatMap(
  ([path, item]) =>
    Object.entries<Json>(item).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const
    )
)

/** Every object in the document, with where it stands. */
const objects = (value: Json, at = "#"): ReadonlyArray<readonly [string, Json]> =>
  typeof value !== "object" || value === null
    ? []
    : [[at, value], ...Object.entries(value).flatMap(([key, inner]) => objects(inner, `${at}/${key}`))]

describe("the OpenAPI document", () => {
  it("is the snapshot, byte for byte", () => {
    expect(readFileSync(new URL("../../../../public/openapi.json", import.meta.url), "utf8")).toBe(
      openApiText()
    )
  })

  it("HTTP-16: a call that makes or costs something takes an idempotency key, or says why it needs none", () => {
    const endpoints = Object.values(Api.groups).flatMap((group) =>
      Object.values(group.endpoints as Readonly<Record<string, HttpApiEndpoint.Top>>)
    )
    const calls = endpoints.filter(({ method, path }) => method === "POST" && path.startsWith("/api/v1/"))
    const withoutKey = calls.filter(({ headers }) => headers === undefined)
    expect(calls.length).toBeGreaterThan(withoutKey.length)
    expect(
      withoutKey.map(({ annotations, path }) => [path, Context.get(annotations, RepeatsWithoutKey)])
    ).toEqual(withoutKey.map(({ path }) => [path, expect.any(String)]))
    expect(
      operations
        .filter(([, { parameters }]) => parameters.some(({ name }: Json) => name === "idempotency-key"))
        .map(([name]) => name)
        .sort()
    ).toEqual([
      "POST /api/v1/bulk",
      "POST /api/v1/files",
      "POST /api/v1/files/{fileId}/convert",
      "POST /api/v1/files/{fileId}/preserve-formatting",
      "POST /api/v1/files/{fileId}/share",
      "POST /api/v1/flyer-jobs/{id}/reflow"
    ])
  })

  it("documents these routes and no others", () => {
    expect(operations.map(([name]) => name).sort()).toEqual([
      "DELETE /api/admin/admins/{email}",
      "DELETE /api/admin/email-suppressions/{email}",
      "DELETE /api/admin/event-hooks/{hookId}",
      "DELETE /api/admin/sender-tokens/{tokenId}",
      "DELETE /api/admin/tokens/{tokenId}",
      "DELETE /api/queued-emails/{queueId}",
      "DELETE /api/v1/account",
      "DELETE /api/v1/files/{fileId}",
      "DELETE /api/v1/files/{fileId}/shares",
      "DELETE /api/v1/files/{fileId}/shares/{email}",
      "DELETE /dev/outbox",
      "DELETE /dev/outbox/{id}",
      "GET /api/admin/admins",
      "GET /api/admin/audit-log",
      "GET /api/admin/contact-messages",
      "GET /api/admin/costs",
      "GET /api/admin/customers",
      "GET /api/admin/dead-letters",
      "GET /api/admin/email-log",
      "GET /api/admin/email-log.csv",
      "GET /api/admin/email-log/count",
      "GET /api/admin/email-log/counts",
      "GET /api/admin/email-log/{sendId}",
      "GET /api/admin/email-preferences/{email}",
      "GET /api/admin/email-queue",
      "GET /api/admin/email-stats",
      "GET /api/admin/email-stats.csv",
      "GET /api/admin/email-suppressions",
      "GET /api/admin/email-unsubscribes",
      "GET /api/admin/event-hooks",
      "GET /api/admin/event-hooks/{hookId}/deliveries",
      "GET /api/admin/files/{fileId}",
      "GET /api/admin/incoming-mails",
      "GET /api/admin/job-counts",
      "GET /api/admin/jobs",
      "GET /api/admin/notifications",
      "GET /api/admin/other-jobs",
      "GET /api/admin/sender-domain",
      "GET /api/admin/sender-tokens",
      "GET /api/admin/tokens",
      "GET /api/convert/{fileId}/stream",
      "GET /api/files",
      "GET /api/queued-emails/{queueId}",
      "GET /api/v1/account",
      "GET /api/v1/account/charges",
      "GET /api/v1/account/tokens",
      "GET /api/v1/bulk/{bulkId}",
      "GET /api/v1/files",
      "GET /api/v1/files/{fileId}",
      "GET /api/v1/files/{fileId}/accessibility",
      "GET /api/v1/files/{fileId}/flyer-jobs",
      "GET /api/v1/files/{fileId}/pages",
      "GET /api/v1/files/{fileId}/pages/{page}/picture",
      "GET /api/v1/files/{fileId}/pages/{page}/preview",
      "GET /api/v1/files/{fileId}/pages/{page}/result",
      "GET /api/v1/files/{fileId}/result",
      "GET /api/v1/files/{fileId}/result/pictures/{picture}",
      "GET /api/v1/files/{fileId}/shares",
      "GET /api/v1/flyer-jobs/{id}",
      "GET /api/v1/flyer-jobs/{id}/result",
      "GET /api/v1/jobs/{jobId}",
      "GET /api/v1/mail-results",
      "GET /api/v1/mails",
      "GET /api/v1/results",
      "GET /api/v1/shares",
      "GET /auth/magic",
      "GET /auth/session",
      "GET /convert-email/health",
      "GET /convert-email/results/{token}",
      "GET /customer-mail/{token}",
      "GET /dev",
      "GET /dev/kitchen-sink",
      "GET /dev/messages/{id}",
      "GET /dev/messages/{id}/accessibility",
      "GET /dev/messages/{id}/files/{index}",
      "GET /dev/messages/{id}/html",
      "GET /dev/outbox",
      "GET /dev/outbox/{id}",
      "GET /dev/outbox/{id}/content",
      "GET /dev/stream",
      "GET /dev/templates",
      "GET /dev/templates/{kind}",
      "GET /health",
      "GET /internal/sends",
      "GET /internal/sends/{sendId}",
      "GET /invites/{token}",
      "GET /metrics",
      "GET /openapi.json",
      "GET /ready",
      "GET /shared/{token}",
      "GET /unsubscribe/{token}",
      "PATCH /api/admin/event-hooks/{hookId}",
      "POST /api/admin/admins",
      "POST /api/admin/customers",
      "POST /api/admin/customers/{customerId}/credits",
      "POST /api/admin/dead-letters/{id}/redrive",
      "POST /api/admin/email-queue/pause",
      "POST /api/admin/email-queue/resume",
      "POST /api/admin/email-queue/{queueId}/cancel",
      "POST /api/admin/email-suppressions",
      "POST /api/admin/email-unsubscribes",
      "POST /api/admin/event-hooks",
      "POST /api/admin/event-hooks/deliveries/{deliveryId}/redeliver",
      "POST /api/admin/event-hooks/{hookId}/redeliver",
      "POST /api/admin/event-hooks/{hookId}/rotate",
      "POST /api/admin/event-hooks/{hookId}/test",
      "POST /api/admin/incoming-mails/{mailId}/retry",
      "POST /api/admin/incoming-mails/{mailId}/set-aside",
      "POST /api/admin/jobs/{jobId}/cancel",
      "POST /api/admin/jobs/{jobId}/retry",
      "POST /api/admin/mail-links",
      "POST /api/admin/notifications/test",
      "POST /api/admin/outreach/sends",
      "POST /api/admin/sender-tokens",
      "POST /api/admin/tokens",
      "POST /api/contact",
      "POST /api/feedback",
      "POST /api/promo/{promo}/claim",
      "POST /api/send-email",
      "POST /api/send-email/batch",
      "POST /api/v1/bulk",
      "POST /api/v1/files",
      "POST /api/v1/files/{fileId}/cancel",
      "POST /api/v1/files/{fileId}/convert",
      "POST /api/v1/files/{fileId}/preserve-formatting",
      "POST /api/v1/files/{fileId}/process-now",
      "POST /api/v1/files/{fileId}/share",
      "POST /api/v1/flyer-jobs/{id}/cancel",
      "POST /api/v1/flyer-jobs/{id}/reflow",
      "POST /api/v1/team/invites",
      "POST /api/webhooks/providerb-events",
      "POST /auth/link",
      "POST /auth/logout",
      "POST /auth/magic",
      "POST /auth/session",
      "POST /convert-email/test-send",
      "POST /dev/clock",
      "POST /dev/outbox/{id}/events",
      "POST /dev/outbox/{id}/link-tries",
      "POST /dev/simulate",
      "POST /functions/v1/audit-digest",
      "POST /functions/v1/postmark-webhook",
      "POST /functions/v1/provider-a-events-fetcher",
      "POST /functions/v1/provider-a-webhook",
      "POST /internal/convert-email/convert",
      "POST /internal/convert-email/pages",
      "POST /internal/email-alert",
      "POST /internal/receipts",
      "POST /internal/send-email",
      "POST /invites/{token}",
      "POST /unsubscribe/{token}",
      "PUT /api/admin/email-preferences/{email}",
      "PUT /api/admin/notifications"
    ])
  })

  it("holds the closed set of codes, each with its status and title", () => {
    const codes = document.components.schemas.ProblemCode
    expect(codes.enum).toEqual(Object.keys(PROBLEMS))
    for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
      expect(codes.description).toContain(`\`${code}\` (${status}): ${title}`)
    }
  })

  it("describes every answer outside 2xx as a problem, with the codes of its status", () => {
    for (const [name, { responses }] of operations) {
      for (const [status, response] of Object.entries<Json>(responses)) {
        if (status.startsWith("2")) continue
        const types = Object.keys(response.content)
        expect([name, status, types]).toEqual([name, status, ["application/problem+json"]])
        expect(response.content["application/problem+json"].schema).toEqual({
          $ref: "#/components/schemas/Problem"
        })
        const codes = [...response.description.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code)
        expect([name, status, codes.length > 0]).toEqual([name, status, true])
        for (const code of codes) expect(String(PROBLEMS[code as keyof typeof PROBLEMS].status)).toBe(status)
      }
    }
  })

  it("asks for the secret on the relay and for a bearer token on the admin routes", () => {
    expect(document.components.securitySchemes.proxySecret).toMatchObject({
      type: "apiKey",
      in: "header",
      name: "x-proxy-secret"
    })
    expect(document.components.securitySchemes.adminToken).toMatchObject({
      type: "http",
      scheme: expect.stringMatching(/^bearer$/i)
    })
    for (const [name, { security }] of operations) {
      const wanted =
        /send-email|queued-emails|email-alert|events-fetcher|audit-digest|test-send|internal\/(?:convert-email|receipts|sends)/.test(
          name
        )
          ? [
              { proxySecret: [] },
              ...(/\/api\/(?:send-email|queued-emails)/.test(name) ? [{ senderToken: [] }] : [])
            ]
          : name.includes("/api/admin/")
            ? [{ adminToken: [] }, { sessionCookie: [] }]
            : /\/api\/(?:v1|files|convert)\b/.test(name)
              ? [{ ownerToken: [] }, { sessionCookie: [] }]
              : name.includes("providerb-events")
                ? [{ webhookSecret: [] }]
                : []
      expect([name, security]).toEqual([name, wanted])
    }
  })

  it("is sound: version 3.1, references that lead somewhere, path parameters declared, operation ids unique", () => {
    expect(document.openapi).toMatch(/^3\.1\./)
    expect(document.info).toMatchObject({ title: "Postlane", version: expect.any(String) })
    for (const [at, { $ref }] of objects(document)) {
      if (typeof $ref !== "string") continue
      const target = $ref
        .replace("#/", "")
        .split("/")
        .reduce((inner, key) => inner?.[key], document)
      expect(target, `${at} → ${$ref}`).toBeDefined()
    }
    for (const [name, { parameters, responses }] of operations) {
      const declared = parameters.filter((one: Json) => one.in === "path").map((one: Json) => `{${one.name}}`)
      expect(declared).toEqual(name.match(/\{[^}]+\}/g) ?? [])
      for (const response of Object.values<Json>(responses))
        expect(response.description).toEqual(expect.any(String))
    }
    const ids = operations.map(([, { operationId }]) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it("is one that generators of other languages make types of", () => {
    for (const [name, { operationId }] of operations)
      expect([name, operationId]).toEqual([name, expect.stringMatching(/^[a-z]+[A-Za-z]*$/)])
    const noVerbs = operations.map(([, { operationId }]) => operationId as string)
    expect(noVerbs.filter((name) => !VERBS.has(/^[a-z]+/.exec(name)?.[0] ?? ""))).toEqual([])
    // Copies that are numbered would be renumbered by the next route.
    const names = Object.keys(document.components.schemas)
    expect(names.filter((name) => /\d$/.test(name))).toEqual([])
    // Go's generator makes a function `NewThing` of each `Thing`.
    expect(
      names.filter((name) => names.includes(name.replace(/^New/, "")) && name.startsWith("New"))
    ).toEqual([])
    // Neither a member that is never anything, nor either of two objects.
    for (const [at, { anyOf, properties }] of objects(document)) {
      const forms = (anyOf ?? []).filter(({ $ref, type }: Json) => type === "object" || $ref !== undefined)
      expect([at, forms.length < 2]).toEqual([at, true])
      const members = at.endsWith("/properties") || typeof properties !== "object" ? {} : properties
      expect([at, Object.values<Json>(members).some(({ type }) => type === "null")]).toEqual([at, false])
    }
    for (const [at, { enum: values, type, maximum, minimum }] of objects(document)) {
      // Neither a constant that Python cannot spell, nor a text for a number, nor a bound that says nothing.
      expect([at, type === "boolean" && values !== undefined]).toEqual([at, false])
      expect([at, Array.isArray(values) && values.includes("Infinity")]).toEqual([at, false])
      expect([at, Math.abs(maximum ?? minimum ?? 0) === Number.MAX_SAFE_INTEGER]).toEqual([at, false])
    }
    const queries = operations.flatMap(([name, { parameters }]) =>
      parameters
        .filter((one: Json) => one.in === "query")
        .map((one: Json) => ({ at: `${name} ?${one.name}`, name: one.name, schema: one.schema }))
    )
    for (const { at, schema } of queries)
      expect([at, schema.anyOf, (schema.enum ?? []).includes("")]).toEqual([at, undefined, false])
    for (const { at, schema } of queries.filter(({ name }) => ["limit", "days"].includes(name)))
      expect([at, schema]).toEqual([
        at,
        expect.objectContaining({ type: "integer", minimum: 1, maximum: expect.any(Number) })
      ])
    const signed = operations.find(([name]) => name === "POST /functions/v1/provider-a-webhook")?.[1]
      .parameters
    expect(signed.map((one: Json) => [one.in, one.name])).toEqual(
      ["svix-id", "svix-timestamp", "svix-signature"].map((name) => ["header", name])
    )
    const answers = operations.flatMap(([name, { responses }]) =>
      Object.entries<Json>(responses).map(([status, answer]) => ({ at: `${name} ${status}`, status, answer }))
    )
    for (const { answer, at } of answers.filter(({ status }) => status === "429"))
      expect([at, Object.keys(answer.headers)]).toEqual([at, ["Retry-After"]])
    for (const { answer, at } of answers)
      expect([at, answer.content?.["application/json"]?.schema.properties]).toEqual([at, undefined])
  })

  it("MAIL-2: has one schema for all successes of an operation, so that none is an error to a client that knows the first", () => {
    const successes = operations.map(
      ([name, { responses }]) =>
        [
          name,
          new Set(
            Object.entries<Json>(responses)
              .filter(([status, { content }]) => status.startsWith("2") && content !== undefined)
              .map(([, { content }]) => JSON.stringify(content["application/json"]?.schema))
          ).size
        ] as const
    )
    expect(successes.filter(([, schemas]) => schemas > 1)).toEqual([])
    const answer = document.components.schemas.SendAnswer
    // A mail that is sent has these, and one that is queued has them too.
    expect(answer.required.sort()).toEqual(["idempotencyKey", "ok", "status"])
    expect(answer.properties.status.enum).toEqual(
      expect.arrayContaining(["sent", "deferred", "queued", "cancelled"])
    )
    expect(answer.properties).toMatchObject({
      sendId: { type: "string", format: "uuid" },
      queueId: { type: "string" },
      sendAt: { type: "string", format: "date-time" }
    })
    expect(answer.properties.status.anyOf).toBeUndefined()
  })
})
