import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import PostalMime from "postal-mime"

import { examineRelay } from "../../../src/adapters/smtp-relay/examination.ts"
import type { FailureKind } from "../../../src/domain/mail/failover.ts"
import { returnMessageId, returnToken } from "../../../src/domain/mail/return-address.ts"
import type { MailProvider } from "../../../src/ports/mail/mail-provider.ts"
import { box, keyOf, mail } from "../../support/files/mail-message.ts"
import { LOCAL_CERTIFICATE } from "../../support/vendors/certificate.ts"
import {
  type Answer,
  LOGIN,
  PASSWORD,
  relayAt,
  relayWithFake,
  startFakeRelay,
  type Step
} from "../../support/vendors/fake-relay.ts"

const KEY = keyOf("order-17")
const sending = (provider: MailProvider, message = mail()) => provider.send(provider.prepare(message, KEY))
const failing = (provider: MailProvider, message = mail()) => Effect.flip(sending(provider, message))
/** Whom the tests' certificate is for. */
const SIGNED = { ca: LOCAL_CERTIFICATE.cert, host: "localhost" }

/** More than a connection takes without its reader. */
const large = mail({
  attachments: [
    { filename: "a.bin", contentType: undefined, content: "A".repeat(12_000_000), contentId: undefined }
  ]
})
/** Every step with every way to fail there, and what each proves. */
const BEFORE_THE_LOGIN: ReadonlyArray<Answer> = [
  "421 4.3.2 later",
  "554 5.7.1 go away",
  "close",
  "reset",
  "half"
]
const FAULTS: ReadonlyArray<readonly [Step, Answer, FailureKind]> = [
  ...(["connect", "EHLO", "STARTTLS", "AUTH"] as const).flatMap((step) =>
    BEFORE_THE_LOGIN.map((answer) => [step, answer, "unavailable"] as const)
  ),
  ["AUTH", "535 5.7.8 wrong password", "unavailable"],
  ["MAIL", "530 5.7.0 log in first", "unavailable"],
  ...(["MAIL", "RCPT", "DATA", "body"] as const).flatMap(
    (step) =>
      [
        [step, "451 4.7.1 greylisted", "unavailable"],
        [step, "421 4.3.2 later", "unavailable"],
        [step, "550 5.7.1 no", "rejected"],
        [step, "close", "unavailable"],
        [step, "reset", "unavailable"],
        [step, "half", "unavailable"]
      ] as const
  ),
  ["dot", "451 4.3.0 disk full", "unavailable"],
  ["dot", "421 4.3.2 later", "unavailable"],
  ["dot", "552 5.3.4 too large", "rejected"],
  ["dot", "554 5.7.1 spam", "rejected"],
  ["dot", "354 what", "ambiguous"],
  // RFC 5321, section 4.2.1: every line of an answer has its code.
  ["dot", "450-later\r\n550 and never", "ambiguous"],
  ["dot", "550-refused\r\n250 and taken", "ambiguous"],
  ["dot", "close", "ambiguous"],
  ["dot", "reset", "ambiguous"],
  ["dot", "half", "ambiguous"],
  ["dot", "accepted-close", "ambiguous"],
  ["dot", "accepted-reset", "ambiguous"],
  ["dot", "accepted-half", "ambiguous"]
]

