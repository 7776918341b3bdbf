import { Result } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { isQuotableAddress } from "../../../src/domain/inbound/quotable.ts"
import { authenticityOf, senderOf } from "../../../src/domain/inbound/sender-authenticity.ts"
import { parseMailbox } from "../../../src/domain/mail/address.ts"

/**
 * I3 against mail servers that copy into their reports what a stranger gave them, without escaping any of it: the stranger is never
 * verified as somebody else.
 */

const HOP = "mx.hop.test"
const VICTIM = "carol.test"
const RULES = { trustedHops: [HOP], trustsLoopback: false }

/** What a stranger may choose. */
interface Given {
  readonly mailFrom: string
  readonly helo: string
  /** Of a signature of their own: `i=` as it stands there, selector and domain. */
  readonly identity: string
  readonly selector: string
  readonly domain: string
  readonly signature: string
  /** What stands around their victim's address in the From. */
  readonly from: readonly [before: string, after: string]
}

const honest: Given = {
  mailFrom: "bounce@evil.test",
  helo: "mail.evil.test",
  identity: "@evil.test",
  selector: "s1",
  domain: "evil.test",
  signature: "abcd",
  from: ["Carol <", ">"]
}

const signatureOf = ({ domain, identity, selector, signature }: Given) =>
  `v=1; a=rsa-sha256; d=${domain}; s=${selector}; i=${identity}; h=from; bh=x; b=${signature}`

/** The tags as a verifier finds them: a semicolon ends one, and begins another. */
const tagsOf = (given: Given): Given => {
  const tags = new Map(
    signatureOf(given)
      .split(";")
      .map((tag): readonly [string, string] => {
        const at = tag.indexOf("=")
        return [tag.slice(0, at).trim(), tag.slice(at + 1).trim()]
      })
  )
  const tag = (name: string) => tags.get(name) ?? ""
  return { ...given, domain: tag("d"), selector: tag("s"), identity: tag("i"), signature: tag("b") }
}

/** What a verifier makes of `i=`. */
const decoded = (text: string) =>
  text.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** What a verifier says: their own key has to be there, and the identity within the domain that signed (RFC 6376, section 3.5). */
const dkim = ({ domain, identity }: Given): string => {
  const named = decoded(identity)
  const signs = domain === VICTIM || domain.endsWith("evil.test")
  return signs && (named.endsWith(`@${domain}`) || named.endsWith(`.${domain}`))
    ? "dkim=pass"
    : "dkim=permerror"
}

/** The part after the last `@`, as simple programs find a domain. */
const afterAt = (text: string) => text.slice(text.lastIndexOf("@") + 1)

/** The reports of programs, by name: each copies all that it is given. The sender's domain has no DMARC record. */
const HOPS: Readonly<Record<string, (given: Given) => ReadonlyArray<string>>> = {
  rspamd: (given) => [
    [
      HOP,
      `${dkim(given)} header.d=${given.domain} header.s=${given.selector} header.b=${given.signature.slice(0, 8)} header.i=${decoded(given.identity)}`,
      `spf=none (${HOP}: domain of ${given.mailFrom} has no SPF policy when checking 192.0.2.1 (${given.helo})) smtp.mailfrom=${given.mailFrom}`,
      `dmarc=none`
    ].join("; ")
  ],
  rspamdQuoted: (given) => [
    `${HOP}; ${dkim(given)} header.d=${given.domain} header.s=${given.selector}; ` +
      `spf=none (${HOP}: ${given.mailFrom} does not designate permitted sender hosts) smtp.mailfrom="${given.mailFrom}"; dmarc=none`
  ],
  opendkim: (given) => [
    `${HOP}; dmarc=none (p=none dis=none) header.from=${VICTIM}`,
    `${HOP}; spf=none (${given.helo}) smtp.mailfrom=${given.mailFrom} (client-ip=192.0.2.1; helo=${given.helo}; envelope-from=${given.mailFrom})`,
    `${HOP}; ${dkim(given)} (2048-bit key; unprotected) header.d=${given.domain} header.i=${decoded(given.identity)} header.a=rsa-sha256 header.s=${given.selector} header.b="${given.signature}"`
  ],
  google: (given) => [
    `${HOP}; ${dkim(given)} header.i=${decoded(given.identity)}; spf=none (google.com: ${given.mailFrom} does not designate permitted sender hosts) smtp.mailfrom=${given.mailFrom} smtp.helo=${given.helo}; dmarc=none header.from=${VICTIM}`
  ],
  naiveFrom: ({ from: [before, after], helo }) => [
    `${HOP}; spf=none smtp.helo=${helo}; dmarc=none header.from=${afterAt(`${before}carol@${VICTIM}${after}`)}`
  ]
}

