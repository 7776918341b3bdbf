import { Effect, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import pg from "pg"
import postgres from "postgres"
import { afterAll, afterEach, assert, beforeAll, describe, expect, it } from "vitest"

import { layerSqlClient, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import {
  cancelEmail,
  cancelEmailEffect,
  enqueueEmail,
  enqueueEmailEffect,
  type EnqueueRequest,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest,
  type TransactionClient
} from "../../../../src/runtime/entries/library.ts"
import { layerPostgres, TestDatabase } from "../../../support/postgres/postgres.ts"
import { untilFound } from "../../../support/until.ts"

const request = (change: Partial<EnqueueRequest> = {}): EnqueueRequest => ({
  to: "ann@x.test",
  subject: "Hellö",
  text: "t",
  category: "transactional",
  source: "shop",
  ...change
})

const database = ManagedRuntime.make(layerPostgres)
let url: string
/** Of a role that was granted `postlane_enqueue`, and has nothing else. */
let plainUrl: string
const ROLE = `caller_${process.pid}`

const rows = (statement: string) =>
  database.runPromise(WriteSql.use((sql) => sql.unsafe(statement).unprepared))
const isQueued = async (id: string) =>
  (await rows(`select state from email_send_queue where id = '${id}'`)).length > 0

beforeAll(async () => {
  ;({ url } = await database.runPromise(TestDatabase))
  await rows(`create role ${ROLE} login password 'p' in role postlane_enqueue`)
  const plain = new URL(url)
  plain.username = ROLE
  plain.password = "p"
  plainUrl = plain.href
})
afterAll(async () => {
  await rows(`drop role ${ROLE}`)
  await database.dispose()
})

/** A connection of a caller: statements, and what `enqueueEmail` is given. */
interface Caller {
  readonly client: TransactionClient
  readonly run: (statement: string) => Promise<unknown>
  readonly end: () => Promise<void>
}

const callers: Readonly<Record<string, (to: string) => Promise<Caller>>> = {
  pg: async (connectionString) => {
    const client = new pg.Client({ connectionString })
    await client.connect()
    return { client, run: (statement) => client.query(statement), end: () => client.end() }
  },
  "a pool of pg": async (connectionString) => {
    const pool = new pg.Pool({ connectionString, max: 1 })
    return { client: pool, run: (statement) => pool.query(statement), end: () => pool.end() }
  },
  "a tag of postgres": async (address) => {
    const sql = postgres(address, { max: 1, onnotice: () => {} })
    const client = await sql.reserve()
    return {
      client,
      run: async (statement) => client.unsafe(statement),
      end: async () => {
        client.release()
        await sql.end()
      }
    }
  }
}

const open: Array<Caller> = []
const connect = async (driver: string, to = url): Promise<Caller> => {
  const caller = await callers[driver]!(to)
  open.push(caller)
  return caller
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ end }) => end()))
})