describe("smtp: what a failure proves (MAIL-36)", () => {
  const secured = {
    tls: "starttls",
    asksLogin: true,
    relay: { ...SIGNED, login: LOGIN, requiresTls: true }
  } as const

  it.effect.each(FAULTS)("%s answered with %s is %s", ([step, answer, kind]) =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake(secured)
      fake.answers[step] = answer
      const failure = yield* failing(provider, step === "body" ? large : mail())
      assert.strictEqual(failure.kind, kind, failure.message)
      assert.strictEqual(fake.taken.length, answer.startsWith("accepted") ? 1 : 0)
      assert.notInclude(JSON.stringify(failure), PASSWORD)
      // The fault over, the same connection or a new one takes the mail.
      delete fake.answers[step]
      const { messageId } = yield* sending(provider)
      assert.include(fake.taken.at(-1)?.raw ?? "", `<${messageId}>`)
    })
  )

  it.effect.each(["connect", "EHLO", "AUTH", "MAIL", "RCPT", "DATA"] as const)(
    "a relay that hangs at %s is unavailable before the attempt's time is over",
    (step) =>
      Effect.gen(function* () {
        const { fake, provider } = yield* relayWithFake({ ...secured, attemptTimeoutMs: 15_000 })
        fake.answers[step] = "hang"
        const fiber = yield* Effect.forkChild(failing(provider))
        yield* Effect.promise(() =>
          fake.until(() => (step === "connect" ? fake.connections() > 0 : fake.count(step) > 0))
        )
        yield* TestClock.adjust(14_000)
        assert.strictEqual((yield* Fiber.join(fiber)).kind, "unavailable")
        yield* Effect.promise(() => fake.until(() => fake.closed() > 0))
      })
  )

  it.effect(
    "one that hangs after the final dot gets the rest of the time, and is ambiguous to the caller",
    () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* relayWithFake()
        fake.answers.dot = "accepted-hang"
        const fiber = yield* Effect.forkChild(sending(provider))
        yield* Effect.promise(() => fake.until(() => fake.taken.length > 0))
        yield* TestClock.adjust(60_000)
        assert.isUndefined(fiber.pollUnsafe())
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(() => fake.until(() => fake.closed() > 0))
      })
  )

  it.effect("a host that is not there is unavailable", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.promise(startFakeRelay.bind(undefined, {}))
      yield* Effect.promise(gone.close)
      for (const relay of [{ port: gone.port }, { host: "relay.invalid" }]) {
        const { provider } = yield* relayWithFake({ relay })
        const failure = yield* failing(provider)
        assert.strictEqual(failure.kind, "unavailable")
        assert.match(failure.message, /SMTP_URL/)
      }
    })
  )
})

describe("smtp: answers that nobody asked for (S3)", () => {
  it.effect.each(["connect", "EHLO", "MAIL", "RCPT", "DATA"] as const)(
    "one more at %s proves nothing of a later command, and the connection is given up",
    (step) =>
      Effect.gen(function* () {
        const { fake, provider } = yield* relayWithFake()
        const usual = {
          connect: "220 hi",
          EHLO: "250 ok",
          MAIL: "250 ok",
          RCPT: "250 ok",
          DATA: "354 go on"
        }[step]
        fake.answers[step] = `${usual}\r\n250 2.0.0 queued as 4F2A` as "250 ok"
        const failure = yield* failing(provider)
        assert.strictEqual(failure.kind, "unavailable")
        assert.strictEqual(fake.taken.length, 0)
        delete fake.answers[step]
        yield* sending(provider)
        assert.strictEqual(fake.connections(), 2)
      })
  )
})

describe("smtp: TLS and login", () => {
  it.effect.each([
    [
      "a certificate that nobody vouches for",
      { tls: "implicit", relay: { secure: true, host: "localhost" } }
    ],
    ["a certificate of another host", { tls: "starttls", relay: { ca: LOCAL_CERTIFICATE.cert } }],
    ["no STARTTLS where it is required", { tls: "none", relay: { requiresTls: true } }],
    ["no TLS at all behind smtps", { tls: "none", relay: { secure: true } }],
    ["no way to log in", { tls: "none", relay: { login: LOGIN } }],
    [
      "a password that is wrong",
      { tls: "none", asksLogin: true, relay: { login: { ...LOGIN, user: "other" } } }
    ]
  ] as const)("%s is unavailable, and no mail is named", ([, options]) =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake(options)
      assert.strictEqual((yield* failing(provider)).kind, "unavailable")
      assert.strictEqual(fake.count("MAIL"), 0)
    })
  )

  it.effect("a refusal that repeats the password is passed on without it", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake({ asksLogin: true, relay: { login: LOGIN } })
      const sent = Buffer.from(`\0${LOGIN.user}\0${PASSWORD}`).toString("base64")
      for (const secret of [PASSWORD, sent]) {
        fake.answers.AUTH = `535 no: ${secret}`
        const { message } = yield* failing(provider)
        assert.notInclude(message, secret)
      }
      assert.notInclude(JSON.stringify(relayAt(1, { login: LOGIN })), PASSWORD)
    })
  )

  it.effect("what is offered in the clear does not count after STARTTLS", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake({
        tls: "starttls",
        asksLogin: true,
        relay: { ca: LOCAL_CERTIFICATE.cert, host: "localhost", login: LOGIN }
      })
      yield* sending(provider)
      assert.deepStrictEqual(fake.heard.map((line) => line.split(" ")[0]).slice(0, 4), [
        "EHLO",
        "STARTTLS",
        "EHLO",
        "AUTH"
      ])
    })
  )
})