/** The mail as it reaches us: what the hop wrote, and then what the stranger did. */
const mailOf = (given: Given, reports: ReadonlyArray<string>) => {
  const from = `${given.from[0]}carol@${VICTIM}${given.from[1]}`
  return {
    from: [`carol@${VICTIM}`],
    headers: [
      {
        name: "received",
        value: `from ${given.helo} (unknown [192.0.2.1]) by ${HOP} (Postfix) with ESMTP id 4F1; Mon, 2 Nov 2026 10:00:00 +0000 (UTC)`
      },
      ...reports.map((value) => ({ name: "authentication-results", value })),
      {
        name: "dkim-signature",
        value: signatureOf(given)
      },
      { name: "from", value: from }
    ]
  }
}

const verifiedAsVictim = (given: Given, name: string): boolean => {
  const mail = mailOf(given, HOPS[name]!(tagsOf(given)))
  const sender = Result.getOrThrow(parseMailbox(`carol@${VICTIM}`))
  assert.strictEqual(senderOf(mail)?.domain, VICTIM)
  return authenticityOf(mail, sender, { envelopeFrom: given.mailFrom, peerTrusted: true }, RULES).verified
}

/** Pieces of verdicts, and what ends a value, a comment or a string. */
const PIECES = [
  "(",
  ")",
  '"',
  ";",
  "\\",
  "<",
  ">",
  "=",
  "@",
  ".",
  ":",
  ",",
  " ",
  "\t",
  "/",
  "dkim=pass",
  "dmarc=pass",
  "spf=pass",
  "dkim=none",
  "foo=bar",
  `header.d=${VICTIM}`,
  `header.i=@${VICTIM}`,
  `header.from=${VICTIM}`,
  `smtp.mailfrom=${VICTIM}`,
  "smtp.helo=e",
  "=3B",
  "=20",
  "=28",
  "=29",
  "x",
  "evil.test",
  ` by ${HOP} `
]
const piece = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((parts) => parts.join(""))

const given = fc.record({
  mailFrom: fc.oneof(
    fc.constant(honest.mailFrom),
    piece.map((local) => `${local}@evil.test`),
    piece
  ),
  helo: fc.oneof(fc.constant(honest.helo), piece),
  identity: fc.oneof(
    fc.constant(honest.identity),
    piece.map((local) => `${local}@evil.test`)
  ),
  selector: fc.oneof(fc.constant(honest.selector), piece),
  domain: fc.oneof(
    fc.constant(honest.domain),
    piece.map((name) => `${name}.evil.test`)
  ),
  signature: fc.oneof(fc.constant(honest.signature), piece),
  from: fc.oneof(fc.constant(honest.from), fc.tuple(piece, piece))
})

