import { request, type IncomingHttpHeaders, type RequestOptions } from "node:http"
import { connect } from "node:net"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Duration, Effect, Exit, Layer, Logger, Redacted, Result, Scope, Stream } from "effect"
import { HttpServer } from "effect/http"
import { PrometheusMetrics } from "effect/observability"

import * as ResendFront from "../../../src/adapters/drop-ins/resend-front.ts"
import { embeddedHttpLayer, httpLayer } from "../../../src/adapters/http/http-layer.ts"
import { PipelineAnswers } from "../../../src/adapters/http/routes/inbound/pipeline-answer.ts"
import type { TrustedProxies } from "../../../src/adapters/http/server/client-address.ts"
import type { ListenerTimes } from "../../../src/adapters/http/server/node-server.ts"
import * as MailTemplates from "../../../src/adapters/mail-templates/mail-templates.ts"
import * as MemoryAccess from "../../../src/adapters/memory/accounts/access.ts"
import * as Allowances from "../../../src/adapters/memory/allowances.ts"
import * as MemoryHooks from "../../../src/adapters/memory/delivery/event-hooks.ts"
import * as MemorySenderTokens from "../../../src/adapters/memory/mail/sender-tokens.ts"
import { AccountClosing } from "../../../src/application/accounts/account-closing.ts"
import { AdminInvitations } from "../../../src/application/accounts/admin-invitations.ts"
import { ContactForms } from "../../../src/application/accounts/contact-forms.ts"
import { PromoClaims } from "../../../src/application/accounts/promo-claims.ts"
import * as Receipts from "../../../src/application/accounts/receipts.ts"
import { RepeatableCalls } from "../../../src/application/accounts/repeatable-calls.ts"
import { SignIn } from "../../../src/application/accounts/sign-in.ts"
import { TeamInvitations } from "../../../src/application/accounts/team-invitations.ts"
import { BatchControls } from "../../../src/application/batch/controls.ts"
import { ConfiguredProviders } from "../../../src/application/configured-providers.ts"
import { BulkConversions } from "../../../src/application/conversion/bulk.ts"
import { Conversions } from "../../../src/application/conversion/conversions.ts"
import { FileWatch } from "../../../src/application/conversion/file-watch.ts"
import { ResultPages } from "../../../src/application/conversion/result-pages.ts"
import { Sharing } from "../../../src/application/conversion/sharing.ts"
import { Uploads } from "../../../src/application/conversion/uploads.ts"
import { AlertPlaces } from "../../../src/application/delivery/alert-places.ts"
import { Alerts } from "../../../src/application/delivery/alerts.ts"
import { AuditDigest } from "../../../src/application/delivery/audit-digest.ts"
import { EventRecording } from "../../../src/application/delivery/event-recording.ts"
import { MailLinks } from "../../../src/application/delivery/mail-links.ts"
import { EventPoll } from "../../../src/application/delivery/poll.ts"
import { SenderDomain } from "../../../src/application/doctor/sender-domain.ts"
import { ConvertByEmail } from "../../../src/application/inbound/convert-by-email.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { CampaignEvents } from "../../../src/application/outreach/campaign-events.ts"
import { Outreach } from "../../../src/application/outreach/outreach.ts"
import { Unsubscribing } from "../../../src/application/outreach/unsubscribe.ts"
import * as Enqueue from "../../../src/application/send-queue/enqueue.ts"
import { QueueConfig } from "../../../src/application/send-queue/queue-config.ts"
import * as SenderAccess from "../../../src/application/send-queue/sender-access.ts"
import type { Right } from "../../../src/domain/accounts/principal.ts"
import { perChannel } from "../../../src/domain/delivery/alert-policy.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import { Provider } from "../../../src/domain/mail/provider.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { Access, Admins, type MagicLinks } from "../../../src/ports/accounts/access.ts"
import { Accounts, ContactMessages, TeamInvites } from "../../../src/ports/accounts/accounts.ts"
import { AuditLog, AuditNotes } from "../../../src/ports/accounts/audit-log.ts"
import { Customers } from "../../../src/ports/accounts/customers.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { JobReport } from "../../../src/ports/conversion/job-report.ts"
import { ResultFormats } from "../../../src/ports/conversion/result-formats.ts"
import { SharedFiles } from "../../../src/ports/conversion/shared-files.ts"
import { AlertPreferences } from "../../../src/ports/delivery/alert-channels.ts"
import { DeliveryIntake, type WebhookReader } from "../../../src/ports/delivery/delivery-log.ts"
import { EmailLogQuery, EmailStats } from "../../../src/ports/delivery/email-log-query.ts"
import { HealthBoard, type HealthFacts } from "../../../src/ports/delivery/health-board.ts"
import { MailStories } from "../../../src/ports/delivery/mail-stories.ts"
import { IncomingMails } from "../../../src/ports/inbound/incoming-mails.ts"
import { ReplyChannel } from "../../../src/ports/inbound/mails.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import { LinkTrier } from "../../../src/ports/mail/link-trier.ts"
import { MessageViews } from "../../../src/ports/mail/message-views.ts"
import { MailPreferences } from "../../../src/ports/mail/preferences.ts"
import { SendQueue } from "../../../src/ports/mail/send-queue.ts"
import type { SenderTokens } from "../../../src/ports/mail/sender-tokens.ts"
import { SimulatedMail } from "../../../src/ports/mail/simulated-mail.ts"
import { SuppressionList } from "../../../src/ports/mail/suppression-list.ts"
import { MetricsPage } from "../../../src/ports/metrics-page.ts"
import { FileObjects, MailObjects } from "../../../src/ports/object-store.ts"
import { Readiness, type ReadinessReport } from "../../../src/ports/readiness.ts"
import { anyId } from "../../support/any-id.ts"
import { mailerConfig } from "../../support/mailer-config.ts"

