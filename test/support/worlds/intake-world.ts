import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Duration, Effect, Exit, Layer, Logger, Schema, Scope, Stream } from "effect"
import * as Mac from "effect/crypto/Mac"
import { createTransport, type SendMailOptions } from "nodemailer"

import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import * as Html from "../../../src/adapters/html/html-assembly.ts"
import * as LocalModel from "../../../src/adapters/local-model/vision-model.ts"
import * as MailTemplates from "../../../src/adapters/mail-templates/mail-templates.ts"
import { layerNone } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { makeMemoryProvider, type MemoryCopy } from "../../../src/adapters/memory/mail/mail-provider.ts"
import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import {
  layerInProcess,
  type MailReaderOptions
} from "../../../src/adapters/postal-mime/process-mail-reader.ts"
import * as ReturnReader from "../../../src/adapters/postal-mime/process-return-reader.ts"
import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import * as DeliveryLog from "../../../src/adapters/postgres/delivery/delivery-log.ts"
import * as PostgresIntake from "../../../src/adapters/postgres/inbound/intake-store.ts"
import * as Deferrals from "../../../src/adapters/postgres/mail/deferrals.ts"
import * as MailStore from "../../../src/adapters/postgres/mail/mail-store.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { serveSmtp, type SmtpOptions } from "../../../src/adapters/smtp/smtp-server.ts"
import * as ReadPages from "../../../src/application/conversion/work/read-pages.ts"
import { Alerts } from "../../../src/application/delivery/alerts.ts"
import * as EventRecording from "../../../src/application/delivery/event-recording.ts"
import * as ReturnedMails from "../../../src/application/delivery/returned-mail.ts"
import {
  ConvertByEmail,
  layer as layerConvertByEmail
} from "../../../src/application/inbound/convert-by-email.ts"
import * as InProcessPipeline from "../../../src/application/inbound/in-process-pipeline.ts"
import { IntakeConfig } from "../../../src/application/inbound/intake-config.ts"
import * as LibraryReplies from "../../../src/application/inbound/library-replies.ts"
import * as Mailer from "../../../src/application/mail/mailer.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import type { FailedSend } from "../../../src/domain/delivery/delivery-event.ts"
import type { AuthenticityRules } from "../../../src/domain/inbound/sender-authenticity.ts"
import type { ReturnAddress } from "../../../src/domain/mail/return-address.ts"
import { ConvertPipeline } from "../../../src/ports/inbound/convert-pipeline.ts"
import { IntakeStore } from "../../../src/ports/inbound/intake-store.ts"
import { ReplyChannel } from "../../../src/ports/inbound/mails.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import { FileObjects, MailObjects } from "../../../src/ports/object-store.ts"
import { mailerConfig } from "../mailer-config.ts"
import { layerPostgres } from "../postgres/postgres.ts"
import { TEMPORARY } from "../temporary.ts"

export const CONVERT = "convert@legacy.test"

const RULES: AuthenticityRules = { trustedHops: [], trustsLoopback: true }

/** What a test may put between intake and a port. `call` runs the real one. */
export type Interfere = <A, E, R>(port: string, call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The same service, every effect of which, and the beginning of every stream, goes through `interfere`. */
const wrapped = <S extends object>(service: S, port: string, interfere: Interfere): S =>
  new Proxy(service, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      const called = `${port}.${String(name)}`
      if (Effect.isEffect(member)) return interfere(called, member)
      if (typeof member !== "function") return member
      return (...args: ReadonlyArray<unknown>) => {
        const result: unknown = Reflect.apply(member, target, args)
        if (Stream.isStream(result)) return Stream.unwrap(interfere(called, Effect.succeed(result)))
        return Effect.isEffect(result) ? interfere(called, result) : result
      }
    }
  })

const through = <I, S extends object>(tag: Context.Key<I, S>, port: string, interfere: Interfere) =>
  Layer.effect(
    tag,
    Effect.map(tag, (service) => wrapped(service, port, interfere))
  )

/** What a pipeline says of a document. */
export interface Pages {
  /** Before it converts; undefined: it cannot tell. */
  readonly counted: number | undefined
  readonly standard: number
  readonly complex: number
  /** Numbers of those that it could not read; none where this is missing. */
  readonly unreadable?: ReadonlyArray<number>
  /** True where this is missing. */
  readonly hasText?: boolean
}

