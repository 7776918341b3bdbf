import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import fc from "fast-check"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { PROVIDERS } from "../../../../src/domain/mail/provider.ts"
import { decodeQueueRequest } from "../../../../src/domain/mail/read-request.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const REQUEST = { to: "ann@x.test", subject: "s", text: "t", category: "transactional", source: "api:test" }

const two = (most: number) => fc.integer({ min: 0, max: most }).map((n) => String(n).padStart(2, "0"))

/** Texts of the form of a moment, of which many are none. */
const moments = fc
  .tuple(
    fc.constantFrom("0000", "0001", "2026", "9999"),
    two(13),
    two(32),
    two(25),
    two(60),
    fc.option(two(61), { nil: undefined }),
    fc.oneof(fc.constant("Z"), fc.tuple(fc.constantFrom("+", "-"), two(30), two(61), fc.boolean()))
  )
  .map(([year, month, day, hour, minute, second, zone]) => {
    const offset = zone === "Z" ? zone : `${zone[0]}${zone[1]}${zone[3] ? ":" : ""}${zone[2]}`
    return `${year}-${month}-${day}T${hour}:${minute}${second === undefined ? "" : `:${second}`}${offset}`
  })

/** The refusal of a request as the caller's driver shows it; undefined where it was queued. */
const refusalOf = (request: unknown) =>
  WriteSql.use((sql) => sql.unsafe(`select enqueue_email($1::text::jsonb)`, [JSON.stringify(request)])).pipe(
    Effect.as(undefined),
    Effect.catch((error) => {
      const { code, message } = error.reason.cause as { readonly code: string; readonly message: string }
      return Effect.succeed({ code, message })
    })
  )

layer(layerPostgres)("what enqueue_email refuses (QUEUE-1)", (it) => {
  it.effect(
    "no text of a moment is another error than its field's, and one that both take is the same moment",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const texts = [
          ...fc.sample(moments, 2_000),
          "2026-12-01T10:00:00+15:59",
          "2026-12-01T10:00:60Z",
          "2026-12-01T10:00:00+16:00",
          "2026-12-01T10:00:00+10:60"
        ]
        const rows = yield* sql<{ readonly text: string; readonly at: number | null }>`
        select x.text, (extract(epoch from queued_moment(x.text)) * 1000)::float8 as at from unnest(${texts}::text[]) as x(text)`
        const taken = rows.filter(({ at }) => at !== null)
        assert.isAbove(taken.length, 0)
        // What the database takes, the sender can read.
        assert.deepStrictEqual(
          taken.filter(({ text }) => Result.isFailure(decodeQueueRequest({ ...REQUEST, sendAt: text }))),
          []
        )
        assert.deepStrictEqual(
          taken.map(({ at }) => at),
          taken.map(({ text }) => Date.parse(text))
        )
        assert.deepStrictEqual(yield* refusalOf({ ...REQUEST, sendAt: "2026-12-01T10:00:00+25:00" }), {
          code: "22023",
          message: "sendAt: is no date in ISO 8601 with its time zone"
        })
      })
  )

  it.effect("what is no object says so, a request that was encoded twice, too", () =>
    Effect.gen(function* () {
      for (const request of [null, 1, true, "x", JSON.stringify(REQUEST), [], [REQUEST]])
        assert.deepStrictEqual(yield* refusalOf(request), {
          code: "22023",
          message: "the request must be a JSON object"
        })
    })
  )

  it.effect("Q1: a provider that nobody sends by is refused, since its mail would wait for ever", () =>
    Effect.gen(function* () {
      for (const provider of Object.keys(PROVIDERS))
        assert.isUndefined(yield* refusalOf({ ...REQUEST, provider }), provider)
      for (const provider of ["nope", "", "Provider_a", "provider_a ", "resend"])
        assert.deepStrictEqual(yield* refusalOf({ ...REQUEST, provider }), {
          code: "22023",
          message: "provider: must be one of provider_a, provider_b, smtp, postmark"
        })
    })
  )
})