export const PROXY_SECRET = "proxy-secret-4711"
export const ADMIN_TOKEN = "admin-token-4711"

export const sent: SendResult = {
  ok: true,
  status: "sent",
  sendId: anyId("0199a000-0000-7000-8000-000000000001"),
  provider: "provider_a",
  providerMessageId: "m-1",
  failedOver: false,
  idempotencyKey: "order-17",
  suppressedRecipients: []
}

export const mail: SendRequest = {
  to: "a@x.test",
  subject: "s",
  text: "h",
  category: "transactional",
  source: "api:contact"
}

const noWebhook = () => {
  throw new Error("not here")
}
const NO_WEBHOOK: WebhookReader = { admits: () => Result.void, read: noWebhook }

const SENDING: MailerConfig["Service"] = mailerConfig

const NO_HEALTH: HealthFacts = {
  alarms: [],
  past: [],
  queues: [],
  batch: [],
  spentUsd: 0,
  budgetUsd: undefined,
  newestMailAt: null,
  processes: []
}

/** What stands behind the routes; a test replaces what it is about, the rest answers something harmless. */
export interface Behind {
  /** Those that the settings name; all of them where this is missing. */
  readonly providers: ReadonlyArray<Provider>
  readonly send: Mailer["Service"]["send"]
  readonly sendQueue: Partial<SendQueue["Service"]>
  readonly senders: Layer.Layer<SenderTokens>
  readonly paces: QueueConfig["Service"]["paces"]
  readonly queue: Partial<DeferQueue["Service"]>
  readonly page: EmailLogQuery["Service"]["page"]
  readonly changes: EmailLogQuery["Service"]["changes"]
  readonly count: EmailLogQuery["Service"]["count"]
  readonly counts: EmailLogQuery["Service"]["counts"]
  readonly story: MailStories["Service"]["of"]
  readonly report: ReadinessReport
  readonly health: HealthBoard["Service"]["read"]
  readonly outbox: Partial<SimulatedMail["Service"]["outbox"]>
  readonly script: SimulatedMail["Service"]["script"]
  readonly reportEvent: SimulatedMail["Service"]["report"]
  readonly views: Layer.Layer<MessageViews>
  readonly links: Layer.Layer<LinkTrier>
  readonly alertPlaces: Layer.Layer<AlertPlaces>
  readonly senderDomain: Layer.Layer<SenderDomain>
  readonly mailer: Layer.Layer<Mailer>
  readonly alerts: Layer.Layer<Alerts>
  readonly preferences: Layer.Layer<AlertPreferences>
  readonly audit: Layer.Layer<AuditLog>
  readonly suppressions: Layer.Layer<SuppressionList>
  readonly mailPreferences: Layer.Layer<MailPreferences>
  readonly stats: Layer.Layer<EmailStats>
  readonly intake: Layer.Layer<DeliveryIntake>
  readonly recording: Layer.Layer<EventRecording>
  readonly poll: Layer.Layer<EventPoll>
  readonly digest: Layer.Layer<AuditDigest>
  readonly campaigns: Layer.Layer<CampaignEvents>
  readonly outreach: Layer.Layer<Outreach>
  readonly unsubscribing: Layer.Layer<Unsubscribing>
  readonly mailLinks: Layer.Layer<MailLinks>
  readonly webhookSecret: string | undefined
  readonly embedded: boolean
  readonly proxySecret: string | undefined
  readonly sendsMail: boolean
  readonly adminToken: string | undefined
  readonly access: Layer.Layer<Access | MagicLinks>
  readonly admins: Layer.Layer<Admins | AdminInvitations>
  readonly signIn: Layer.Layer<SignIn>
  readonly promoClaims: Layer.Layer<PromoClaims>
  readonly forms: Layer.Layer<ContactForms>
  readonly messages: Layer.Layer<ContactMessages>
  readonly invitations: Layer.Layer<TeamInvitations>
  readonly invites: Layer.Layer<TeamInvites>
  readonly accounts: Layer.Layer<AccountClosing>
  readonly funds: Layer.Layer<Accounts>
  readonly calls: Layer.Layer<RepeatableCalls>
  readonly customers: Layer.Layer<Customers>
  readonly files: Layer.Layer<ConversionStore | Conversions | FileObjects | FileWatch | Uploads>
  readonly notes: Layer.Layer<AuditNotes>
  readonly resultPages: Layer.Layer<ResultPages | ResultFormats>
  readonly sharing: Layer.Layer<BulkConversions | SharedFiles | Sharing>
  readonly convertByEmail: Layer.Layer<ConvertByEmail | MailObjects | ReplyChannel>
  readonly incomingMails: Layer.Layer<IncomingMails>
  readonly pipeline: Layer.Layer<PipelineAnswers>
  readonly batch: Layer.Layer<BatchControls>
  readonly jobs: Layer.Layer<JobReport>
  readonly baseUrl: string
  readonly trustedProxies: TrustedProxies
  readonly maxConnections: number
  readonly connectionsOfClient: number
  readonly host: string
  readonly port: number
  readonly api: boolean
  readonly times: ListenerTimes
}