/** A pipeline that converts at once, and says these pages of every document. */
const quickPipeline = (pages: () => Pages) =>
  Layer.effect(
    ConvertPipeline,
    Effect.map(MailObjects, (objects) =>
      ConvertPipeline.of({
        countPages: () => Effect.sync(() => pages().counted),
        convert: ({ resultKey }) =>
          objects
            .put(resultKey, Stream.make(new TextEncoder().encode("<!doctype html><p>done")), {
              contentType: "text/html"
            })
            .pipe(
              Effect.orDie,
              Effect.map((bytes) => ({
                bytes,
                standardPages: pages().standard,
                complexPages: pages().complex,
                unreadablePages: pages().unreadable ?? [],
                hasText: pages().hasText ?? true
              }))
            )
      })
    )
  )

const onePage = (): Pages => ({ counted: 1, standard: 1, complex: 0 })

const realPipeline = InProcessPipeline.layer.pipe(
  Layer.provide(Layer.provide(ReadPages.layer, Layer.effect(FileObjects, MailObjects))),
  Layer.provide([Html.layer, LocalModel.layer]),
  Layer.provide(layerPdf({ threads: 1 })),
  Layer.provide(NodeCrypto.layer)
)

const sending = Layer.succeed(MailerConfig, {
  ...mailerConfig,
  defaults: {
    from: { ...mailerConfig.defaults.from, domain: "sender.test" },
    domains: { sender: "sender.test", legacy: "legacy.test" }
  },
  dbTimeoutMs: 10_000
})

export interface WorldOptions {
  readonly pipeline?: "quick" | "real"
  /** What the quick pipeline says of a document; one page where this is missing. */
  readonly pages?: () => Pages
  readonly interfere?: Interfere
  readonly rules?: AuthenticityRules
  readonly outcome?: () => SimulatedOutcome
  readonly smtp?: Partial<SmtpOptions>
  readonly maxAttachmentBytes?: number
  readonly bounceAddress?: ReturnAddress
  /** What reading one mail may take. */
  readonly reader?: MailReaderOptions
  /** How replies go out; through the library where this is missing. */
  readonly channel?: ReplyChannel["Service"]
  /** How often a worker says that it is alive; a minute where this is missing. */
  readonly heartbeat?: Duration.Duration
}

const quiet = Logger.layer([])

const CustomerFunds = Schema.Struct({
  credits: Schema.Int,
  used: Schema.Int,
  charges: Schema.BigInt,
  charged: Schema.BigInt,
  held: Schema.BigInt
})

