import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { createTransport, type SendMailOptions } from "nodemailer"

import * as Allowances from "../../../src/adapters/memory/allowances.ts"
import * as SubmissionReader from "../../../src/adapters/postal-mime/submission-reader.ts"
import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import * as MailStore from "../../../src/adapters/postgres/mail/mail-store.ts"
import * as PostgresSendQueue from "../../../src/adapters/postgres/mail/send-queue.ts"
import * as PostgresSenderTokens from "../../../src/adapters/postgres/mail/sender-tokens.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { serveSubmission, type SubmissionOptions } from "../../../src/adapters/smtp/submission-server.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import * as Enqueue from "../../../src/application/send-queue/enqueue.ts"
import * as SenderAccess from "../../../src/application/send-queue/sender-access.ts"
import * as Submission from "../../../src/application/send-queue/submission.ts"
import type { SenderToken } from "../../../src/domain/mail/sender-token.ts"
import { SendQueue } from "../../../src/ports/mail/send-queue.ts"
import { SenderTokens } from "../../../src/ports/mail/sender-tokens.ts"
import { mailerConfig } from "../mailer-config.ts"
import { layerPostgres } from "../postgres/postgres.ts"

const config: MailerConfig["Service"] = mailerConfig

/** What a test may put between the server and the queue. */
type Interfere = (
  call: ReturnType<SendQueue["Service"]["enqueue"]>
) => ReturnType<SendQueue["Service"]["enqueue"]>

interface WorldOptions extends Partial<SubmissionOptions> {
  readonly interfere?: Interfere
}

/** A request as it is in the queue. */
export interface QueuedRow {
  readonly id: string
  readonly idempotency_key: string
  readonly category: string
  readonly send_at: Date
  readonly request: Readonly<Record<string, unknown>>
}

const quiet = Logger.layer([])

/** SMTP submission on a database of its own. */
export const startSubmission = async ({ interfere = (call) => call, ...options }: WorldOptions = {}) => {
  const scope = Scope.makeUnsafe()
  const queue = Layer.effect(
    SendQueue,
    Effect.map(SendQueue, (real) => ({
      ...real,
      enqueue: (entries: Parameters<typeof real.enqueue>[0]) => interfere(real.enqueue(entries))
    }))
  ).pipe(Layer.provide(PostgresSendQueue.layer))
  const layer = Submission.layer.pipe(
    Layer.provide([
      Enqueue.layer,
      Layer.provide(SubmissionReader.layer, ReaderProcess.layer),
      MailStore.layer
    ]),
    Layer.provideMerge(SenderAccess.layer),
    Layer.provide(queue),
    Layer.provideMerge(Layer.merge(PostgresSenderTokens.layer, Allowances.layer)),
    Layer.provide([Layer.succeed(MailerConfig, config), NodeCrypto.layer]),
    Layer.provideMerge(layerPostgres)
  )
  const context = await Effect.runPromise(Effect.provide(Layer.buildWithScope(layer, scope), quiet))
  const run = <A, E>(
    effect: Effect.Effect<
      A,
      E,
      SenderTokens | SenderAccess.SenderAccess | Submission.Submission | WriteSql | Scope.Scope
    >
  ): Promise<A> =>
    Effect.runPromise(Effect.provide(Effect.provide(Scope.provide(effect, scope), context), quiet))
  const { port } = await run(
    serveSubmission({
      host: "127.0.0.1",
      port: 0,
      name: "postlane.test",
      certificate: undefined,
      implicitTls: false,
      ...options
    })
  )
  const made = (token: Partial<Omit<SenderToken, "id">> = {}) =>
    run(
      SenderTokens.use(({ create }) =>
        create({ name: "shop", categories: [], from: [], ratePerMinute: undefined, ...token }, "test")
      )
    )
  const { token } = await made()
  const auth = Redacted.value(token)
  return {
    port,
    run,
    /** The text of a token that allows everything. */
    token: auth,
    make: async (wanted: Partial<Omit<SenderToken, "id">>) => {
      const { id, token: text } = await made(wanted)
      return { id, text: Redacted.value(text) }
    },
    revoke: (id: string) => run(SenderTokens.use(({ revoke }) => revoke(id, "test"))),
    rows: () =>
      run(WriteSql.use((sql) => sql<QueuedRow>`select * from email_send_queue order by created_at, id`)),
    suppress: (email: string) =>
      run(
        WriteSql.use(
          (sql) => sql`insert into email_suppressions (email, reason) values (${email}, 'hard_bounce')`
        )
      ),
    /** Mails as nodemailer does; the answer, or the refusal. */
    send: async (mail: SendMailOptions, pass = auth): Promise<string> => {
      const transport = createTransport({
        host: "127.0.0.1",
        port,
        auth: { user: "any", pass },
        ignoreTLS: options.certificate === undefined,
        tls: { rejectUnauthorized: false },
        secure: options.implicitTls === true
      })
      try {
        return (await transport.sendMail({ from: "shop@x.test", ...mail })).response
      } catch (cause) {
        const { message, response }: { readonly message?: string; readonly response?: string } =
          cause as Error
        return response ?? message ?? ""
      } finally {
        transport.close()
      }
    },
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
export type SubmissionWorld = Awaited<ReturnType<typeof startSubmission>>

/** What a login without a user name sends. */
export const plain = (token: string): string => Buffer.from(`\0any\0${token}`).toString("base64")