export interface TestServer {
  readonly port: number
  readonly url: string
  readonly logs: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

const secret = (value: string | undefined) => (value === undefined ? undefined : Redacted.make(value))

/** Access in memory that knows one dev token with these rights; an empty one is none. */
export const accessWith = (
  rights: ReadonlyArray<Right>,
  token: string | undefined
): Layer.Layer<Access | MagicLinks> =>
  Layer.effectDiscard(
    Access.use((access) => access.keepDevToken({ name: "admin", token: Redacted.make(token ?? ""), rights }))
  ).pipe(
    Layer.orDie,
    Layer.provideMerge(MemoryAccess.layer({ embedded: true, promos: ["welcome"] })),
    Layer.provide(NodeCrypto.layer)
  )

/** Serves on a free port with the live clock. */
export const startServer = async (behind: Partial<Behind> = {}): Promise<TestServer> => {
  const logs: Array<string> = []
  const services = Layer.mergeAll(
    behind.mailer ?? Layer.succeed(Mailer, Mailer.of({ send: behind.send ?? (() => Effect.succeed(sent)) })),
    behind.alerts ?? Layer.mock(Alerts, {}),
    behind.preferences ?? Layer.mock(AlertPreferences, {}),
    behind.audit ?? Layer.mock(AuditLog, {}),
    behind.suppressions ?? Layer.mock(SuppressionList, {}),
    behind.mailPreferences ?? Layer.mock(MailPreferences, {}),
    behind.stats ??
      Layer.mock(EmailStats, {
        lastHours: Effect.succeed([]),
        since: () => Effect.succeed({ from: "2026-01-01", stats: [] })
      }),
    behind.intake ??
      Layer.succeed(
        DeliveryIntake,
        DeliveryIntake.of({
          webhooks: { "provider-a-webhook": NO_WEBHOOK, "postmark-webhook": NO_WEBHOOK },
          bus: () => []
        })
      ),
    behind.recording ?? Layer.mock(EventRecording, {}),
    Layer.succeed(ConfiguredProviders, behind.providers ?? Provider.literals),
    behind.digest ?? Layer.mock(AuditDigest, {}),
    behind.campaigns ?? Layer.succeed(CampaignEvents, CampaignEvents.of({ record: () => Effect.void })),
    behind.outreach ?? Layer.mock(Outreach, {}),
    behind.unsubscribing ?? Layer.mock(Unsubscribing, {}),
    behind.mailLinks ?? Layer.mock(MailLinks, {}),
    behind.poll ?? Layer.mock(EventPoll, {}),
    behind.access ?? accessWith(["admin"], "adminToken" in behind ? behind.adminToken : ADMIN_TOKEN),
    behind.admins ?? Layer.merge(Layer.mock(Admins, {}), Layer.mock(AdminInvitations, {})),
    behind.signIn ?? Layer.mock(SignIn, {}),
    behind.promoClaims ?? Layer.mock(PromoClaims, {}),
    behind.forms ?? Layer.mock(ContactForms, {}),
    behind.messages ?? Layer.mock(ContactMessages, {}),
    Layer.succeed(Deferrals, Deferrals.of({ openKey: (key) => Effect.succeed({ key, state: "new" }) })),
    behind.invitations ?? Layer.mock(TeamInvitations, {}),
    behind.invites ?? Layer.mock(TeamInvites, {}),
    behind.accounts ?? Layer.mock(AccountClosing, {}),
    behind.funds ?? Layer.mock(Accounts, {}),
    behind.calls ??
      Layer.succeed(
        RepeatableCalls,
        RepeatableCalls.of({
          once: (_, { run }) => run({ id: anyId(), repeatable: false, sameContent: () => Effect.void })
        })
      ),
    behind.customers ?? Layer.mock(Customers, {}),
    behind.files ??
      Layer.mergeAll(
        Layer.mock(ConversionStore, {}),
        Layer.mock(Conversions, {}),
        Layer.mock(FileObjects, {}),
        Layer.mock(FileWatch, {}),
        Layer.mock(Uploads, {})
      ),
    behind.notes ?? Layer.mock(AuditNotes, {}),
    behind.resultPages ?? Layer.merge(Layer.mock(ResultPages, {}), Layer.mock(ResultFormats, {})),
    behind.batch ?? Layer.mock(BatchControls, { stopBatchJob: () => Effect.void }),
    behind.jobs ?? Layer.mock(JobReport, {}),
    behind.sharing ??
      Layer.mergeAll(Layer.mock(BulkConversions, {}), Layer.mock(SharedFiles, {}), Layer.mock(Sharing, {})),
    behind.convertByEmail ??
      Layer.mergeAll(
        Layer.mock(ConvertByEmail, { keptResults: () => Effect.succeed([]) }),
        Layer.mock(MailObjects, {}),
        Layer.mock(ReplyChannel, { name: "library", maxAttachmentBytes: 0, sendsWithin: Duration.seconds(1) })
      ),
    behind.incomingMails ?? Layer.mock(IncomingMails, { ofCustomer: () => Effect.succeed([]) }),
    behind.pipeline ?? Layer.mock(PipelineAnswers, {}),
    MailTemplates.layer,
    Layer.succeed(
      HealthBoard,
      HealthBoard.of({
        read: behind.health ?? Effect.succeed(NO_HEALTH),
        figures: Effect.die("not here"),
        note: () => Effect.die("not here"),
        leave: () => Effect.die("not here")
      })
    ),
    MemoryHooks.layer,
    Layer.succeed(MailStories, MailStories.of({ of: behind.story ?? (() => Effect.succeed(undefined)) })),
    behind.views ?? Layer.mock(MessageViews, {}),
    behind.links ?? Layer.mock(LinkTrier, {}),
    behind.alertPlaces ??
      Layer.mock(AlertPlaces, {
        places: perChannel(() => ({ configured: false, where: undefined, settings: "NONE" }))
      }),
    behind.senderDomain ?? Layer.mock(SenderDomain, {}),
    Enqueue.layer.pipe(
      Layer.provide([Layer.succeed(MailerConfig, SENDING), NodeCrypto.layer]),
      Layer.provideMerge(Layer.mock(SendQueue, { upcoming: () => Effect.succeed([]), ...behind.sendQueue }))
    ),
    SenderAccess.layer.pipe(
      Layer.provide([Layer.succeed(MailerConfig, SENDING), NodeCrypto.layer]),
      Layer.provideMerge(
        Layer.merge(
          behind.senders ?? Layer.provide(MemorySenderTokens.layer(), NodeCrypto.layer),
          Allowances.layer
        )
      )
    ),
    Layer.succeed(QueueConfig, { concurrency: 32, maxAgeMs: 24 * 3_600_000, paces: behind.paces ?? [] }),
    Layer.mock(DeferQueue, { configured: true, ...behind.queue }),
    Layer.succeed(
      EmailLogQuery,
      EmailLogQuery.of({
        page: behind.page ?? (() => Effect.succeed({ rows: [], nextCursor: null })),
        changes:
          behind.changes ??
          (() => Effect.succeed({ rows: [], nextCursor: null, changedUntil: "2026-01-02T00:00:00.000000Z" })),
        beside: () => Effect.succeed({ rows: [], hasMore: false }),
        count: behind.count ?? (() => Effect.succeed({ count: 0 })),
        counts: behind.counts ?? (() => Effect.succeed({ counts: new Map() }))
      })
    ),
    Layer.succeed(MetricsPage, MetricsPage.of({ text: PrometheusMetrics.format() })),
    Layer.succeed(
      Readiness,
      Readiness.of({
        report: Effect.succeed(behind.report ?? { ready: true, checks: [], supervisors: [] })
      })
    ),
    Layer.mock(SimulatedMail, {
      outbox: {
        put: () => Effect.die("not here"),
        list: () => Effect.succeed([]),
        page: (filter) =>
          Effect.map(behind.outbox?.list?.(filter) ?? Effect.succeed([]), (entries) => ({
            entries,
            lookedUntil: undefined,
            looked: entries.length,
            total: entries.length
          })),
        has: () => Effect.succeed(false),
        get: () => Effect.succeed(undefined),
        entry: () => Effect.succeed(undefined),
        mark: () => Effect.void,
        remove: () => Effect.succeed(false),
        clear: () => Effect.succeed(0),
        changes: Stream.never,
        ...behind.outbox
      },
      report: behind.reportEvent ?? (() => Effect.succeed(true)),
      provider: () => {
        throw new Error("not here")
      },
      script: behind.script ?? (() => Effect.void)
    })
  )
  const options = {
    host: behind.host ?? "127.0.0.1",
    port: behind.port ?? 0,
    proxySecret: secret("proxySecret" in behind ? behind.proxySecret : PROXY_SECRET),
    baseUrl: behind.baseUrl ?? "http://127.0.0.1:8787",
    sendsMail: behind.sendsMail,
    trustedProxies: behind.trustedProxies,
    maxConnections: behind.maxConnections,
    connectionsOfClient: behind.connectionsOfClient,
    webhookSecret: secret(behind.webhookSecret),
    api: behind.api,
    times: behind.times
  }
  const http = behind.embedded === false ? httpLayer(options) : embeddedHttpLayer(options)
  const capture = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(
    Layer.buildWithScope(
      http.pipe(
        Layer.provide(Receipts.layer),
        Layer.provide(ResendFront.layer),
        Layer.provide(services),
        Layer.provide(Logger.layer([capture]))
      ),
      scope
    )
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  const port = "port" in address ? address.port : 0
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    logs,
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** Whatever a body holds: assertions look at it. */
export type Json = ReturnType<JSON["parse"]>

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: Json
}

/** One request through node:http, which sends exactly what it is given, in one piece or in chunks. */
export const call = (
  server: TestServer,
  path: string,
  options: RequestOptions & { readonly body?: string | Uint8Array | ReadonlyArray<string | Uint8Array> } = {}
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { body, ...rest } = options
    const outgoing = request({ host: "127.0.0.1", port: server.port, path, agent: false, ...rest })
    outgoing.on("error", reject)
    outgoing.on("response", (incoming) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("error", reject)
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8")
        const isJson = /json/.test(incoming.headers["content-type"] ?? "")
        resolve({
          status: incoming.statusCode!,
          headers: incoming.headers,
          text,
          json: isJson && text !== "" ? JSON.parse(text) : undefined
        })
      })
    })
    if (Array.isArray(body)) {
      for (const chunk of body) outgoing.write(chunk)
      outgoing.end()
    } else {
      outgoing.end(body as string | Uint8Array | undefined)
    }
  })

/** Posts a body to the relay with the right secret. */
export const relay = (
  server: TestServer,
  body: unknown,
  headers: Record<string, string> = {},
  path = "/internal/send-email"
): Promise<Answer> =>
  call(server, path, {
    method: "POST",
    headers: { "x-proxy-secret": PROXY_SECRET, "content-type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
  })

/** Writes bytes to a connection and gives everything that comes back until it closes. */
export const raw = (server: TestServer, bytes: string | ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(server.port, "127.0.0.1")
    let answer = ""
    socket.on("error", reject)
    socket.on("data", (chunk) => (answer += chunk.toString("utf8")))
    socket.on("close", () => resolve(answer))
    for (const part of typeof bytes === "string" ? [bytes] : bytes) socket.write(part)
  })

export const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
