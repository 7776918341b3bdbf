import { readFileSync } from "node:fs"

import { Redacted, Result } from "effect"
import { assert, describe, it } from "vitest"

import { readHead } from "../../src/adapters/postal-mime/read-head.ts"
import { isQuotableAddress } from "../../src/domain/inbound/quotable.ts"
import { authenticityOf, senderOf } from "../../src/domain/inbound/sender-authenticity.ts"
import { decodeSettings } from "../../src/runtime/settings/settings.ts"

const GUIDE = new URL("../../docs/guides/mail-hop.md", import.meta.url)
const guide = readFileSync(GUIDE, "utf8")

/** Sections of the guide by their headings. */
const sections = new Map(
  guide
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf("\n")), text] as const)
)

/** Fenced blocks of a section, in order. */
const blocks = (section: string): ReadonlyArray<string> =>
  [...section.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, text = ""]) => text)

/** A file of a hop, by its path on that machine. */
const fileOf = (name: string, path: string): string =>
  readFileSync(new URL(`../../examples/mail-hop/${FOLDERS.get(name)}${path}`, import.meta.url), "utf8")

const FOLDERS = new Map([
  ["Postfix with OpenDKIM and OpenDMARC", "opendkim"],
  ["Postfix with rspamd", "rspamd"]
])

/** `name = value` lines of Postfix, or `Name  value` lines of the milters. */
const valuesOf = (text: string, separator: RegExp) =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const [name = "", ...rest] = line.split(separator)
        assert.isAbove(rest.length, 0, line)
        return [name, rest.join(" ")] as const
      })
  )

/** The settings of Postlane that a section names. */
const settingsOf = (name: string) => {
  const own = blocks(sections.get(name)!).find((text) => text.startsWith("# Postlane"))
  const env = Object.fromEntries(valuesOf(own ?? "", /=/))
  const settings = Result.getOrThrow(decodeSettings(env, { embedded: true }))
  const { hopSecret, trustedHops } = settings.intake
  return { trustedHops, hopSecret, trustsLoopback: false }
}

/** The header section of a section's mail, as it is on the wire. */
const mailOf = (name: string) => {
  const [, path = ""] = /\((\S+\.eml)\)/.exec(sections.get(name)!) ?? []
  const text = readFileSync(new URL(path, GUIDE), "utf8")
  return readHead(Buffer.from(`${text.replaceAll("\n", "\r\n")}\r\n`))
}

const verdict = (name: string, change: (text: string) => string = (text) => text) => {
  const mail = mailOf(name)
  const changed = {
    ...mail,
    headers: mail.headers.map((header) => ({ ...header, value: change(header.value) }))
  }
  return authenticityOf(
    changed,
    senderOf(changed)!,
    { envelopeFrom: "prvs=1234abcd=ann@reader.test", peerTrusted: true },
    settingsOf(name)
  )
}

const POSTFIX = [...FOLDERS.keys()]

