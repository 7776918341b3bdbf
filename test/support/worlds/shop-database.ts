import pg from "pg"

import { snippetsOf } from "../files/snippets.ts"

/** The blocks of the guide to mail in one's own transaction. */
export const transactionGuide = snippetsOf(
  new URL("../../../docs/guides/own-transaction.md", import.meta.url)
)

/** The application of that guide: a table of orders, and a role that may write them and was granted what the guide says. */
export interface Shop {
  /** As the application connects. */
  readonly url: string
  /** Runs SQL as the application, or as the owner of the database. */
  readonly run: (statements: string, as?: "application" | "owner") => Promise<void>
  /** Orders and keys of queued mails since the last look. */
  readonly written: () => Promise<{
    readonly orders: ReadonlyArray<string>
    readonly keys: ReadonlyArray<string>
  }>
  readonly close: () => Promise<void>
}

/** Makes it in a migrated database. */
export const openShop = async (ownerUrl: string): Promise<Shop> => {
  const owner = new pg.Client(ownerUrl)
  await owner.connect()
  await owner.query(`
    create table orders (id integer generated always as identity primary key, email text not null);
    create role shop login password 'shop';
    grant select, insert on orders to shop`)
  const grant = transactionGuide.find(({ text }) => text.startsWith("grant postlane_enqueue"))
  await owner.query(grant?.text ?? "")
  const url = new URL(ownerUrl)
  url.username = "shop"
  url.password = "shop"
  const application = new pg.Client(url.href)
  await application.connect()
  const taken = async (statement: string) =>
    (await owner.query<{ readonly name: string }>(statement)).rows.map(({ name }) => name)
  return {
    url: url.href,
    run: async (statements, as = "application") => {
      await (as === "owner" ? owner : application).query(statements)
    },
    written: async () => ({
      orders: await taken(
        "with x as (delete from orders returning id) select 'order/' || id as name from x order by id"
      ),
      keys: await taken(
        "with x as (delete from email_send_queue returning *) select idempotency_key as name from x order by created_at"
      )
    }),
    close: async () => {
      await application.end()
      await owner.query("drop owned by shop; drop role shop")
      await owner.end()
    }
  }
}