/** Convert-by-email as one process runs it: a real SMTP server, PostgreSQL, objects on disk, the mailer on providers in memory. */
export const startIntake = async (options: WorldOptions = {}) => {
  const folder = await mkdtemp(join(TEMPORARY, "postlane-intake-"))
  const scope = Scope.makeUnsafe()
  const alerts: Array<FailedSend> = []
  const interfere: Interfere = options.interfere ?? ((_, call) => call)
  const rules = options.rules ?? RULES
  const provider = makeMemoryProvider({
    provider: "provider_a",
    outcome: () => Effect.sync(() => options.outcome?.() ?? "ok")
  })
  const objects = Layer.succeed(MailObjects, makeDiskObjects(folder))
  const mailer = Mailer.layer.pipe(
    Layer.provide([
      sending,
      layerNone,
      MailStore.layer,
      NodeCrypto.layer,
      Layer.succeed(MailProviders, { get: (name) => (name === "provider_a" ? provider.provider : undefined) })
    ])
  )
  const channel = Layer.effect(
    ReplyChannel,
    Effect.map(ReplyChannel, (real) => ({
      ...real,
      maxAttachmentBytes: options.maxAttachmentBytes ?? real.maxAttachmentBytes
    }))
  ).pipe(
    Layer.provide(
      options.channel === undefined
        ? LibraryReplies.layer({ from: "Postlane <noreply@sender.test>", replyTo: CONVERT })
        : Layer.succeed(ReplyChannel, options.channel)
    ),
    Layer.provide([mailer, Deferrals.layer])
  )
  const ports = Layer.mergeAll(
    through(MailObjects, "objects", interfere).pipe(Layer.provide(objects)),
    through(IntakeStore, "store", interfere).pipe(Layer.provide(PostgresIntake.layer)),
    through(ReplyChannel, "channel", interfere).pipe(Layer.provide(channel)),
    through(ConvertPipeline, "pipeline", interfere).pipe(
      Layer.provide(
        (options.pipeline ?? "quick") === "quick" ? quickPipeline(options.pages ?? onePage) : realPipeline
      ),
      Layer.provide(objects)
    )
  )
  const layer = layerConvertByEmail.pipe(
    Layer.provide([
      ports,
      Layer.provide(layerInProcess(options.reader), ReaderProcess.layer),
      MailTemplates.layer,
      Mac.layerWebCrypto,
      NodeCrypto.layer,
      Layer.succeed(IntakeConfig, {
        convertAddress: CONVERT,
        convertAddresses: new Set([CONVERT, "convert@in.test"]),
        ownAddresses: new Set([CONVERT, "noreply@sender.test"]),
        authenticity: rules,
        registerUrl: "https://p.test/#register",
        buyUrl: "https://p.test/#credits",
        baseUrl: "https://p.test",
        heartbeat: options.heartbeat ?? Duration.minutes(1)
      })
    ]),
    Layer.merge(
      ReturnedMails.layer(options.bounceAddress).pipe(
        Layer.provide(Layer.provide(ReturnReader.layerInProcess, ReaderProcess.layer)),
        Layer.provide(EventRecording.layer),
        Layer.provide([
          DeliveryLog.layer,
          Layer.succeed(Alerts, {
            raise: (failed) =>
              Effect.as(
                Effect.sync(() => void alerts.push(failed)),
                { delivery: "delivered" as const, escalated: undefined }
              )
          })
        ])
      )
    ),
    Layer.provideMerge(objects),
    Layer.provideMerge(layerPostgres),
    Layer.provide(NodeCrypto.layer)
  )
  const context = await Effect.runPromise(Effect.provide(Layer.buildWithScope(layer, scope), quiet))
  const run = <A, E>(
    effect: Effect.Effect<
      A,
      E,
      ConvertByEmail | ReturnedMails.ReturnedMails | WriteSql | MailObjects | Scope.Scope
    >
  ): Promise<A> =>
    Effect.runPromise(Effect.provide(Effect.provide(Scope.provide(effect, scope), context), quiet))
  const { port } = await run(
    serveSmtp({
      host: "127.0.0.1",
      port: 0,
      name: "in.test",
      recipients: new Set([CONVERT, "convert@in.test"]),
      certificate: undefined,
      peers: { ...rules, trustedPeers: [] },
      ...options.smtp
    })
  )
  const transport = () =>
    createTransport({ host: "127.0.0.1", port, secure: false, tls: { rejectUnauthorized: false } })
  const intake = Context.get(context, ConvertByEmail)
  const sql = <A extends object>(statement: string, values: ReadonlyArray<string> = []) =>
    run(WriteSql.use((client) => client.unsafe<A>(statement, values)))

  return {
    port,
    /** Where the objects are. */
    folder,
    intake,
    /** Alerts about events, in their order. */
    alerts,
    run,
    sql,
    /** Copies that left, oldest first. */
    copies: (): Promise<ReadonlyArray<MemoryCopy>> => Effect.runPromise(provider.copies),
    customer: async (email: string, funds: { readonly credits?: number; readonly used?: number }) => {
      const [plan, credits, used] =
        funds.credits === undefined
          ? ["free", "0", String(funds.used ?? 0)]
          : ["paid", String(funds.credits), "0"]
      const [row] = await sql<{ readonly id: string }>(
        `insert into customers (email, plan_type, credits_remaining, lifetime_free_pages_used)
          values ($1, $2, $3::integer, $4::integer) returning id`,
        [email, plan, credits, used]
      )
      return row!.id
    },
    funds: async (customerId: string) => {
      const rows = await sql(
        `select credits_remaining as credits, lifetime_free_pages_used as used,
          (select count(*) from credit_charges where customer_id = c.id) as charges,
          (select coalesce(sum(credits + free_pages), 0) from credit_charges where customer_id = c.id)::bigint as charged,
          (select count(*) from funds_holds where customer_id = c.id and state = 'held') as held
          from customers c where id = $1::uuid`,
        [customerId]
      )
      const { charged, charges, credits, held, used } = Schema.decodeUnknownSync(CustomerFunds)(rows[0])
      return { credits, used, charges: Number(charges), charged: Number(charged), held: Number(held) }
    },
    send: async (mail: SendMailOptions): Promise<string> => {
      const client = transport()
      try {
        const { response } = await client.sendMail({ to: CONVERT, ...mail })
        return response
      } finally {
        client.close()
      }
    },
    /** Works until there is nothing left that can be done now. */
    drain: async (): Promise<void> => {
      const worked = async (step: Effect.Effect<boolean, unknown>) => {
        let any = false
        while (await Effect.runPromise(Effect.provide(Effect.orDie(step), quiet))) any = true
        return any
      }
      for (;;) {
        const [admitted, converted, replied] = [
          await worked(intake.admitNext),
          await worked(intake.convertNext),
          await worked(intake.replyNext)
        ]
        if (!admitted && !converted && !replied) return
      }
    },
    /** Lets all waits be over, and every lease be a dead process's. */
    pass: () =>
      sql(`with m as (update intake_mails set not_before = now(), heartbeat_at = now() - interval '1 hour' where step <> 'ended')
        update intake_replies set not_before = now() where status = 'queued'`),
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export type IntakeWorld = Awaited<ReturnType<typeof startIntake>>