describe("docs/guides/mail-hop.md", () => {
  it.each([...POSTFIX, "Exchange Online"])(
    "%s: its mail is verified by the settings that stand beside it",
    (name) => {
      assert.deepStrictEqual(verdict(name), { verified: true })
      // Without what the hop reports of DMARC and of signatures, it is not.
      assert.isFalse(
        verdict(name, (value) =>
          value.replaceAll("dmarc=none", "dmarc=fail").replaceAll("dmarc=pass", "dmarc=fail")
        ).verified
      )
      assert.isFalse(
        verdict(name, (value) =>
          value.replaceAll("mx.example.com", "mx.evil.test").replaceAll("c8b7f0d2a1e94e5f", "x")
        ).verified
      )
      assert.isFalse(
        verdict(name, (value) =>
          value.replaceAll(/dmarc=\w+/g, "dmarc=none").replaceAll(/(dkim|spf)=pass/g, "$1=fail")
        ).verified
      )
    }
  )

  it("Exchange Online is not believed without the secret, and bestguesspass needs an aligned pass", () => {
    const name = "Exchange Online"
    const mail = mailOf(name)
    const sender = senderOf(mail)!
    const delivery = { envelopeFrom: "ann@reader.test", peerTrusted: true }
    const rules = settingsOf(name)
    const judged = (headers: typeof mail.headers, secret: string | undefined) =>
      authenticityOf({ ...mail, headers }, sender, delivery, {
        ...rules,
        hopSecret: secret === undefined ? undefined : Redacted.make(secret)
      }).verified
    assert.isTrue(judged(mail.headers, "c8b7f0d2a1e94e5f"))
    for (const secret of [undefined, "c8b7f0d2a1e94e5", "", "C8B7F0D2A1E94E5F"])
      assert.isFalse(judged(mail.headers, secret), secret)
    const twice = [{ name: "x-postlane-hop", value: "c8b7f0d2a1e94e5f" }, ...mail.headers]
    assert.isFalse(judged(twice, "c8b7f0d2a1e94e5f"), "somebody guesses")
    assert.isTrue(verdict(name, (value) => value.replace("dmarc=pass", "dmarc=bestguesspass")).verified)
    assert.isFalse(
      verdict(name, (value) =>
        value.replace("dmarc=pass", "dmarc=bestguesspass").replaceAll("=reader.test", "=evil.test")
      ).verified
    )
    // What a stranger wrote without a server's name stands below, and never counts.
    const below = [
      ...mail.headers.map((header) => ({
        ...header,
        value: header.value.replace("dmarc=pass", "dmarc=fail")
      })),
      { name: "authentication-results", value: "dmarc=pass header.from=reader.test" }
    ]
    assert.isFalse(judged(below, "c8b7f0d2a1e94e5f"))
  })

  it.each(POSTFIX)("%s: Postfix keeps what was not checked, and refuses what cannot be quoted", (name) => {
    const main = valuesOf(fileOf(name, "/etc/postfix/main.cf"), /\s*=\s*/)
    if (name === POSTFIX[0]) {
      // Of the mail itself, not of a mail that is attached to it.
      const reports = ["header_checks", "mime_header_checks", "nested_header_checks"]
      assert.deepStrictEqual(
        reports.map((key) => main.get(key)),
        ["pcre:/etc/postfix/reports.pcre", "", ""]
      )
      assert.match(
        fileOf(name, "/etc/postfix/reports.pcre"),
        /^\/\^Authentication-Results\\s\*:\/ {2}IGNORE$/m
      )
    }
    assert.strictEqual(main.get("milter_default_action"), "tempfail")
    assert.strictEqual(main.get("message_size_limit"), String(40 * 1024 * 1024))
    assert.include(settingsOf(name).trustedHops, main.get("myhostname"))
    assert.include(main.get("smtpd_sender_restrictions") ?? "", "/etc/postfix/senders.pcre")
    const [line = ""] = fileOf(name, "/etc/postfix/senders.pcre").split("\n")
    const [, source = ""] = /^\/(.*)\/\s+553 5\.1\.7 /.exec(line) ?? []
    const refused = new RegExp(source)
    for (const address of [
      '"x)dkim=pass(y"@evil.test',
      "a b@x",
      'a"b@x',
      "a\\b@x",
      "a;b@x",
      "a<b@x",
      "ann@x",
      "prvs=1=ann@x"
    ])
      assert.strictEqual(refused.test(address), !isQuotableAddress(address), address)
  })

  it("the programs' own files say what the text says of them", () => {
    const [open = "", rspamd = ""] = POSTFIX
    const dkim = valuesOf(fileOf(open, "/etc/opendkim.conf"), /\s+/)
    const dmarc = valuesOf(fileOf(open, "/etc/opendmarc.conf"), /\s+/)
    assert.deepStrictEqual(
      [dkim.get("AuthservID"), dmarc.get("AuthservID"), dmarc.get("TrustedAuthservIDs")],
      Array<string>(3).fill("mx.example.com")
    )
    assert.deepStrictEqual(
      [dkim.get("AlwaysAddARHeader"), dmarc.get("SPFSelfValidate"), dmarc.get("RejectFailures")],
      ["yes", "true", "false"]
    )
    const main = valuesOf(fileOf(open, "/etc/postfix/main.cf"), /\s*=\s*/)
    assert.deepStrictEqual(
      [dkim, dmarc].map(
        (file) => `inet:127.0.0.1:${/^inet:(\d+)@127\.0\.0\.1$/.exec(file.get("Socket") ?? "")?.[1]}`
      ),
      main.get("smtpd_milters")?.split(", ")
    )
    assert.match(
      fileOf(rspamd, "/etc/rspamd/local.d/milter_headers.conf"),
      /^use = \["authentication-results"\];$/m
    )
    const proxy = /bind_socket = "(.*)";/.exec(fileOf(rspamd, "/etc/rspamd/local.d/worker-proxy.inc"))?.[1]
    assert.strictEqual(
      valuesOf(fileOf(rspamd, "/etc/postfix/main.cf"), /\s*=\s*/).get("smtpd_milters"),
      `inet:${proxy}`
    )
  })
})

