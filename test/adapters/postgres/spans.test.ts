import { assert, layer } from "@effect/vitest"
import { Effect, Tracer } from "effect"

import { SlowSql, ReadSql, SendSql, WriteSql } from "../../../src/adapters/postgres/client.ts"
import * as DeliveryLogs from "../../../src/adapters/postgres/delivery/delivery-log.ts"
import { DeliveryLog } from "../../../src/ports/delivery/delivery-log.ts"
import { anyId } from "../../support/any-id.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"

layer(layerPostgres, { excludeTestServices: true })("the spans of statements", (it) => {
  it.effect("name the server, the port and the database of the address, on every client", () =>
    Effect.gen(function* () {
      const url = new URL((yield* TestDatabase).url)
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      for (const sql of [yield* SendSql, yield* ReadSql, yield* SlowSql, yield* WriteSql])
        yield* Effect.provideService(sql`select 1`, Tracer.Tracer, tracer)
      const places = spans
        .filter(({ attributes }) => attributes.has("db.query.text"))
        .map(({ attributes }) => [
          attributes.get("server.address"),
          attributes.get("server.port"),
          attributes.get("db.namespace")
        ])
      assert.deepStrictEqual(
        places,
        Array.from({ length: 4 }, () => [url.hostname, Number(url.port), url.pathname.slice(1)])
      )
    })
  )

  it.effect("the span of a send is found by its row", () =>
    Effect.gen(function* () {
      const id = anyId("00000000-0000-4000-8000-000000000abc")
      const sql = yield* WriteSql
      yield* sql`insert into email_log (id, status, traceparent) values (${id}::uuid, 'sent', 'the span')`
      const log = yield* DeliveryLog
      assert.strictEqual(yield* log.traceparent(id), "the span")
    }).pipe(Effect.provide(DeliveryLogs.layer))
  )
})
