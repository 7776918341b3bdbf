import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Logger, Result, Stream } from "effect"
import { createTransport } from "nodemailer"
import { afterEach } from "vitest"

import { ReturnedMails } from "../../../src/application/delivery/returned-mail.ts"
import { ConvertByEmail } from "../../../src/application/inbound/convert-by-email.ts"
import { intakeWorkers } from "../../../src/runtime/compose/inbound/inbound-roles.ts"
import { Supervisors } from "../../../src/runtime/process/supervisor.ts"
import { decodeSettings, type Env, formatProblems } from "../../../src/runtime/settings/settings.ts"
import { anyId } from "../../support/any-id.ts"
import { makeFolder } from "../../support/processes/child.ts"
import { hangUp, talk } from "../../support/processes/smtp-talk.ts"
import { CERTIFICATE } from "../../support/vendors/certificate.ts"

afterEach(hangUp)

const BASE: Env = {
  HOST: "127.0.0.1",
  SMTP_PORT: "0",
  SUBMISSION_PORT: "0",
  PROVIDERA_API_KEY: "re_key",
  LEGACY_DOMAIN: "legacy.test",
  INBOUND_DOMAIN: "in.test"
}

const folder = Effect.map(
  Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) => Effect.promise(remove)),
  ({ path }) => path
)

const settingsOf = (env: Env, embedded = false) => {
  const settings = decodeSettings({ ...BASE, ...env }, { embedded })
  return Result.isFailure(settings) ? assert.fail(formatProblems(settings.failure)) : settings.success
}

/** An intake that only takes mails, and of each whether its peer was believed. */
const makeIntake = () => {
  const trusted: Array<boolean> = []
  const intake = Layer.mock(ConvertByEmail, {
    accept: ({ peerTrusted, raw }) =>
      Effect.as(Stream.runDrain(raw), anyId(`mail-${trusted.push(peerTrusted)}`)),
    admitNext: Effect.never,
    convertNext: Effect.never,
    convertNextShort: Effect.never,
    convertNextOfIdle: Effect.never,
    replyNext: Effect.never,
    clean: Effect.never,
    sweep: Effect.never
  })
  return { intake, trusted }
}

/** The parts of the role by these settings, and what it logs as an error. */
const partsBy = Effect.fnUntraced(function* (env: Env) {
  const errors: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") errors.push(String(message))
  })
  const context = yield* Layer.build(
    Layer.provideMerge(intakeWorkers(settingsOf(env)), Supervisors.layer)
  ).pipe(
    Effect.provide([
      makeIntake().intake,
      Layer.mock(ReturnedMails, { isFor: () => false }),
      Logger.layer([logger])
    ])
  )
  const names = (yield* Context.get(context, Supervisors).snapshot).map(({ name }) => name)
  return { names, errors }
}, Effect.scoped)

/** The role by these settings: its SMTP port, and of every mail whether its peer was believed. */
const start = Effect.fnUntraced(function* (env: Env, embedded = false) {
  const settings = settingsOf(env, embedded)
  const { intake, trusted } = makeIntake()
  const returns = Layer.mock(ReturnedMails, {
    isFor: (to) => settings.bounceAddress !== undefined && to.startsWith("bounce+"),
    accept: ({ raw }) => Effect.as(Stream.runDrain(raw), { recorded: 1 })
  })
  const listens = yield* Deferred.make<number>()
  const logger = Logger.make(({ message }) => {
    const port = /SMTP listens on \S+:(\d+)/.exec(String(message))?.[1]
    if (port !== undefined) Deferred.doneUnsafe(listens, Effect.succeed(Number(port)))
  })
  yield* Layer.build(intakeWorkers(settings)).pipe(
    Effect.provide([intake, returns, Supervisors.layer, Logger.layer([logger])])
  )
  return { port: yield* Deferred.await(listens), trusted }
})

const features = (port: number) =>
  Effect.promise(async () => {
    const { answer, say, socket } = talk(port)
    const said = (await answer()) + (await say("EHLO client.test"))
    // The server waits for its clients when it stops.
    socket.destroy()
    return said
  })

const send = (port: number, to: string) =>
  Effect.promise(async () => {
    const client = createTransport({ host: "127.0.0.1", port, tls: { rejectUnauthorized: false } })
    const said = await client.sendMail({ from: "a@x.test", to, text: "x" }).then(
      ({ response }) => response,
      (error: unknown) => String(error)
    )
    client.close()
    return said
  })

describe("the SMTP server of the role intake", () => {
  it.live("offers STARTTLS where SMTP_TLS_CERT and SMTP_TLS_KEY name files, and not without", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const [SMTP_TLS_CERT, SMTP_TLS_KEY] = [join(path, "cert.pem"), join(path, "key.pem")]
      yield* Effect.promise(() => writeFile(SMTP_TLS_CERT, CERTIFICATE.cert))
      yield* Effect.promise(() => writeFile(SMTP_TLS_KEY, CERTIFICATE.key))
      const plain = yield* start({}, true)
      assert.notInclude(yield* features(plain.port), "STARTTLS")
      const { port } = yield* start({ SMTP_TLS_CERT, SMTP_TLS_KEY }, true)
      assert.match(yield* features(port), /^220 in\.test [\s\S]*^250[- ]STARTTLS/m)
    })
  )

  it.live(
    "takes mail for both convert mailboxes, of this machine where it is embedded or stands behind a named hop",
    () =>
      Effect.gen(function* () {
        for (const [env, embedded] of [
          [{}, true],
          [{ TRUSTED_MAIL_HOPS: "mx.hop.test" }, false]
        ] as const) {
          const { port, trusted } = yield* start(env, embedded)
          for (const to of ["convert@legacy.test", "convert@in.test"])
            assert.match(yield* send(port, to), /^250 /)
          assert.deepStrictEqual(trusted, [true, true])
        }
      })
  )

  it.live("takes delivery reports alone where no hop vouches for senders and BOUNCE_ADDRESS is set", () =>
    Effect.gen(function* () {
      const { port } = yield* start({ BOUNCE_ADDRESS: "bounce@in.test" })
      assert.match(yield* send(port, "bounce+token@in.test"), /^250 /)
      assert.match(yield* send(port, "convert@in.test"), /550 5\.1\.1 /)
    })
  )

  it.live(
    "does not start in production without a trusted hop: a server that only sends asks for no bucket",
    () =>
      Effect.gen(function* () {
        const parts = new Set(["smtp", "mail-sweeper"])
        for (const [env, expected] of [
          [{}, []],
          [{ TRUSTED_MAIL_PEERS: "127.0.0.1" }, []],
          [{ CONVERT_EMAIL_BUCKET: "mails" }, ["mail-sweeper"]],
          [{ BOUNCE_ADDRESS: "bounce@in.test" }, ["smtp"]],
          [{ TRUSTED_MAIL_HOPS: "mx.hop.test" }, ["mail-sweeper", "smtp"]]
        ] as const) {
          const { errors, names } = yield* partsBy(env)
          assert.sameMembers(
            names.filter((name) => parts.has(name)),
            [...expected],
            JSON.stringify(env)
          )
          assert.includeMembers(names, ["mail-cleaner", "mail-replies-1"])
          assert.isEmpty(errors)
        }
      })
  )
})
