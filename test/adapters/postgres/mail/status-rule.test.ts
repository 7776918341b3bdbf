import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { advance, EmailStatus, isProviderFailure, statusOfEvent } from "../../../../src/domain/mail/status.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { makePostgresWorld } from "../../../support/worlds/mail-world.ts"

/** Every event that moves a row, and some that do not. */
const EVENTS = [...EmailStatus.literals, "bounce_transient", "scheduled", "something_new"]

it.live(
  "every event moves a row of every status as advance and statusOfEvent say, and alerts on a failure",
  () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const world = yield* makePostgresWorld
      const cases = EmailStatus.literals.flatMap((status) =>
        EVENTS.map((event) => ({ status, event, messageId: `${status}-${event}` }))
      )
      yield* sql.unsafe(
        `insert into email_log (provider, provider_message_id, status)
       select 'provider_a', x.message, x.status from unnest($1::text[], $2::text[]) as x(message, status)`,
        [cases.map(({ messageId }) => messageId), cases.map(({ status }) => status)]
      )
      const recorded = yield* world.recordEvents(
        cases.map(({ event, messageId }) => ({
          provider: "provider_a",
          providerMessageId: messageId,
          event,
          occurredAt: Date.parse("2026-01-02T03:04:05Z")
        }))
      )
      cases.forEach(({ event, status }, index) => {
        const asked = statusOfEvent(event)
        assert.deepStrictEqual(
          { status: recorded[index]!.status, alert: recorded[index]!.alert },
          { status: asked === undefined ? status : advance(status, asked), alert: isProviderFailure(event) },
          `${event} on ${status}`
        )
      })
    }).pipe(Effect.provide(layer.pipe(Layer.provideMerge(layerPostgres))), Effect.orDie)
)
