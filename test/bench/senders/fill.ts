import { Effect, Redacted } from "effect"

import { layerSingle, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { SUBJECT } from "./sender.ts"

/** Fills an empty database: addresses that are suppressed, and rows for each of the two writers of events. */
export const fill = (
  url: string,
  { suppressions, eventRows }: { readonly suppressions: number; readonly eventRows: number }
): Promise<void> => {
  const statements = [
    // The role's own limit is for the product's statements; these take longer where the machine is busy.
    "set statement_timeout = 0",
    `insert into email_suppressions (email, reason)
      select 'blocked' || n || '@example.com', 'hard_bounce' from generate_series(1, ${suppressions}) as n`,
    ...["driver", "batched"].map(
      (
        writer
      ) => `insert into email_log (category, source, from_address, to_addresses, recipient_count, subject, outcome,
        status, provider, provider_message_id)
      select 'transactional', 'bench', 'noreply@postlane.test', array['user' || n || '@example.com'], 1,
        '${SUBJECT}', 'sent', 'sent', 'provider_a', '${writer}-' || n from generate_series(0, ${eventRows - 1}) as n`
    ),
    "vacuum analyze email_suppressions",
    "vacuum analyze email_log"
  ]
  const run = WriteSql.use((sql) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement).unprepared, { discard: true })
  )
  return Effect.runPromise(Effect.provide(run, layerSingle({ url: Redacted.make(url) })))
}