describe("layouts of several reports, as programs write them", () => {
  const hop = { trustedHops: ["mx.example.com"], trustsLoopback: false }
  const RECEIVED =
    "Received: from mail.reader.test (mail.reader.test [192.0.2.7]) by mx.example.com (Postfix) with ESMTPS id 4; Mon, 2 Nov 2026 10:00:00 +0000"
  const AR = "Authentication-Results: mx.example.com;"
  const judged = (lines: ReadonlyArray<string>) => {
    const mail = readHead(Buffer.from([...lines, "From: ann@reader.test", "", ""].join("\r\n")))
    return authenticityOf(mail, senderOf(mail)!, { envelopeFrom: "ann@reader.test", peerTrusted: true }, hop)
      .verified
  }
  const none = `${AR} dmarc=none (p=none dis=none) header.from=reader.test`

  it.each([
    [
      "OpenDMARC, OpenDKIM",
      true,
      [RECEIVED, none, "DKIM-Filter: OpenDKIM Filter v2.11.0", `${AR} dkim=pass header.d=reader.test`]
    ],
    [
      "the SPF policy service above Received",
      true,
      [`${AR} spf=pass smtp.mailfrom=reader.test`, RECEIVED, none]
    ],
    ["OpenDMARC above, Received below", true, [none, `${AR} spf=pass smtp.mailfrom=reader.test`, RECEIVED]],
    [
      "a signature in the hop's name, below its own report of signatures",
      false,
      [RECEIVED, none, `${AR} dkim=none`, `${AR} dkim=pass header.d=reader.test`]
    ],
    [
      "a return path in the hop's name, below its own report of SPF",
      false,
      [
        RECEIVED,
        none,
        `${AR} spf=pass smtp.helo=reader.test`,
        `${AR} dkim=none`,
        `${AR} spf=pass smtp.mailfrom=reader.test`
      ]
    ],
    [
      "several signatures of one report",
      true,
      [RECEIVED, none, `${AR} dkim=pass header.d=list.test; dkim=pass header.d=reader.test`]
    ],
    [
      "what stands below another's header",
      false,
      [RECEIVED, none, "Subject: x", `${AR} dkim=pass header.d=reader.test`]
    ],
    [
      "what stands below another's Received",
      false,
      [
        RECEIVED,
        none,
        "Received: from a by mail.evil.test; Mon, 2 Nov 2026 10:00:00 +0000",
        `${AR} dkim=pass header.d=reader.test`
      ]
    ],
    [
      "what stands below another's report",
      false,
      [RECEIVED, none, "Authentication-Results: evil.test; dkim=pass", `${AR} dkim=pass header.d=reader.test`]
    ],
    [
      "DMARC below a failure",
      false,
      [RECEIVED, `${AR} dmarc=fail`, `${AR} dmarc=pass header.from=reader.test`]
    ],
    [
      "one that cannot be read",
      false,
      [RECEIVED, `${AR} dmarc=pass header.from=reader.test`, `${AR} dkim=pass (`]
    ]
  ] as const)("%s: %s", (_, expected, lines) => {
    assert.strictEqual(judged(lines), expected)
  })
})