describe("smtp: a mail on the wire", () => {
  const whole = mail({
    from: box("noreply@postlane.test", "Pöstlane"),
    to: [box("ann@example.test", "Ann")],
    cc: [box("bob@example.test")],
    bcc: [box("cy@example.test")],
    replyTo: [box("help@postlane.test")],
    subject: "Grüße",
    html: "<p>.dot</p>",
    text: ".\r\n.\r\n..two\rlone",
    headers: { "X-Campaign": "c1" },
    attachments: [{ filename: "ä.txt", contentType: "text/plain", content: "aGk=", contentId: undefined }]
  })

  it.effect("has every field, no Bcc, and the same bytes at every attempt, also out of a queue", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake()
      const request = provider.prepare(whole, KEY)
      yield* provider.send(request)
      yield* provider.send(JSON.parse(JSON.stringify(request)))
      const other = yield* relayWithFake()
      yield* other.provider.send(other.provider.prepare(structuredClone(whole), KEY))
      const [first, ...later] = [...fake.taken, ...other.fake.taken]
      assert.deepStrictEqual(later, [first, first])
      assert.deepStrictEqual(first?.to, ["ann@example.test", "bob@example.test", "cy@example.test"])
      assert.notMatch(first?.raw ?? "", /bcc|cy@example/i)
      const parsed = yield* Effect.promise(() => PostalMime.parse(Buffer.from(first?.raw ?? "", "latin1")))
      assert.strictEqual(parsed.subject, "Grüße")
      assert.strictEqual(parsed.from?.name, "Pöstlane")
      assert.strictEqual(parsed.html?.trim(), "<p>.dot</p>")
      assert.match(parsed.text ?? "", /^\.\r?\n\.\r?\n\.\.two/)
      assert.strictEqual(parsed.replyTo?.[0]?.address, "help@postlane.test")
      assert.strictEqual(parsed.date, new Date(KEY.firstAttemptAt).toISOString())
      assert.strictEqual(parsed.attachments[0]?.filename, "ä.txt")
      assert.isTrue(parsed.headers.some(({ key, value }) => key === "x-campaign" && value === "c1"))
    })
  )

  it.effect("goes to all recipients or to none: one that is refused ends it, and is named", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake()
      const to = ["ann@a.test", "bob@b.test", "cy@c.test"].map((one) => box(one))
      fake.answers.RCPT = (line) =>
        line.includes("bob") ? "550 5.1.1 nobody" : line.includes("cy") ? "451 4.2.2 full" : undefined
      const failure = yield* failing(provider, mail({ to }))
      assert.strictEqual(failure.kind, "rejected")
      assert.match(failure.message, /2 of 3 recipients.*@b\.test.*@c\.test/)
      assert.strictEqual(fake.count("DATA"), 0)
      yield* Effect.promise(() => fake.until(() => fake.count("RSET") === 1))
      // The same connection takes the next mail.
      delete fake.answers.RCPT
      yield* sending(provider)
      assert.strictEqual(fake.connections(), 1)
    })
  )

  it.effect("says its size, and one that is too large is rejected", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake({ offers: ["SIZE 1000"] })
      fake.answers.MAIL = (line) =>
        Number(/SIZE=(\d+)/.exec(line)?.[1]) > 1000 ? "552 5.3.4 too large" : undefined
      assert.strictEqual((yield* failing(provider, mail({ text: "x".repeat(2000) }))).kind, "rejected")
      yield* sending(provider)
      assert.strictEqual(fake.taken.length, 1)
    })
  )

  it.effect("an address beyond ASCII needs SMTPUTF8", () =>
    Effect.gen(function* () {
      const wide = mail({ to: [box("jürgen@example.test")] })
      const plain = yield* relayWithFake()
      assert.strictEqual((yield* failing(plain.provider, wide)).kind, "rejected")
      const able = yield* relayWithFake({ offers: ["SMTPUTF8"] })
      yield* sending(able.provider, wide)
      assert.match(able.fake.heard.find((line) => line.startsWith("MAIL")) ?? "", / SMTPUTF8$/)
    })
  )

  it.effect("a connection that the relay has closed meanwhile costs nothing but a new one", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake()
      fake.answers.RSET = "close"
      yield* sending(provider)
      yield* sending(provider)
      assert.strictEqual(fake.taken.length, 2)
      assert.strictEqual(fake.connections(), 2)
    })
  )
})

