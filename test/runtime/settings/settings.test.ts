import { inspect } from "node:util"

import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result, Schema } from "effect"
import fc from "fast-check"

import { scrubOf } from "../../../src/runtime/process/log-lines.ts"
import {
  advice,
  decodeSettings,
  type DecodeOptions,
  type Env,
  formatProblems,
  requirements,
  type Settings
} from "../../../src/runtime/settings/settings.ts"
import { type SettingName, SETTINGS } from "../../../src/runtime/settings/table.ts"

const SETTING_NAMES = SETTINGS.map(({ name }) => name)

const EMBEDDED: DecodeOptions = { embedded: true }
const SERVE: DecodeOptions = { embedded: false }
/** When advice is given. */
const NOW = Date.UTC(2027, 0, 31, 23, 59, 59)
const PROVIDER_B: Env = { EMAIL_PRIMARY: "provider_b" }

const decode = (env: Env, options: DecodeOptions = EMBEDDED): Settings => {
  const result = decodeSettings(env, options)
  if (Result.isFailure(result)) assert.fail(formatProblems(result.failure))
  return result.success
}
const problems = (env: Env, options: DecodeOptions = EMBEDDED): ReadonlyArray<string> => {
  const result = decodeSettings(env, options)
  return Result.isFailure(result) ? result.failure.map((problem) => problem.setting) : []
}
const warned = (settings: Settings) => settings.warnings.map((warning) => warning.setting)

/** One value that cannot be read, for every setting that can be wrong. */
const UNREADABLE: Partial<Record<SettingName, string>> = {
  PORT: "80a",
  BASE_URL: "ftp://x.test",
  OLDER_BASE_URLS: "https://old.test, old.test",
  OLDER_BASE_URLS_UNTIL: "2027-02-31",
  TRUSTED_PROXIES: "my proxy",
  POSTLANE_EMBEDDED: "perhaps",
  POSTLANE_ROLES: "api,cook",
  SENDER_DOMAIN: "not a domain",
  LEGACY_DOMAIN: "a..b",
  INBOUND_DOMAIN: "-",
  EMAIL_FROM: "nobody",
  DB_URL: "mysql://u@h/d",
  EMAIL_PRIMARY: "provider_c",
  EMAIL_FALLBACK: "none",
  EMAIL_ATTEMPT_TIMEOUT_MS: "-1",
  EMAIL_DB_TIMEOUT_MS: "2.5s",
  PROVIDERA_BASE_URL: "https://user:pass@x.test",
  EMAIL_PROVIDERA_COST_USD: "cheap",
  PROVIDERB_REGION: "US East",
  EMAIL_PROVIDERB_CONFIGURATION_SET: "a b",
  PROVIDERB_CONFIGURATION_SET: "ü",
  PROVIDERB_ENDPOINT: "//x",
  EMAIL_PROVIDERB_COST_USD: "-1",
  CLOUD_REGION: "?",
  IMDS_ENDPOINT: "x",
  S3_ENDPOINT: "x",
  SQS_ENDPOINT: "x",
  BEDROCK_ENDPOINT: "x",
  BEDROCK_RUNTIME_ENDPOINT: "x",
  EMAIL_DEFER_QUEUE_URL: "postgres:a b",
  EMAIL_DEFER_DELAYS_SECONDS: "120,600",
  EMAIL_DEFER_VISIBILITY_SECONDS: "0",
  INTERNAL_ALERT_URL: "/internal",
  INTERNAL_SEND_EMAIL_URL: "localhost:1",
  EVENTS_POLL_SECONDS: "0",
  ALERT_EMAIL: "a@b@c",
  CHAT_API_BASE_URL: "x",
  SMTP_PORT: "65536",
  CONVERT_REPLY_CHANNEL: "pigeon",
  CONVERT_EMAIL_BUCKET: "A",
  MAILAPI_SERVICE_ACCOUNT_KEY: "{}",
  MAIL_SENDER: "x",
  MAILAPI_BASE_URL: "x",
  AUTH_URL: "x",
  FILES_BUCKET: "_",
  CHUNK_HEARTBEAT_INTERVAL_MS: "1",
  HIFI_INPUT_USD_PER_MTOK: "$3",
  HIFI_OUTPUT_USD_PER_MTOK: "1e3",
  BATCH_CONVERSION_ENABLED: "si",
  BATCH_CONVERSION_S3_BUCKET: "s3://x",
  BATCH_CONVERSION_MIN_PAGES: "0",
  BATCH_CONVERSION_MIN_RECORDS: "x",
  BATCH_CONVERSION_MAX_RECORDS: "x",
  BATCH_CONVERSION_TIMEOUT_HOURS: "day",
  BATCH_CONVERSION_MAX_FILE_MB: "2000",
  BATCH_CONVERSION_POLL_SECONDS: "x",
  BATCH_DRIVER_TICK_SECONDS: "x",
  POSTLANE_LOG_LEVEL: "loud",
  OTEL_EXPORTER_OTLP_ENDPOINT: "x"
}

