import { Client, type QueryConfig } from "pg"

import { ENQUEUE } from "../../../src/adapters/postgres/mail/own-transaction.ts"
import type { Row } from "../rows.ts"
import type { OpenSender } from "../senders/sender.ts"
import { newMails } from "./queued-mail.ts"

/** A table as one has it anyhow: a key, the time, and what it is about. */
const BARE_TABLE = `
create table if not exists bare_mails (
  id uuid primary key default gen_random_uuid(), request jsonb not null, created_at timestamptz not null default now()
);
create index if not exists bare_mails_created on bare_mails (created_at);`

const BARE = "insert into bare_mails (request) values ($1::text::jsonb) returning id as answer"

/** One statement in a transaction of its own; each caller has a connection. */
const inTransaction =
  (name: string, text: string): OpenSender =>
  async ({ databaseUrl }, concurrency) => {
    const clients = Array.from({ length: concurrency }, () => new Client({ connectionString: databaseUrl }))
    await Promise.all(clients.map((client) => client.connect()))
    await clients[0]?.query(BARE_TABLE)
    const free = [...clients]
    return {
      send: async () => {
        const client = free.pop()
        if (client === undefined) throw new Error("more callers than connections")
        const statement: QueryConfig = { name, text, values: newMails(1).map((mail) => JSON.stringify(mail)) }
        await client.query("begin")
        await client.query(statement)
        await client.query("commit")
        free.push(client)
      },
      close: async () => {
        await Promise.all(clients.map((client) => client.end()))
      }
    }
  }

const BARE_NAME = "bare insert, two indexes"

/** What a mail in the caller's own transaction costs. Each transaction is the same but for its one statement. */
export const ENQUEUEING: ReadonlyArray<Row> = [
  { name: BARE_NAME, open: inTransaction("bare", BARE), concurrencies: [1, 8] },
  {
    name: "enqueue_email",
    open: inTransaction("enqueue", ENQUEUE),
    baseline: BARE_NAME,
    // 1.25 times as long.
    targets: { 1: 0.8, 8: 0.8 },
    concurrencies: [1, 8]
  }
]