describe("a hop that copies what it is given (I3)", () => {
  it("an envelope sender that reads as an aligned signature is refused, as is one that closes a comment by any method", () => {
    for (const mailFrom of [
      `"x)smtp.mailfrom=e;dkim=pass(x)header.d=${VICTIM};spf=none(y"@evil.test`,
      `"x) smtp.mailfrom=e; dkim=pass header.d=${VICTIM}; foo=bar (y"@evil.test`,
      `"x) smtp.helo=e; dkim=pass header.d=${VICTIM}; spf=none (y"@evil.test`
    ]) {
      assert.isFalse(isQuotableAddress(mailFrom), mailFrom)
      for (const name of Object.keys(HOPS))
        assert.isFalse(verifiedAsVictim({ ...honest, mailFrom }, name), name)
    }
  })

  it("senders as BATV, SRS and lists make them are taken, the null return path too", () => {
    for (const address of [
      "",
      "prvs=1234abcd=ann@reader.test",
      "SRS0=HHH=TT=reader.test=ann@forward.test",
      "bounces+ann=reader.test@list.test",
      "ann+caf_=convert=in.test@gmail.test",
      "jürgen@reader.test",
      "ann@[192.0.2.1]"
    ])
      assert.isTrue(isQuotableAddress(address), address)
  })

  it("the name in HELO, the identity of a signature and the From are looked at, too", () => {
    const cases: ReadonlyArray<Partial<Given>> = [
      { helo: `x) smtp.helo=e; dkim=pass header.d=${VICTIM}; foo=bar (y` },
      { helo: `x;dkim=pass(x)header.d=${VICTIM};foo=bar(y` },
      { helo: `a (b [192.0.2.9]) by ${HOP}; dkim=pass header.d=${VICTIM}` },
      { identity: `a=3B=20dkim=3Dpass=20header.d=3D${VICTIM}=3B=20foo=3Dbar=20x.y=3Dz@evil.test` },
      { identity: `a header.d=${VICTIM} x.y=@evil.test` },
      { selector: `s(; s=x) dkim=pass header.d=${VICTIM}` },
      { from: ["", ` (x@e;dkim=pass header.d=${VICTIM})`] }
    ]
    for (const [at, one] of cases.entries()) {
      const all = { ...honest, ...one }
      for (const name of Object.keys(HOPS)) assert.isFalse(verifiedAsVictim(all, name), `${at} ${name}`)
    }
  })

  it("whatever they write, wherever it is copied: nobody is verified as somebody else", () => {
    fc.assert(
      fc.property(given, fc.constantFrom(...Object.keys(HOPS)), (one, name) => {
        const from = `${one.from[0]}carol@${VICTIM}${one.from[1]}`
        fc.pre(!/[\r\n]/.test(from))
        assert.isFalse(verifiedAsVictim(one, name))
      }),
      { numRuns: 5_000 }
    )
  })

  it("whatever stands below in the hop's name, which it did not remove: what it reported itself counts", () => {
    const method = fc.constantFrom("dkim", "spf", "dmarc", "DKIM", "arc", "x-own")
    const value = fc.constantFrom(VICTIM, `ann@${VICTIM}`, "evil.test")
    const property = fc.constantFrom("header.d", "header.i", "header.from", "smtp.mailfrom")
    const result = fc
      .tuple(method, fc.constantFrom("pass", "none", "fail"), property, value)
      .map(([name, said, key, given_]) => `${name}=${said} ${key}=${given_}`)
    const forged = fc.array(fc.array(result, { maxLength: 3 }), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.constantFrom("opendkim", "google"), forged, fc.boolean(), (name, lines, isQuoted) => {
        const own = HOPS[name]!(tagsOf(honest))
        const server = isQuoted ? `"${HOP}"` : HOP
        const reports = [...own, ...lines.map((results) => [server, ...results].join("; "))]
        const mail = mailOf(honest, reports)
        const sender = Result.getOrThrow(parseMailbox(`carol@${VICTIM}`))
        const delivery = { envelopeFrom: honest.mailFrom, peerTrusted: true }
        assert.isFalse(authenticityOf(mail, sender, delivery, RULES).verified)
      }),
      { numRuns: 1_000 }
    )
  })

  it("a sender with an honest signature is verified by each of them", () => {
    const own = { ...honest, domain: VICTIM, identity: `@${VICTIM}` }
    for (const name of ["rspamd", "rspamdQuoted", "opendkim", "google"])
      assert.isTrue(verifiedAsVictim(own, name), name)
  })
})
