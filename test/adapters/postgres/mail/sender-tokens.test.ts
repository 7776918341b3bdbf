import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/mail/sender-tokens.ts"
import { SenderWorld, suite } from "../../../contracts/mail/sender-tokens.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const world = Layer.effect(
  SenderWorld,
  Effect.map(WriteSql, (sql) =>
    SenderWorld.of({
      // Time goes by for the rows: every moment in them moves into the past.
      pass: (seconds) =>
        sql`update sender_tokens set last_used_at = last_used_at - make_interval(secs => ${seconds})`.pipe(
          Effect.asVoid,
          Effect.orDie
        ),
      audit: sql<{ readonly action: string; readonly target: string; readonly actor: string }>`
        select action, target, actor from admin_audit_log order by created_at`.pipe(
        Effect.map((rows) => rows.map(({ action, actor, target }) => [action, target, actor] as const)),
        Effect.orDie
      ),
      stored: sql`select t::text as text, encode(token_hash, 'escape') as bytes from sender_tokens t`.pipe(
        Effect.map((rows) => JSON.stringify(rows)),
        Effect.orDie
      )
    })
  )
)

suite(
  "PostgreSQL",
  Layer.fresh(
    Layer.merge(world, Layer.provide(layer, NodeCrypto.layer)).pipe(Layer.provideMerge(layerPostgres))
  ),
  it.live
)
