import { execFileSync } from "node:child_process"
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"

import { ManagedRuntime, Redacted } from "effect"
import { createTransport } from "nodemailer"

import { layerSingle, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { writeLargePdf } from "../../support/files/pdf-large.ts"
import { programOf } from "../../support/processes/child.ts"
import { median } from "../measure.ts"
import { startDatabase } from "../process.ts"
import { markdown } from "../report.ts"
import type { ConvertFigures } from "./convert-process.ts"
import { type IntakeServer, startIntakeServer } from "./intake-server.ts"

const POLL_MS = 50

/** One mail after the other: medians, in seconds. */
export interface MailTimes {
  readonly pages: number
  readonly mails: number
  /** From the first byte of the connection to 250: stored, and its row written. */
  readonly received: number
  /** From 250 until the result is stored and charged. */
  readonly converted: number
  /** From then until the reply is with the provider. */
  readonly replied: number
  /** From the first byte to the reply. */
  readonly whole: number
  /** The conversion alone, in a process that does nothing else. */
  readonly alone: number
  /** Of the processor, means: the server's process, all that it does for a mail, and the conversion alone. */
  readonly cpu: number | undefined
  readonly aloneCpu: number
}

/** Mails that come all at once. */
export interface MailBurst {
  readonly mails: number
  readonly pages: number
  /** Until the last one was answered 250, and until the last reply was with the provider. */
  readonly receivedSeconds: number
  readonly seconds: number
  /** Resident memory of the server's process at most, bytes. */
  readonly peakBytes: number | undefined
  /** The conversions alone, one after the other. */
  readonly aloneSeconds: number
}

/** What a run found. */
export interface IntakeFigures {
  readonly times: ReadonlyArray<MailTimes>
  readonly burst: MailBurst
}

interface Ends {
  readonly received_at: number
  readonly ended_at: number
  readonly replied_at: number
}

/** One connection, for the benchmark's own questions. */
const openDatabase = (url: string) => {
  const runtime = ManagedRuntime.make(layerSingle({ url: Redacted.make(url) }))
  return {
    register: (sender: string) =>
      runtime.runPromise(
        WriteSql.use(
          (sql) =>
            sql`insert into customers (email, plan_type, credits_remaining) values (${sender}, 'paid', 1000000)`
        )
      ),
    /** Waits until so many mails of a sender have been answered with their results; by times of the database. */
    answered: async (sender: string, mails: number): Promise<ReadonlyArray<Ends>> => {
      for (;;) {
        const ends = await runtime.runPromise(
          WriteSql.use(
            (sql) => sql<Ends>`select
                extract(epoch from m.received_at)::float8 as received_at, extract(epoch from m.ended_at)::float8 as ended_at,
                extract(epoch from r.ended_at)::float8 as replied_at
              from intake_mails m join intake_replies r on r.mail_id = m.id and r.kind = 'success' and r.status = 'sent'
              where m.sender = ${sender}`
          )
        )
        if (ends.length >= mails) return ends
        await wait(POLL_MS)
      }
    },
    close: () => runtime.dispose()
  }
}

const send = async (server: IntakeServer, from: string, content: Buffer) => {
  const client = createTransport({ host: "127.0.0.1", port: server.port, ignoreTLS: true })
  try {
    await client.sendMail({
      from,
      to: "convert@legacy.postlane.test",
      attachments: [{ filename: "document.pdf", content }]
    })
  } finally {
    client.close()
  }
}

/** Of the epoch, as the database has it. */
const now = (): number => (performance.timeOrigin + performance.now()) / 1_000

/** Mails of each length, one after the other, and then many at once; the embedded database, and a server of one process. */
export const measureIntake = async (options: {
  readonly pages: ReadonlyArray<number>
  readonly rounds: number
  readonly burst: number
  /** A migrated database in the embedded one's place. */
  readonly databaseUrl?: string
}): Promise<IntakeFigures> => {
  const folder = await mkdtemp(join(tmpdir(), "postlane-bench-"))
  await chmod(folder, 0o755)
  const database = await startDatabase(options.databaseUrl)
  const { url } = database
  const { answered, close, register } = openDatabase(url)
  const server = await startIntakeServer(url, join(folder, "data"))
  try {
    const alone = (path: string): { readonly seconds: number; readonly cpu: number } => {
      const printed = execFileSync(process.execPath, [
        programOf("test/bench/delivery/convert-process.ts"),
        path,
        String(options.rounds + 1)
      ])
      const { cpuSeconds, seconds } = JSON.parse(printed.toString()) as ConvertFigures
      return {
        seconds: median(seconds),
        cpu: cpuSeconds.reduce((sum, one) => sum + one, 0) / cpuSeconds.length
      }
    }
    const document = async (pages: number) => {
      const path = join(folder, `${pages}.pdf`)
      // With pictures a longer one is larger than a mail may be.
      writeLargePdf(path, pages, pages <= 100)
      return { path, content: await readFile(path) }
    }
    const times: Array<MailTimes> = []
    for (const pages of options.pages) {
      const { content, path } = await document(pages)
      const sender = `pages-${pages}@reader.test`
      await register(sender)
      const rounds: Array<Pick<MailTimes, "received" | "converted" | "replied" | "whole">> = []
      let cpuBefore: number | undefined
      // The first one loads the code.
      for (let round = 0; round <= options.rounds; round++) {
        const started = now()
        await send(server, sender, content)
        const received = now()
        const last = (await answered(sender, round + 1)).reduce((a, b) =>
          a.received_at > b.received_at ? a : b
        )
        if (round === 0) {
          cpuBefore = server.figures()?.cpuSeconds
          continue
        }
        rounds.push({
          received: received - started,
          converted: last.ended_at - received,
          replied: last.replied_at - last.ended_at,
          whole: last.replied_at - started
        })
      }
      const cpuAfter = server.figures()?.cpuSeconds
      const limit = alone(path)
      const middle = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of))
      times.push({
        pages,
        mails: rounds.length,
        received: middle(({ received }) => received),
        converted: middle(({ converted }) => converted),
        replied: middle(({ replied }) => replied),
        whole: middle(({ whole }) => whole),
        alone: limit.seconds,
        cpu:
          cpuBefore === undefined || cpuAfter === undefined
            ? undefined
            : (cpuAfter - cpuBefore) / rounds.length,
        aloneCpu: limit.cpu
      })
    }
    const { content, path } = await document(1)
    await register("burst@reader.test")
    const started = now()
    await Promise.all(Array.from({ length: options.burst }, () => send(server, "burst@reader.test", content)))
    const received = now()
    const ends = await answered("burst@reader.test", options.burst)
    const burst: MailBurst = {
      mails: options.burst,
      pages: 1,
      receivedSeconds: received - started,
      seconds: Math.max(...ends.map(({ replied_at }) => replied_at)) - started,
      peakBytes: server.figures()?.peakBytes,
      aloneSeconds: (times.find(({ pages }) => pages === 1)?.alone ?? alone(path).seconds) * options.burst
    }
    return { times, burst }
  } finally {
    await server.stop()
    await close()
    await database.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const ms = (value: number): string => Math.round(value * 1_000).toLocaleString("en")

/** The tables for docs/explanation/performance.md. */
export const intakeTables = ({ burst, times }: IntakeFigures): string =>
  [
    markdown([
      [
        "pages",
        "mail to reply ms",
        "received",
        "converted",
        "replied",
        "conversion alone ms",
        "of the whole",
        "CPU ms",
        "conversion's"
      ],
      ...times.map(({ alone, aloneCpu, converted, cpu, pages, received, replied, whole }) => [
        String(pages),
        ms(whole),
        ms(received),
        ms(converted),
        ms(replied),
        ms(alone),
        (alone / whole).toFixed(2),
        cpu === undefined ? "–" : ms(cpu),
        ms(aloneCpu)
      ])
    ]),
    markdown([
      [
        "mails at once",
        "all taken in s",
        "all answered s",
        "a second",
        "peak RSS MB",
        "conversions alone s",
        "of the whole"
      ],
      [
        String(burst.mails),
        burst.receivedSeconds.toFixed(1),
        burst.seconds.toFixed(1),
        (burst.mails / burst.seconds).toFixed(1),
        burst.peakBytes === undefined ? "–" : String(Math.round(burst.peakBytes / 1024 / 1024)),
        burst.aloneSeconds.toFixed(1),
        (burst.aloneSeconds / burst.seconds).toFixed(2)
      ]
    ])
  ].join("\n\n")
