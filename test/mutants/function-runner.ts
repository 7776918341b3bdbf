/**
 * Runs each test once for each fault of the functions that its statements reach and that nothing has noticed yet: the fault is put into
 * the databases that the test file uses, and taken back. What a run noticed it appends to the file that `POSTLANE_FAULTS` names, as
 * `runner.ts` does; `POSTLANE_FUNCTIONS` names the file of the functions.
 */
import { appendFileSync, readFileSync } from "node:fs"

import { Effect, ManagedRuntime, Redacted } from "effect"
import fc from "fast-check"
import { inject, TestRunner, type RunnerTestCase, type RunnerTestFile } from "vitest"

import { layerSingle, WriteSql } from "../../src/adapters/postgres/client.ts"
import { NO_PROGRAM, noticedIn, UNFIT } from "./noticed.ts"
import { listen } from "./wire.ts"

/** A function of the database with its faults. */
export interface FaultyFunction {
  readonly name: string
  readonly text: string
  readonly faults: ReadonlyArray<{ readonly number: number; readonly text: string }>
  /** The tables whose triggers call it. */
  readonly tables: ReadonlyArray<string>
}

const file = process.env["POSTLANE_FAULTS"] ?? ""
const functions = JSON.parse(
  readFileSync(process.env["POSTLANE_FUNCTIONS"] ?? "", "utf8")
) as ReadonlyArray<FaultyFunction>

/** A test that takes longer, in milliseconds, is not repeated: another one has to notice. */
const LONGEST_MS = 3000

const TEMPLATE = "postlane_template"

const wire = listen()

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/[a-z_0-9]+/g))
const WORDS = new Map(functions.map(({ name, text }) => [name, wordsOf(text)]))

/** The functions that the statements call, and those that these call or that a table's trigger calls. */
const reachedBy = (statements: Iterable<string>): ReadonlySet<FaultyFunction> => {
  const reached = new Set<FaultyFunction>()
  const visit = (words: ReadonlySet<string>) => {
    for (const one of functions) {
      if (reached.has(one) || !(words.has(one.name) || one.tables.some((table) => words.has(table)))) continue
      reached.add(one)
      visit(WORDS.get(one.name) ?? new Set())
    }
  }
  for (const statement of statements) visit(wordsOf(statement))
  return reached
}

const clientOf = (database: string) => {
  const url = new URL(inject("postgresUrl"))
  url.pathname = `/${database}`
  return layerSingle({ url: Redacted.make(url.href) })
}

/** A connection to each database of a test, until that is dropped. */
const connections = new Map<string, ManagedRuntime.ManagedRuntime<WriteSql, unknown>>()

const run = (database: string, statement: string): Promise<void> => {
  const sent = WriteSql.use((sql) => Effect.asVoid(sql.unsafe(statement).unprepared))
  // The template is copied only while nobody is connected to it.
  if (database === TEMPLATE) return Effect.runPromise(Effect.provide(sent, clientOf(database)))
  const connection = connections.get(database) ?? ManagedRuntime.make(clientOf(database))
  connections.set(database, connection)
  return connection.runPromise(sent)
}

const inEach = async (databases: ReadonlyArray<string>, statement: string) => {
  for (const name of databases) await run(name, statement)
}

/** Keeps the rows of all tables, as they are now. */
const KEEP = `do $$
declare name regclass;
begin
  drop schema if exists kept cascade;
  create schema kept;
  for name in select oid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' loop
    execute format('create table kept.%I as table %s', (select relname from pg_class where oid = name), name);
  end loop;
end $$`

/** Puts them back, after the transactions of a test that was given up. */
const PUT_BACK = `do $$
declare name regclass; columns text; there boolean;
begin
  perform pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - interval '5 s';
  set local session_replication_role = 'replica';
  for name in select oid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' loop
    execute format('select exists (select from %s) or exists (select from kept.%I)', name,
      (select relname from pg_class where oid = name)) into there;
    continue when not there;
    execute format('delete from %s', name);
    select string_agg(quote_ident(attname), ',') into columns from pg_attribute
      where attrelid = name and attnum > 0 and not attisdropped and attgenerated = '';
    execute format('insert into %s (%s) overriding system value select %2$s from kept.%I', name, columns,
      (select relname from pg_class where oid = name));
  end loop;
end $$`

const fails = async (test: () => unknown): Promise<boolean> => {
  try {
    await test()
    return false
  } catch {
    return true
  }
}

export default class FunctionFaultRunner extends TestRunner {
  private noticed = new Map<number, string>()

  override onCollectStart(collected: RunnerTestFile): void {
    super.onCollectStart(collected)
    fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })
    this.noticed = noticedIn(readFileSync(file, "utf8"))
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const body = TestRunner.getTestFn(test as never) as (() => unknown) | undefined
    if (body === undefined) throw new Error("a test without a function")
    const standing = [...wire.databases].filter((name) => name.startsWith("test_"))
    await inEach(standing, KEEP)
    const statements = wire.note()
    const began = performance.now()
    if (await fails(body)) return this.note(UNFIT, test.fullName)
    const took = performance.now() - began
    const open = [...reachedBy(statements)]
      .flatMap((fn) => fn.faults.map((fault) => ({ ...fault, whole: fn.text })))
      .filter(({ number }) => !this.noticed.has(number))
    if (open.length === 0) return
    if (took > LONGEST_MS) return this.note(UNFIT, `${test.fullName} (slow)`)
    const used = [...wire.databases].filter((name) => name.startsWith("test_"))
    // A test that makes its own database copies the template.
    if ([...statements].some((text) => text.startsWith("create database"))) used.push(TEMPLATE)
    const again = async () => {
      await inEach(standing, PUT_BACK)
      return fails(body)
    }
    if (await again()) return this.note(UNFIT, test.fullName)
    for (const { number, text, whole } of open) {
      if (await fails(() => inEach(used, text))) {
        this.note(number, NO_PROGRAM)
        continue
      }
      const isNoticed = await again()
      await inEach(used, whole)
      if (!isNoticed) continue
      this.note(number, test.fullName)
      // What the fault left behind is no proof of the next one.
      if (await again()) return this.note(UNFIT, `${test.fullName} (after a fault)`)
    }
  }

  private note(fault: number, name: string): void {
    if (fault !== UNFIT) this.noticed.set(fault, name)
    appendFileSync(file, `${fault} ${name.replaceAll("\n", " ")}\n`)
  }
}