describe("smtp: reports come back to a bounce address (RETURN-1)", () => {
  const returns = { local: "bounce", domain: "in.test" }
  const to = ["ann@example.test", "a+b=c@example.test", "jürgen@example.test"].map((one) => box(one))

  it.effect(
    "the envelope names the mail, and a relay that offers DSN is asked for reports of each recipient",
    () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* relayWithFake({ returns, offers: ["DSN", "SMTPUTF8"] })
        const { messageId } = yield* sending(provider, mail({ to }))
        const token = returnToken(KEY.tag)
        const [mailFrom, ...rcpts] = fake.heard.filter((line) => /^(?:MAIL|RCPT)/.test(line))
        assert.strictEqual(mailFrom, `MAIL FROM:<bounce+${token}@in.test> SMTPUTF8 RET=HDRS ENVID=${token}`)
        assert.deepStrictEqual(rcpts, [
          "RCPT TO:<ann@example.test> NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;ann@example.test",
          "RCPT TO:<a+b=c@example.test> NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;a+2Bb+3Dc@example.test",
          "RCPT TO:<jürgen@example.test> NOTIFY=SUCCESS,FAILURE,DELAY"
        ])
        assert.strictEqual(messageId, returnMessageId(returns, KEY.tag))
        const [taken] = fake.taken
        assert.include(taken?.raw ?? "", `X-Postlane-Return: ${token}\r\n`)
        // The first half of the token is known by the Message-ID; nothing else of the mail may give the rest away.
        assert.notInclude((taken?.raw ?? "").replaceAll(token, ""), KEY.tag)
      })
  )

  it.effect("a relay without DSN gets the envelope sender alone, and a mail without a tag its own From", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* relayWithFake({ returns })
      yield* sending(provider)
      yield* provider.send(provider.prepare(mail(), { ...KEY, tag: undefined }))
      const heard = fake.heard.filter((line) => /^(?:MAIL|RCPT)/.test(line))
      assert.match(heard[0] ?? "", /^MAIL FROM:<bounce\+[a-z2-7]{52}@in\.test> SIZE=\d+$/)
      assert.strictEqual(heard[1], "RCPT TO:<ann@example.test>")
      assert.match(heard[2] ?? "", /^MAIL FROM:<noreply@postlane\.test> /)
    })
  )

  it.effect(
    "a request that was queued before the address was set keeps its bytes, and the other way round",
    () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* relayWithFake({ returns })
        const without = yield* relayWithFake()
        for (const request of [provider.prepare(mail(), KEY), without.provider.prepare(mail(), KEY)]) {
          yield* provider.send(JSON.parse(JSON.stringify(request)))
          yield* without.provider.send(request)
        }
        assert.deepStrictEqual(fake.taken, without.fake.taken)
        assert.notStrictEqual(fake.taken[0]?.from, fake.taken[1]?.from)
      })
  )
})

describe("doctor: the relay", () => {
  it.effect("says what it offers, and sends nothing", () =>
    Effect.gen(function* () {
      const { fake } = yield* relayWithFake({ tls: "starttls", asksLogin: true })
      const relay = relayAt(fake.port, { ...SIGNED, login: LOGIN, requiresTls: true })
      assert.deepStrictEqual(yield* examineRelay(relay), {
        _tag: "LoggedIn",
        encrypted: true,
        authenticated: true,
        maxBytes: 20_000_000
      })
      assert.strictEqual(fake.count("MAIL"), 0)
      const wrong = yield* examineRelay({ ...relay, login: { ...LOGIN, password: Redacted.make("other") } })
      assert.strictEqual(wrong._tag, "Failed")
    })
  )
})