describe("a relay", () => {
  it("is taken apart, its parts decoded", () => {
    const { smtp } = decode({ SMTP_URL: "smtp://a%40b.test:p%25s@[::1]:2526", SMTP_TLS: "optional" })
    assert.deepInclude(smtp, { host: "::1", port: 2526, secure: false, requiresTls: false })
    assert.isDefined(smtp?.login)
    assert.strictEqual(smtp.login.user, "a@b.test")
    assert.strictEqual(Redacted.value(smtp.login.password), "p%s")
    assert.deepInclude(decode({ SMTP_URL: "smtps://h" }).smtp, { port: 465, secure: true, login: undefined })
    assert.deepInclude(decode({ SMTP_URL: "smtp://h" }).smtp, { port: 587, requiresTls: true })
    assert.deepStrictEqual(problems({ SMTP_URL: "https://h", SMTP_TLS: "no" }), ["SMTP_URL", "SMTP_TLS"])
  })

  it("that is chosen needs an address, and a process on Node", () => {
    const chosen = { EMAIL_PRIMARY: "provider_b", EMAIL_FALLBACK: "smtp" }
    assert.include(problems(chosen, SERVE), "SMTP_URL")
    assert.notInclude(problems({ ...chosen, SMTP_URL: "smtps://h" }, SERVE), "SMTP_URL")
    const edge = { embedded: false, library: true, edge: true }
    assert.deepStrictEqual(problems({ ...chosen, SMTP_URL: "smtps://h" }, edge), ["EMAIL_FALLBACK"])
    assert.deepStrictEqual(problems({ EMAIL_PRIMARY: "smtp" }, edge), ["EMAIL_PRIMARY"])
  })
})

describe("Postmark", () => {
  const chosen = { EMAIL_PRIMARY: "provider_b", EMAIL_FALLBACK: "postmark" }

  it("that is chosen needs a token, on the edge as well", () => {
    assert.include(problems(chosen, SERVE), "POSTMARK_SERVER_TOKEN")
    assert.notInclude(problems({ ...chosen, POSTMARK_SERVER_TOKEN: "t" }, SERVE), "POSTMARK_SERVER_TOKEN")
    const edge = { embedded: false, library: true, edge: true }
    assert.deepStrictEqual(problems({ ...chosen, POSTMARK_SERVER_TOKEN: "t" }, edge), [])
  })

  it("is simulated without a token, and reports to nobody without a password", () => {
    assert.isTrue(decode({}).sending.simulates.postmark)
    const { postmark, sending } = decode({ POSTMARK_SERVER_TOKEN: "t", POSTMARK_WEBHOOK_PASSWORD: "p" })
    assert.isFalse(sending.simulates.postmark)
    assert.strictEqual(postmark.webhook?.user, "postlane")
    assert.isUndefined(decode({ POSTMARK_SERVER_TOKEN: "t" }).postmark.webhook)
  })
})