/** The error that a promise rejects with. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("it did not reject"),
    (error: unknown) => error
  )

/** Waits until a statement on the database waits for a lock. */
const untilWaiting = () =>
  database.runPromise(
    untilFound(
      "somebody waits for the transaction",
      WriteSql.use((sql) =>
        Effect.map(
          sql<object>`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          ([row]) => row
        )
      )
    )
  )

describe.each(Object.keys(callers))("Q1: the own transaction of %s", (driver) => {
  it("queues what is committed, and nothing of what is rolled back", async () => {
    const { client, run } = await connect(driver)
    await run("begin")
    const { queueId } = await enqueueEmail(request({ tags: { order: "17" } }), { client })
    assert.isFalse(await isQueued(queueId))
    await run("commit")
    const [row] = await rows(`select request from email_send_queue where id = '${queueId}'`)
    expect(row).toMatchObject({ request: { ...request(), tags: { order: "17" } } })

    await run("begin")
    const lost = await enqueueEmail(request(), { client })
    await run("rollback")
    assert.isFalse(await isQueued(lost.queueId))
  })

  it("names the field of a request that is refused; the transaction is over then, and the connection is not", async () => {
    const { client, run } = await connect(driver)
    for (const [wrong, path] of [
      [request({ to: [] }), "to"],
      [request({ to: ["ann@x.test", "none"] }), "to.1"],
      [request({ subject: " " }), "subject"],
      [{ ...request(), sendat: "x" } as EnqueueRequest, "sendat"],
      [request({ sendAt: "in 1 hour" }), "sendAt"],
      [request({ list: "weekly" }), "list"],
      [request({ list: "Weekly", category: "marketing" }), "list"],
      [request({ list: `a${"b".repeat(64)}`, category: "marketing" }), "list"],
      [request({ sendAt: new Date(Date.now() + 31 * 24 * 3_600_000) }), "sendAt"],
      [request({ text: "x".repeat(1024 * 1024) }), ""],
      [undefined as unknown as EnqueueRequest, ""],
      [[request()] as unknown as EnqueueRequest, ""]
    ] as const) {
      await run("begin")
      const error = await errorOf(enqueueEmail(wrong, { client }))
      assert.instanceOf(error, InvalidRequest)
      assert.strictEqual(error.issues[0]?.path, path)
      await run("rollback")
    }
    const { queueId } = await enqueueEmail(
      request({ sendAt: new Date(Date.now() + 3_600_000), list: "weekly", category: "marketing" }),
      { client }
    )
    assert.isTrue(await isQueued(queueId))
  })

  it("Q3: a key queues once: the same request gets the first id, another one is a conflict", async () => {
    const { client } = await connect(driver)
    const keyed = request({ idempotencyKey: `order/${driver}` })
    const first = await enqueueEmail(keyed, { client })
    assert.deepStrictEqual(await enqueueEmail(keyed, { client }), first)
    const error = await errorOf(enqueueEmail({ ...keyed, subject: "Another" }, { client }))
    assert.instanceOf(error, IdempotencyConflict)
    assert.strictEqual(error.idempotencyKey, `order/${driver}`)
  })

  it("waits for the transaction that queues the same key, and sees its id", async () => {
    const keyed = request({ idempotencyKey: `open/${driver}` })
    const [one, other] = [await connect(driver), await connect(driver)]
    await one.run("begin")
    const first = await enqueueEmail(keyed, { client: one.client })
    const waiting = enqueueEmail(keyed, { client: other.client })
    await untilWaiting()
    await one.run("commit")
    assert.deepStrictEqual(await waiting, first)

    await one.run("begin")
    await enqueueEmail(request({ idempotencyKey: `gone/${driver}` }), { client: one.client })
    const alone = enqueueEmail(request({ idempotencyKey: `gone/${driver}` }), { client: other.client })
    await untilWaiting()
    await one.run("rollback")
    assert.isTrue(await isQueued((await alone).queueId))

    await one.run("begin")
    await enqueueEmail(request({ idempotencyKey: `long/${driver}` }), { client: one.client })
    await other.run("set lock_timeout = '50ms'")
    const late = enqueueEmail(request({ idempotencyKey: `long/${driver}` }), { client: other.client })
    assert.instanceOf(await errorOf(late), IdempotencyInProgress)
    await one.run("rollback")
  })

  it("REPEATABLE READ: a key that was committed since the snapshot is the driver's error 40001", async () => {
    const keyed = request({ idempotencyKey: `snapshot/${driver}` })
    const [one, other] = [await connect(driver), await connect(driver)]
    await one.run("begin isolation level repeatable read")
    await one.run("select 1")
    await enqueueEmail(keyed, { client: other.client })
    expect(await errorOf(enqueueEmail(keyed, { client: one.client }))).toMatchObject({ code: "40001" })
    await one.run("rollback")
  })

  it("cancels in the transaction, and says where the mail stands", async () => {
    const { client, run } = await connect(driver)
    const { queueId } = await enqueueEmail(request(), { client })
    await run("begin")
    assert.strictEqual(await cancelEmail(queueId, { client }), "cancelled")
    await run("rollback")
    expect(await rows(`select state from email_send_queue where id = '${queueId}'`)).toEqual([
      { state: "queued" }
    ])
    assert.strictEqual(await cancelEmail(queueId, { client }), "cancelled")
    assert.strictEqual(await cancelEmail(queueId, { client }), "cancelled")
    assert.isUndefined(await cancelEmail("00000000-0000-4000-8000-000000000000", { client }))
    await rows(
      `update email_send_queue set state = 'sending', lease = gen_random_uuid() where id = '${(await enqueueEmail(request({ idempotencyKey: `sent/${driver}` }), { client })).queueId}'`
    )
    const { queueId: sending } = await enqueueEmail(request({ idempotencyKey: `sent/${driver}` }), { client })
    assert.strictEqual(await cancelEmail(sending, { client }), "sending")
  })

  it("Q8: a plain role with postlane_enqueue queues and cancels, and may do nothing else", async () => {
    const { client, run } = await connect(driver, plainUrl)
    const { queueId } = await enqueueEmail(request(), { client })
    assert.strictEqual(await cancelEmail(queueId, { client }), "cancelled")
    const tables = await rows(
      "select oid::regclass::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')"
    )
    assert.isAbove(tables.length, 30)
    for (const { name } of tables as ReadonlyArray<{ readonly name: string }>)
      for (const statement of [`select from ${name}`, `delete from ${name}`])
        expect([name, await errorOf(run(statement))]).toEqual([
          name,
          expect.objectContaining({ code: "42501" })
        ])
    const functions = await rows(
      `select p.proname as name from pg_proc p where p.pronamespace = 'public'::regnamespace and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
        and has_function_privilege('${ROLE}', p.oid, 'execute') order by 1`
    )
    expect(functions).toEqual([{ name: "cancel_email" }, { name: "enqueue_email" }])
    expect(await errorOf(run("create table mine ()"))).toMatchObject({ code: "42501" })
  })
})

describe("enqueueEmail", () => {
  it("runs in a transaction of postgres, which rolls back where it rejects", async () => {
    const sql = postgres(url, { max: 2, onnotice: () => {} })
    await sql`create table orders (id integer primary key)`
    const { queueId } = await sql.begin(async (client) => {
      await client`insert into orders values (1)`
      return enqueueEmail(request(), { client })
    })
    assert.isTrue(await isQueued(queueId))
    const error = await errorOf(
      sql.begin(async (client) => {
        await client`insert into orders values (2)`
        return enqueueEmail(request({ to: "none" }), { client })
      })
    )
    assert.instanceOf(error, InvalidRequest)
    expect([...(await sql`select id from orders`)]).toEqual([{ id: 1 }])
    assert.isTrue(await isQueued((await enqueueEmail(request(), { client: sql })).queueId))
    await sql.end()
  })

  it("two batches over the relay in opposite order do not wait for each other", async () => {
    const entries = (keys: ReadonlyArray<string>) =>
      JSON.stringify(
        keys.map((idempotencyKey) => ({ request: request({ idempotencyKey }), payload_hash: null }))
      )
    const keys = Array.from({ length: 200 }, (_, at) => `batch/${at}`)
    const [one, other] = [await connect("pg"), await connect("pg")]
    const put = ({ run }: Caller, order: ReadonlyArray<string>) =>
      run(`select ordinal, id from enqueue_emails('${entries(order)}'::jsonb) order by ordinal`) as Promise<
        pg.QueryResult<{ readonly id: string }>
      >
    const [first, second] = await Promise.all([put(one, keys), put(other, keys.toReversed())])
    assert.deepStrictEqual(
      second.rows.map(({ id }) => id),
      first.rows.map(({ id }) => id).toReversed()
    )
  })

  it("runs in the transaction of Effect's client", () =>
    database.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { queueId } = yield* sql.withTransaction(enqueueEmailEffect(request()))
        assert.strictEqual(yield* cancelEmailEffect(queueId), "cancelled")
        let lost = ""
        yield* sql
          .withTransaction(
            Effect.gen(function* () {
              lost = (yield* enqueueEmailEffect(request())).queueId
              assert.strictEqual(yield* cancelEmailEffect(lost), "cancelled")
              yield* enqueueEmailEffect(request({ to: "none" }))
            })
          )
          .pipe(
            Effect.catchTag("InvalidRequest", ({ issues }) =>
              Effect.sync(() => assert.strictEqual(issues[0]?.path, "to"))
            )
          )
        assert.isUndefined(yield* cancelEmailEffect(lost))
      }).pipe(Effect.provide(layerSqlClient))
    ))

  it("names what a client must be", async () => {
    const error = await errorOf(enqueueEmail(request(), { client: {} as TransactionClient }))
    assert.instanceOf(error, TypeError)
    assert.match(error.message, /client must be a client or pool of pg/)
  })
})