describe("settings", () => {
  it("has the documented defaults", () => {
    const settings = decode({})
    assert.strictEqual(settings.http.host, "127.0.0.1", "nobody else reaches it (HTTP-9)")
    assert.strictEqual(settings.http.baseUrl, "http://127.0.0.1:8787")
    assert.deepStrictEqual(settings.roles, ["api", "leader", "retry", "send", "worker", "intake"])
    assert.deepStrictEqual(settings.sending, {
      primary: "provider_a",
      fallback: "provider_b",
      isOff: false,
      from: { name: "Postlane", local: "noreply", domain: "postlane.test" },
      attemptTimeoutMs: 15_000,
      dbTimeoutMs: 2_500,
      costUsd: { provider_a: 0.0004, provider_b: 0.0001, smtp: 0, postmark: 0.0015 },
      isConfigured: { provider_a: false, provider_b: false, smtp: false, postmark: false },
      simulates: { provider_a: true, provider_b: true, smtp: true, postmark: true }
    })
    assert.deepStrictEqual(settings.retryQueue, {
      address: { _tag: "Postgres", name: "email-defer" },
      delaysSeconds: [120, 600, 900],
      visibilitySeconds: 60
    })
    assert.deepStrictEqual(
      [settings.providerB.region, settings.cloud.region, settings.providerB.outreachConfigurationSet],
      ["us-east-1", "us-east-1", "outreach-set"]
    )
    assert.strictEqual(settings.events.internalAlertUrl, "http://127.0.0.1:8787/internal/email-alert")
    assert.deepStrictEqual(settings.warnings, [])
  })

  it("every plain default is a value that its own setting takes", () => {
    const refused = SETTINGS.filter(
      ({ fallback, schema }) =>
        fallback !== undefined && Result.isFailure(Schema.decodeUnknownResult(schema)(fallback))
    )
    assert.deepStrictEqual(refused, [])
  })

  it("every setting that cannot be read is reported by its name, alone and all of them at once", () => {
    for (const [name, value] of Object.entries(UNREADABLE)) {
      assert.deepStrictEqual(problems({ [name]: value }), [name])
    }
    assert.deepStrictEqual([...problems(UNREADABLE)].sort(), Object.keys(UNREADABLE).sort())
    assert.deepStrictEqual([...problems(UNREADABLE, SERVE)].sort(), Object.keys(UNREADABLE).sort())
  })

  it("set but empty counts as unset, but for the queue", () => {
    const empty = Object.fromEntries(SETTING_NAMES.map((name) => [name, " "]))
    const settings = decode(empty)
    assert.deepStrictEqual(settings.retryQueue.address, { _tag: "None" })
    assert.deepStrictEqual({ ...settings, retryQueue: undefined }, { ...decode({}), retryQueue: undefined })
    assert.deepStrictEqual(decode({ EMAIL_DEFER_QUEUE_URL: "" }).retryQueue.address, { _tag: "None" })
  })

  it("the queue is SQS, Postgres or none", () => {
    const address = (url: string | undefined, options: DecodeOptions) =>
      decode({ ...PROVIDER_B, DB_URL: "postgres://u@h/d", EMAIL_DEFER_QUEUE_URL: url }, options).retryQueue
        .address
    assert.deepStrictEqual(address("https://sqs.eu-west-1.amazonaws.com/1/q", SERVE), {
      _tag: "Sqs",
      url: "https://sqs.eu-west-1.amazonaws.com/1/q"
    })
    assert.deepStrictEqual(address("http://127.0.0.1:4566/0/q", SERVE)._tag, "Sqs")
    assert.deepStrictEqual(address("postgres:my_queue-2", SERVE), { _tag: "Postgres", name: "my_queue-2" })
    for (const options of [SERVE, { embedded: false, library: true }])
      assert.deepStrictEqual(address(undefined, options), { _tag: "Postgres", name: "email-defer" })
    assert.deepStrictEqual(address(" ", SERVE), { _tag: "None" })
    assert.deepStrictEqual(decode({}, { embedded: false, library: true }).retryQueue.address, {
      _tag: "None"
    })
    assert.deepStrictEqual(problems({ ...PROVIDER_B, EMAIL_DEFER_QUEUE_URL: "postgres:q" }, SERVE), [
      "EMAIL_DEFER_QUEUE_URL"
    ])
  })

  it("there are exactly three waits", () => {
    assert.deepStrictEqual(
      decode({ EMAIL_DEFER_DELAYS_SECONDS: "1, 0.5,0" }).retryQueue.delaysSeconds,
      [1, 0.5, 0]
    )
    for (const wrong of ["1,2", "1,2,3,4", "1,2,", "1,-2,3", "a,b,c", "1;2;3"]) {
      assert.deepStrictEqual(problems({ EMAIL_DEFER_DELAYS_SECONDS: wrong }), ["EMAIL_DEFER_DELAYS_SECONDS"])
    }
    const sqs = { EMAIL_DEFER_QUEUE_URL: "https://sqs.us-east-1.amazonaws.com/1/q" }
    const tooLong = { ...sqs, EMAIL_DEFER_DELAYS_SECONDS: "120,600,901" }
    assert.deepStrictEqual(problems(tooLong), ["EMAIL_DEFER_DELAYS_SECONDS"], "SQS delays by 900 s at most")
    assert.deepStrictEqual(problems({ ...sqs, EMAIL_DEFER_DELAYS_SECONDS: "120,600,900" }), [])
  })

  it("the database's password is the URL's, else DB_SECRET_KEY (or DB_SERVICE_KEY), else DB_SERVICE_ROLE_KEY", () => {
    const url = (env: Env) => {
      const { database } = decode({ DB_URL: "postgres://u@h:5432/d", ...env })
      return [Redacted.value(database!.url), database!.hasPassword]
    }
    assert.deepStrictEqual(url({}), ["postgres://u@h:5432/d", false])
    assert.deepStrictEqual(url({ DB_SERVICE_ROLE_KEY: "role" }), ["postgres://u:role@h:5432/d", true])
    assert.deepStrictEqual(
      url({ DB_SERVICE_KEY: "svc", DB_SERVICE_ROLE_KEY: "role" })[0],
      "postgres://u:svc@h:5432/d"
    )
    assert.deepStrictEqual(
      url({ DB_SECRET_KEY: "key", DB_SERVICE_KEY: "svc" })[0],
      "postgres://u:key@h:5432/d"
    )
    assert.deepStrictEqual(
      url({ DB_URL: "postgres://u:own@h/d", DB_SECRET_KEY: "key" })[0],
      "postgres://u:own@h/d"
    )
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (password) => {
        fc.pre(password.trim() !== "")
        const [text] = url({ DB_SECRET_KEY: password })
        assert.strictEqual(decodeURIComponent(new URL(text as string).password), password.trim())
      })
    )
  })

  it("what no driver can decode in the address of a database or of Redis is refused, with what to write", () => {
    const wrong = {
      DB_URL: [
        "postgres://u:100%@h/d",
        "postgres://u:%FF@h/d",
        "postgres://50%:p@h/d",
        "postgres://u:p@h/d%"
      ],
      REDIS_URL: ["redis://:pa%ss@h", "rediss://u%:p@h"]
    }
    for (const [name, urls] of Object.entries(wrong)) {
      for (const url of urls) {
        const [problem, ...more] = Result.getOrThrow(Result.flip(decodeSettings({ [name]: url }, EMBEDDED)))
        assert.deepStrictEqual([problem?.setting, more], [name, []], url)
        assert.include(problem?.message, "%25")
      }
    }
  })

  it("a list of hosts, which the driver would take for one name, is refused", () => {
    for (const url of [
      "postgres://u@one,two/d",
      "postgres://u@one,two:5432/d",
      "postgres://u@one:5432,two:5432/d",
      "postgres://u@one/d?host=one,two"
    ]) {
      const [problem, ...more] = Result.getOrThrow(Result.flip(decodeSettings({ DB_URL: url }, EMBEDDED)))
      assert.deepStrictEqual([problem?.setting, more], ["DB_URL", []], url)
      assert.include(problem?.message, "one host")
    }
  })

  it("a way to ask for TLS that the driver passes over is refused, with what to write", () => {
    for (const [parameter, works] of [
      ["ssl=true", false],
      ["ssl", false],
      ["sslMode=require", false],
      ["sslrootcert=/etc/ca.pem", false],
      ["sslmode=require&sslcert=/c", false],
      ["tls=1", false],
      ["sslmode=no-verify", false],
      ["sslmode", false],
      ["sslmode=verify-full", true],
      ["connect_timeout=5&application_name=ssl", true],
      ["", true]
    ] as const) {
      const decoded = decodeSettings({ DB_URL: `postgres://u:own@h/d?${parameter}` }, EMBEDDED)
      if (works) assert.isTrue(Result.isSuccess(decoded), parameter)
      else {
        const [problem, ...more] = Result.getOrThrow(Result.flip(decoded))
        assert.deepStrictEqual([problem?.setting, more], ["DB_URL", []], parameter)
        assert.include(problem?.message, "sslmode=require")
      }
    }
  })

  it("a fallback equal to the primary is ignored", () => {
    const settings = decode({ EMAIL_PRIMARY: "provider_b", EMAIL_FALLBACK: "provider_b" })
    assert.isUndefined(settings.sending.fallback)
    assert.deepStrictEqual(warned(settings), ["EMAIL_FALLBACK"])
  })

  it("a first run that simulates both fails over; nothing else does without a fallback", () => {
    const fallback = (env: Env, options: DecodeOptions = EMBEDDED) => decode(env, options).sending.fallback
    assert.strictEqual(fallback({}), "provider_b")
    assert.isUndefined(fallback({ EMAIL_PRIMARY: "provider_a" }))
    assert.isUndefined(fallback({ EMAIL_PRIMARY: "provider_b" }))
    assert.isUndefined(fallback({ EMAIL_FALLBACK: "provider_a" }))
    assert.isUndefined(fallback({ PROVIDERA_API_KEY: "re_k" }), "a simulated provider would swallow mail")
    assert.isUndefined(fallback({ CLOUD_ACCESS_KEY_ID: "a", CLOUD_SECRET_ACCESS_KEY: "s" }))
    assert.isUndefined(fallback({ PROVIDERA_API_KEY: "re_k" }, SERVE))
  })

  it("provider_a's key is required where it is primary or fallback, unless embedded; the library only warns", () => {
    assert.deepStrictEqual(problems({}, SERVE), ["PROVIDERA_API_KEY"])
    assert.deepStrictEqual(problems({ ...PROVIDER_B, EMAIL_FALLBACK: "provider_a" }, SERVE), [
      "PROVIDERA_API_KEY"
    ])
    assert.deepStrictEqual(problems(PROVIDER_B, SERVE), [])
    assert.deepStrictEqual(problems({ PROVIDERA_API_KEY: "k" }, SERVE), [])
    assert.deepStrictEqual(
      problems({ EMAIL_PRIMARY: "postmark", EMAIL_FALLBACK: "smtp" }, SERVE).toSorted(),
      ["POSTMARK_SERVER_TOKEN", "SMTP_URL"]
    )
    assert.deepStrictEqual(problems({}, EMBEDDED), [])
    assert.deepStrictEqual(problems({ POSTLANE_EMBEDDED: "0" }, EMBEDDED), ["PROVIDERA_API_KEY"])
    assert.deepStrictEqual(warned(decode({}, { embedded: false, library: true })), ["PROVIDERA_API_KEY"])
  })

  it("none is a server for documents: it needs no key, simulates nothing, and takes no fallback", () => {
    const none = { EMAIL_PRIMARY: "none" }
    assert.deepStrictEqual(problems(none, SERVE), [])
    assert.deepStrictEqual(problems({ ...none, EMAIL_FALLBACK: "provider_b" }, SERVE), ["EMAIL_FALLBACK"])
    for (const options of [SERVE, EMBEDDED]) {
      const { sending } = decode(none, options)
      assert.deepInclude(sending, { isOff: true, fallback: undefined })
      assert.notInclude(Object.values(sending.simulates), true)
    }
    assert.isFalse(decode({}, EMBEDDED).sending.isOff)
    const complete = decode({ ...none, DB_URL: "postgres://u@h/d", PROXY_SHARED_SECRET: "s" }, SERVE)
    assert.deepStrictEqual(requirements(complete), [])
    assert.deepStrictEqual(
      advice(complete, NOW).map(({ setting }) => setting),
      ["BASE_URL", "TRUSTED_MAIL_HOPS"]
    )
  })

  it("half of the cloud keys is a problem", () => {
    assert.deepStrictEqual(problems({ CLOUD_ACCESS_KEY_ID: "a" }), ["CLOUD_SECRET_ACCESS_KEY"])
    assert.deepStrictEqual(problems({ CLOUD_SECRET_ACCESS_KEY: "s" }), ["CLOUD_ACCESS_KEY_ID"])
    assert.deepStrictEqual(problems({ CLOUD_SESSION_TOKEN: "t" }), [
      "CLOUD_SECRET_ACCESS_KEY",
      "CLOUD_ACCESS_KEY_ID"
    ])
    const both = decode({ CLOUD_ACCESS_KEY_ID: "a", CLOUD_SECRET_ACCESS_KEY: "s" })
    assert.strictEqual(Redacted.value(both.cloud.credentials!.secretAccessKey), "s")
  })

  it("SMTP submission is off in production unless its port is set, and takes the intake's certificate unless it has one (FRONT-3)", () => {
    assert.strictEqual(decode({}).submission.port, 2587)
    assert.isUndefined(decode(PROVIDER_B, SERVE).submission.port)
    const intake = { SMTP_TLS_CERT: "/in.pem", SMTP_TLS_KEY: "/in.key" }
    const own = { SUBMISSION_TLS_CERT: "/own.pem", SUBMISSION_TLS_KEY: "/own.key" }
    assert.deepInclude(decode(intake).submission, {
      tlsCert: "/in.pem",
      tlsKey: "/in.key",
      implicitTls: false
    })
    assert.deepInclude(decode({ ...intake, ...own }).submission, { tlsCert: "/own.pem", tlsKey: "/own.key" })
    assert.isTrue(decode({ ...own, SUBMISSION_TLS: "implicit" }).submission.implicitTls)
    assert.deepStrictEqual(problems({ SUBMISSION_TLS: "implicit" }), ["SUBMISSION_TLS_CERT"])
    assert.deepStrictEqual(problems({ ...intake, SUBMISSION_TLS_CERT: "/own.pem" }), ["SUBMISSION_TLS_KEY"])
    assert.deepStrictEqual(problems({ ...intake, SUBMISSION_TLS_KEY: "/own.key" }), ["SUBMISSION_TLS_CERT"])
    const open = { ...PROVIDER_B, SUBMISSION_PORT: "587", HOST: "0.0.0.0" }
    assert.include(warned(decode(open, SERVE)), "SUBMISSION_TLS_CERT")
    assert.notInclude(warned(decode({ ...open, ...own }, SERVE)), "SUBMISSION_TLS_CERT")
    assert.notInclude(warned(decode({ ...open, HOST: "127.0.0.1" }, SERVE)), "SUBMISSION_TLS_CERT")
  })

  it("regions, domains, addresses and lists", () => {
    const regions = (env: Env) => [decode(env).providerB.region, decode(env).cloud.region]
    assert.deepStrictEqual(regions({ CLOUD_REGION: "eu-west-1" }), ["eu-west-1", "eu-west-1"])
    assert.deepStrictEqual(regions({ PROVIDERB_REGION: "eu-west-2" }), ["eu-west-2", "us-east-1"])
    assert.strictEqual(decode({ SENDER_DOMAIN: "Müller.test" }).sending.from.domain, "xn--mller-kva.test")
    assert.strictEqual(decode({ HOST: "::", PORT: "9000" }).http.baseUrl, "http://127.0.0.1:9000")
    assert.strictEqual(decode({ HOST: "::1" }).http.baseUrl, "http://[::1]:8787")
    assert.strictEqual(
      decode({ BASE_URL: "https://api.x.test/" }).events.internalSendEmailUrl,
      "https://api.x.test/internal/send-email"
    )
    assert.isUndefined(decode({}, { embedded: true, edge: true }).events.internalSendEmailUrl)
    assert.deepStrictEqual(decode({ POSTLANE_ROLES: "retry, api" }).roles, ["api", "retry"])
    assert.strictEqual(decode({ ALERT_EMAIL: "Ops <ops@x.test>" }).alerts.email, "ops@x.test")
    assert.deepStrictEqual(
      decode({ PROVIDERA_WEBHOOK_SECRET: "whsec_a whsec_b" }).providerA.webhookSecrets.map(Redacted.value),
      ["whsec_a", "whsec_b"]
    )
    for (const [hours, clamped] of [
      ["1", 24],
      ["48", 48],
      ["1000", 168]
    ] as const) {
      assert.strictEqual(decode({ BATCH_CONVERSION_TIMEOUT_HOURS: hours }).batch.timeoutHours, clamped)
    }
  })

  it("a webhook secret that cannot verify anything is reported at startup, without its value", () => {
    const sound = `whsec_${Buffer.alloc(24, 7).toString("base64")}`
    const db = { ...PROVIDER_B, PROXY_SHARED_SECRET: "x", DB_URL: "postgres://u@h/d" }
    const env = (secret: string) => ({ ...db, PROVIDERA_WEBHOOK_SECRET: secret })
    const server: DecodeOptions = { embedded: false, server: true }
    assert.deepStrictEqual(problems(env(sound), server), [])
    for (const secret of ["whsec_not-base64!", "whsec_", `${sound} oops!`]) {
      assert.deepStrictEqual(problems(env(secret), server), ["PROVIDERA_WEBHOOK_SECRET"])
      for (const options of [EMBEDDED, { embedded: false, library: true }]) {
        const { warnings } = decode(env(secret), options)
        const reported = warnings.filter(({ setting }) => setting === "PROVIDERA_WEBHOOK_SECRET")
        assert.lengthOf(reported, 1)
        assert.notInclude(formatProblems(reported), "oops")
        assert.notInclude(formatProblems(reported), "not-base64")
      }
    }
  })

  it("a name that nearly is one of ours is warned about, with the name that was meant", () => {
    const settings = decode({
      EMAIL_PRIMERY: "x",
      POSTLANE_ZEBRA_CROSSING: "1",
      PATH: "/bin",
      PROVIDERA_APIKEY: "k"
    })
    assert.deepStrictEqual(
      settings.warnings.map(({ setting, message }) => [setting, /did you mean (\w+)/.exec(message)?.[1]]),
      [
        ["EMAIL_PRIMERY", "EMAIL_PRIMARY"],
        ["POSTLANE_ZEBRA_CROSSING", undefined],
        ["PROVIDERA_APIKEY", "PROVIDERA_API_KEY"]
      ]
    )
    assert.deepStrictEqual(warned(decode({ DB_SERVICE_KEY: "k" })), [])
  })

  it("bindings of an edge runtime may hold other things than text", () => {
    const env = {
      PORT: 9000,
      EMAIL_PRIMARY: { get: () => "x" },
      BATCH_CONVERSION_ENABLED: true
    } as unknown as Env
    const settings = decode(env)
    assert.deepStrictEqual(
      [settings.http.port, settings.sending.primary, settings.batch.enabled],
      [9000, "provider_a", true]
    )
  })

  it("older addresses have an end, and a warning once their last day is past", () => {
    const about = (env: Env, now = NOW) =>
      advice(decode({ ...PROVIDER_B, ...env }, SERVE), now)
        .map(({ setting }) => setting)
        .filter((name) => name.startsWith("OLDER"))
    const older = { OLDER_BASE_URLS: "https://old.test/, https://older.test:8443" }
    assert.deepStrictEqual(decode(older).http.olderBaseUrls, ["https://old.test", "https://older.test:8443"])
    assert.deepStrictEqual(decode({}).http.olderBaseUrls, [])
    assert.deepStrictEqual(about({ OLDER_BASE_URLS_UNTIL: "2020-01-01" }), [])
    assert.deepStrictEqual(about(older), ["OLDER_BASE_URLS_UNTIL"])
    const ending = { ...older, OLDER_BASE_URLS_UNTIL: "2027-01-31" }
    assert.deepStrictEqual(about(ending), [])
    assert.deepStrictEqual(about(ending, NOW + 1_000), ["OLDER_BASE_URLS"])
  })

  it("production lists what is missing, and what to do", () => {
    assert.deepStrictEqual(
      requirements(decode({}, { embedded: false, library: true })).map((one) => one.setting),
      ["DB_URL", "PROXY_SHARED_SECRET"]
    )
    const complete = decode({ ...PROVIDER_B, DB_URL: "postgres://u@h/d", PROXY_SHARED_SECRET: "s" }, SERVE)
    assert.deepStrictEqual(requirements(complete), [])
    assert.deepStrictEqual(
      advice(complete, NOW).map((one) => one.setting),
      ["SENDER_DOMAIN", "BASE_URL", "EMAIL_FALLBACK", "PROVIDERB_WEBHOOK_SECRET", "TRUSTED_MAIL_HOPS"]
    )
    const deaf = (env: Record<string, string>) =>
      advice(
        decode(
          { PROVIDERA_API_KEY: "re_k", DB_URL: "postgres://u@h/d", PROXY_SHARED_SECRET: "s", ...env },
          SERVE
        ),
        NOW
      )
        .map((one) => one.setting)
        .filter((name) => name.endsWith("WEBHOOK_SECRET"))
    assert.deepStrictEqual(deaf({}), ["PROVIDERA_WEBHOOK_SECRET"])
    assert.deepStrictEqual(deaf({ EMAIL_FALLBACK: "provider_b" }), [
      "PROVIDERA_WEBHOOK_SECRET",
      "PROVIDERB_WEBHOOK_SECRET"
    ])
    assert.deepStrictEqual(deaf({ POSTLANE_ROLES: "worker" }), [])
    assert.deepStrictEqual(deaf({ PROVIDERA_WEBHOOK_SECRET: `whsec_${"A".repeat(32)}` }), [])
    const known = {
      ...PROVIDER_B,
      TRUSTED_MAIL_HOPS: "mx.hop.test",
      TRUSTED_MAIL_PEERS: "10.0.0.0/8, fd00::/8 192.0.2.1"
    }
    assert.notInclude(
      advice(decode(known, SERVE), NOW).map((one) => one.setting),
      "TRUSTED_MAIL_HOPS"
    )
    assert.deepStrictEqual(decode(known, SERVE).intake.trustedPeers, ["10.0.0.0/8", "fd00::/8", "192.0.2.1"])
    for (const wrong of ["10.0.0.0/33", "fd00::/129", "mx.hop.test", "10.0.0", "fade"]) {
      assert.isTrue(
        Result.isFailure(decodeSettings({ TRUSTED_MAIL_PEERS: wrong }, { embedded: true })),
        wrong
      )
    }
  })
})

describe("secrets", () => {
  const SECRETS = SETTINGS.filter(({ secret }) => secret).map(({ name }) => name)
  const base64Of = (text: string) => Buffer.from(text).toString("base64")
  /** A value of the right shape around a text that stands nowhere else. */
  const valueOf = (name: SettingName, secret: string): string => {
    if (name === "DB_URL") return `postgres://u:${secret}@h/d`
    if (name === "SMTP_URL") return `smtps://u:${secret}@h`
    if (name === "REDIS_URL") return `rediss://u:${secret}@h`
    if (name === "PROVIDERA_WEBHOOK_SECRET" || name === "EVENT_HOOK_SECRET")
      return `whsec_${base64Of(secret)}`
    if (name === "MAILAPI_SERVICE_ACCOUNT_KEY")
      return JSON.stringify({ client_email: "a@b.test", private_key: secret })
    return secret
  }
  const secretArb = fc.stringMatching(/^[A-Za-z0-9!*._-]{24,60}$/).map((text) => `S3${text}`)

  const shown = (value: unknown): string =>
    [JSON.stringify(value), String(value), inspect(value, { depth: 20, showHidden: true })].join("\n")

  it("are in no text that the settings can be turned into", () => {
    fc.assert(
      fc.property(secretArb, (secret) => {
        const env = Object.fromEntries(SECRETS.map((name) => [name, valueOf(name, secret)]))
        const settings = decode(env, SERVE)
        for (const text of [secret, base64Of(secret)]) {
          assert.notInclude(shown(settings), text)
          assert.notInclude(shown([requirements(settings), advice(settings, NOW)]), text)
        }
      }),
      { numRuns: 50 }
    )
  })

  it("are in no problem, under whatever name they were put by mistake", () => {
    fc.assert(
      fc.property(secretArb, fc.constantFrom(...SETTING_NAMES), (secret, name) => {
        for (const value of [secret, `https://u:${secret}@x.test`, ` ${secret} `]) {
          const result = decodeSettings({ [name]: value }, SERVE)
          if (Result.isFailure(result)) {
            assert.notInclude(shown(result.failure), secret)
            assert.notInclude(formatProblems(result.failure), secret)
          }
        }
      })
    )
  })

  it("are removed from texts, also where encoded for a URL or JSON", () => {
    const settings = decode(
      {
        DB_URL: "postgres://u@h/d",
        DB_SECRET_KEY: 'p%ss"word/1',
        PROVIDERA_API_KEY: "re_12345",
        OWNER_TOKEN: "abc"
      },
      SERVE
    )
    const scrub = scrubOf(settings)
    const url = Redacted.value(settings.database!.url)
    for (const text of [
      url,
      `key ${encodeURIComponent('p%ss"word/1')}`,
      JSON.stringify('p%ss"word/1'),
      "re_12345!"
    ]) {
      assert.notMatch(scrub(`x ${text} y`), /word|re_12345|postgres/)
    }
    assert.strictEqual(scrub("abc of provider_a"), "abc of provider_a")
  })

  it("are removed also where a password's % stands for nothing", () => {
    const scrub = scrubOf({ url: Redacted.make("postgres://u:100%sure@h/d") })
    assert.strictEqual(scrub("100%sure, 100%25sure"), "<redacted>, <redacted>")
  })
})
