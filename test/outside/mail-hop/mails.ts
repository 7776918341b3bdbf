import { numbered } from "../../support/files/pdf-samples.ts"
import type { Zone } from "../../support/vendors/fake-dns.ts"
import { dkimOf, makeKey } from "./dkim.ts"

/** As the guide has it. */
const HOP = "mx.example.com"
const CONVERT = "convert@example.com"

/** Where the customers' mail comes from, and where the stranger's. */
const CUSTOMER_IP = "192.0.2.7"
const STRANGER_IP = "203.0.113.66"

const keys = { customer: makeKey(), stranger: makeKey() }

/**
 * The customers' domains: one refuses forgeries, one only watches, one has no DMARC record, the record of one cannot be found out.
 * The stranger's is in perfect order.
 */
const STRICT = "strict.test"
const QUIET = "quiet.test"
const BARE = "bare.test"
const AWAY = "away.test"
const EVIL = "evil.test"

export const CUSTOMERS = [STRICT, QUIET, BARE, AWAY].map((domain) => `ann@${domain}`)

const POLICIES: Readonly<Record<string, ReadonlyArray<string> | "SERVFAIL">> = {
  [STRICT]: ["v=DMARC1; p=reject"],
  [QUIET]: ["v=DMARC1; p=none"],
  [AWAY]: "SERVFAIL",
  [EVIL]: ["v=DMARC1; p=reject"]
}

export const zone: Zone = Object.fromEntries(
  [STRICT, QUIET, BARE, AWAY, EVIL].flatMap((domain): Array<[string, ReadonlyArray<string> | "SERVFAIL"]> => {
    const isEvil = domain === EVIL
    const policy = POLICIES[domain]
    return [
      [`TXT ${domain}`, [`v=spf1 ip4:${isEvil ? STRANGER_IP : CUSTOMER_IP} -all`]],
      [`TXT k1._domainkey.${domain}`, [(isEvil ? keys.stranger : keys.customer).record]],
      ...(policy === undefined
        ? []
        : [[`TXT _dmarc.${domain}`, policy] satisfies [string, ReadonlyArray<string> | "SERVFAIL"]])
    ]
  })
)

/** A mail as a client hands it to the hop. */
export interface Handed {
  readonly about: string
  /** The customer on whose account it may convert; undefined: nobody's. */
  readonly converts?: string
  readonly ip: string
  readonly helo: string
  /** Between the angle brackets. */
  readonly envelope: string
  readonly raw: string
}

interface Draft {
  readonly from: string
  /** In place of the customer's address. */
  readonly fromHeader?: string
  readonly to?: string
  readonly id?: string
  /** Lines above the mail's own, as they stand there. */
  readonly above?: ReadonlyArray<string>
  /** Lines below them. */
  readonly below?: ReadonlyArray<string>
  readonly signedBy?: "customer" | "stranger"
  readonly domain?: string
  readonly covers?: ReadonlyArray<string>
  readonly tags?: ReadonlyArray<string>
}

let made = 0

const BODY = [
  "--=_part",
  "Content-Type: text/plain",
  "",
  "Please convert.",
  "--=_part",
  'Content-Type: application/pdf; name="report.pdf"',
  "Content-Transfer-Encoding: base64",
  'Content-Disposition: attachment; filename="report.pdf"',
  "",
  ...(numbered(1)
    .toString("base64")
    .match(/.{1,76}/g) ?? []),
  "--=_part--",
  ""
].join("\r\n")

const mailOf = ({
  above = [],
  below = [],
  covers,
  domain,
  from,
  fromHeader,
  id,
  signedBy,
  tags,
  to
}: Draft) => {
  made += 1
  const own = [
    `From: ${fromHeader ?? from}`,
    `To: ${to ?? CONVERT}`,
    `Subject: Report ${made}`,
    `Message-ID: <${id ?? `m${made}@client.test`}>`,
    "Date: Mon, 2 Nov 2026 10:00:00 +0000",
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="=_part"'
  ]
  const signature =
    signedBy === undefined
      ? []
      : [
          dkimOf(own, BODY, {
            key: keys[signedBy],
            domain: domain ?? (signedBy === "stranger" ? EVIL : from.slice(from.indexOf("@") + 1)),
            ...(covers === undefined ? {} : { covers }),
            ...(tags === undefined ? {} : { tags })
          })
        ]
  return [...above, ...signature, ...own, ...below, "", BODY].join("\r\n")
}

type Way = Partial<Pick<Handed, "envelope" | "helo" | "ip">>

const genuine = (about: string, draft: Draft, way: Way = {}): Handed => ({
  about,
  converts: draft.from,
  ip: CUSTOMER_IP,
  helo: "mail.reader.test",
  envelope: draft.from,
  raw: mailOf(draft),
  ...way
})

/** From the stranger's machine, by the stranger's return path, signed by the stranger: everything about it passes, for `evil.test`. */
const forged = (about: string, draft: Draft, way: Way = {}): Handed => ({
  about,
  ip: STRANGER_IP,
  helo: "mail.evil.test",
  envelope: `mallory@${EVIL}`,
  raw: mailOf({ signedBy: "stranger", ...draft }),
  ...way
})

const elsewhere: Way = { ip: "198.51.100.9", helo: "relay.test", envelope: "list-bounces@relay.test" }

const GENUINE: ReadonlyArray<Handed> = [
  genuine("DMARC by a signature", { from: `ann@${STRICT}`, signedBy: "customer" }),
  genuine("DMARC by the return path alone", { from: `ann@${QUIET}` }),
  genuine("forwarded, with its signature", { from: `ann@${STRICT}`, signedBy: "customer" }, elsewhere),
  genuine(
    "no DMARC record, forwarded with its signature",
    { from: `ann@${BARE}`, signedBy: "customer" },
    elsewhere
  ),
  genuine("no DMARC record, by the return path", { from: `ann@${BARE}` }),
  genuine(
    "no DMARC record, a return path of BATV",
    { from: `ann@${BARE}` },
    { envelope: `prvs=1234abcd=ann@${BARE}` }
  ),
  genuine("a name beside the address", {
    from: `ann@${BARE}`,
    fromHeader: `"Ann (Sales), B." <ann@${BARE}>`,
    signedBy: "customer"
  }),
  genuine("a report of the forwarder's below", {
    from: `ann@${STRICT}`,
    signedBy: "customer",
    above: ["Authentication-Results: relay.test; dmarc=fail header.from=x.test"]
  })
]

/** Reports in the hop's name, in every way to write one that the hop might not know for its own. */
const REPORTS: ReadonlyArray<readonly [about: string, lines: ReadonlyArray<string>]> = [
  ["plain", [`Authentication-Results: ${HOP}; dkim=pass header.d=${BARE}`]],
  ["in other letters", [`authentication-RESULTS: ${HOP.toUpperCase()}; dkim=pass header.d=${BARE}`]],
  ["folded after the colon", ["Authentication-Results:", ` ${HOP};`, ` dkim=pass header.d=${BARE}`]],
  ["with a space before the colon", [`Authentication-Results : ${HOP}; dkim=pass header.d=${BARE}`]],
  ["with a tab before the colon", [`Authentication-Results\t: ${HOP}; dkim=pass header.d=${BARE}`]],
  ["after a comment", [`Authentication-Results: (by) ${HOP}; dkim=pass header.d=${BARE}`]],
  ["before a comment", [`Authentication-Results: ${HOP} (by); dkim=pass header.d=${BARE}`]],
  ["before a comment without a space", [`Authentication-Results: ${HOP}(by); dkim=pass header.d=${BARE}`]],
  ["after a comment without a space", [`Authentication-Results: (by)${HOP}; dkim=pass header.d=${BARE}`]],
  ["in quotes", [`Authentication-Results: "${HOP}"; dkim=pass header.d=${BARE}`]],
  ["in quotes, escaped", [`Authentication-Results: "mx\\.example.com"; dkim=pass header.d=${BARE}`]],
  ["with a version", [`Authentication-Results: ${HOP} 1; dkim=pass header.d=${BARE}`]],
  ["with a version that is unknown", [`Authentication-Results: ${HOP} 9; dkim=pass header.d=${BARE}`]],
  ["with a method's version", [`Authentication-Results: ${HOP}; dkim/1=pass header.d=${BARE}`]],
  [
    "with a method that is unknown",
    [`Authentication-Results: ${HOP}; x-own=pass; dkim=pass header.d=${BARE}`]
  ],
  [
    "with a property that is unknown",
    [`Authentication-Results: ${HOP}; dkim=pass x-own.y=z header.d=${BARE}`]
  ],
  ["with a reason", [`Authentication-Results: ${HOP}; dkim=pass reason="a; b" header.d=${BARE}`]],
  ["with a result that is unknown", [`Authentication-Results: ${HOP}; arc=fine; dkim=pass header.d=${BARE}`]],
  ["with empty results", [`Authentication-Results: ${HOP};; dkim=pass header.d=${BARE};`]],
  [
    "with spaces around the equals sign",
    [`Authentication-Results: ${HOP}; dkim = pass header . d = ${BARE}`]
  ],
  ["with spaces before the semicolon", [`Authentication-Results: ${HOP} ; dkim=pass header.d=${BARE}`]],
  [
    "with twenty results",
    [`Authentication-Results: ${HOP}; ${"x-own=pass; ".repeat(20)}dkim=pass header.d=${BARE}`]
  ],
  [
    "of two thousand characters",
    [`Authentication-Results: ${HOP}; dkim=pass reason="${"a".repeat(2_000)}" header.d=${BARE}`]
  ],
  [
    "with a bracket left open in quotes",
    [`Authentication-Results: ${HOP}; dkim=pass reason="(" header.d=${BARE}`]
  ],
  ["with a byte beyond ASCII", [`Authentication-Results: ${HOP}; dkim=pass reason="é" header.d=${BARE}`]],
  [
    "with a control character",
    [`Authentication-Results: ${HOP}; dkim=pass reason="\u0001" header.d=${BARE}`]
  ],
  ["with a form feed", [`Authentication-Results: \f${HOP}; dkim=pass header.d=${BARE}`]],
  ["with a vertical tab", [`Authentication-Results: \v${HOP}; dkim=pass header.d=${BARE}`]],
  ["with a dot at the end", [`Authentication-Results: ${HOP}.; dkim=pass header.d=${BARE}`]],
  ["as an encoded word", [`Authentication-Results: =?us-ascii?q?${HOP}?=; dkim=pass header.d=${BARE}`]],
  ["behind a carriage return", [`X-Note: a\rAuthentication-Results: ${HOP}; dkim=pass header.d=${BARE}`]],
  ["behind a line feed", [`X-Note: a\nAuthentication-Results: ${HOP}; dkim=pass header.d=${BARE}`]],
  ["behind a null byte", [`X-Note: a\0\r\nAuthentication-Results: ${HOP}; dkim=pass header.d=${BARE}`]],
  ["a hundred times", Array<string>(100).fill(`Authentication-Results: ${HOP}; dkim=pass header.d=${BARE}`)],
  [
    "behind the hop's own Received",
    [
      `Received: from a.test (a.test [192.0.2.7]) by ${HOP} (Postfix) with ESMTP id 4; Mon, 2 Nov 2026 10:00:00 +0000`,
      `Authentication-Results: ${HOP}; dkim=pass header.d=${BARE}`
    ]
  ],
  ["of SPF", [`Authentication-Results: ${HOP}; spf=pass smtp.mailfrom=ann@${BARE}`]],
  ["of DMARC", [`Authentication-Results: ${HOP}; dmarc=pass header.from=${BARE}`]]
]

const FORGED_REPORTS: ReadonlyArray<Handed> = REPORTS.flatMap(([about, above]) => [
  forged(`a report in the hop's name, ${about}`, { from: `ann@${BARE}`, above }),
  // Where the hop may have nothing of its own to say.
  { ...forged(`${about}, of a mail without a return path`, { from: `ann@${BARE}`, above }), envelope: "" }
])

/** Addresses of a From that two readers may read apart: the hop judges one, the account is the other's. */
const FROMS: ReadonlyArray<readonly [about: string, from: string]> = [
  ["the customer's as the name", `"ann@${BARE}" <mallory@${EVIL}>`],
  ["the customer's as a name without quotes", `ann@${BARE} <mallory@${EVIL}>`],
  ["two addresses, the stranger's first", `mallory@${EVIL}, ann@${BARE}`],
  ["two addresses, the customer's first", `ann@${BARE}, mallory@${EVIL}`],
  ["two in brackets", `<mallory@${EVIL}> <ann@${BARE}>`],
  ["the customer's in a comment", `mallory@${EVIL} (ann@${BARE})`],
  ["the stranger's in a comment", `ann@${BARE} (<mallory@${EVIL}>)`],
  ["a comment that ends in quotes", `"(" <ann@${BARE}> ")" <mallory@${EVIL}>`],
  ["a group", `friends: ann@${BARE}, mallory@${EVIL};`],
  ["an empty group first", `friends:; ann@${BARE}`],
  ["a route", `<@${EVIL}:ann@${BARE}>`],
  ["a domain in brackets of its own", `<ann@${BARE}@${EVIL}>`],
  ["a local part in quotes", `"ann@${BARE}"@${EVIL}`],
  ["a comment within the domain", `ann@${BARE}(x).${EVIL}`],
  ["an encoded word", `=?utf-8?q?ann=40${BARE}_=3C?= <mallory@${EVIL}>`],
  ["an encoded word as the address", `=?utf-8?q?ann=40${BARE}?=`],
  ["a bracket in a string", `"<mallory@${EVIL}>" <ann@${BARE}>`],
  ["an escaped quote", `"a\\" <mallory@${EVIL}> \\"" <ann@${BARE}>`],
  ["folded within", `Ann\r\n <ann@${BARE}>`],
  ["a carriage return within", `mallory@${EVIL}\r <ann@${BARE}>`],
  ["a semicolon", `mallory@${EVIL}; ann@${BARE}`],
  ["nothing but the domain's case", `ann@${BARE.toUpperCase()}`],
  ["a dot at the end", `ann@${BARE}.`]
]

const FORGED_FROMS: ReadonlyArray<Handed> = FROMS.map(([about, fromHeader]) =>
  forged(`a From with ${about}`, { from: `ann@${BARE}`, fromHeader })
)

/** Tags of the stranger's own signature, which the hop copies into its report. */
const TAGS: ReadonlyArray<readonly [about: string, tag: string]> = [
  ["an identity of the customer's", `i=ann@${BARE}`],
  ["an identity that ends the value", `i=x=3B=20dkim=3Dpass=20header.d=3D${BARE}@${EVIL}`],
  ["an identity that ends a string", `i="x"; dkim=pass header.d=${BARE} (@${EVIL}`],
  [
    "an identity with a line's end",
    `i=x=0D=0AAuthentication-Results:=20${HOP};=20dkim=pass=20header.d=3D${BARE}@${EVIL}`
  ],
  ["a domain twice", `d=${BARE}`],
  ["a selector with a semicolon", `s=k1=3Bdkim=3Dpass`]
]

const FORGED_SIGNATURES: ReadonlyArray<Handed> = [
  ...TAGS.map(([about, tag]) => forged(`a signature with ${about}`, { from: `ann@${BARE}`, tags: [tag] })),
  forged("a signature in the customer's name by another key", {
    from: `ann@${BARE}`,
    domain: BARE
  }),
  forged("a signature of the domain above", { from: `ann@${BARE}`, domain: "test" }),
  forged("no signature", { from: `ann@${STRICT}` }, { envelope: `ann@${STRICT}` }),
  forged(
    "a domain without a record, by its own return path",
    { from: `ann@${BARE}` },
    { envelope: `ann@${BARE}` }
  ),
  forged("a domain that refuses forgeries", { from: `ann@${STRICT}` }),
  forged("a domain that only watches", { from: `ann@${QUIET}` }),
  forged("a domain whose policy cannot be found out", { from: `ann@${AWAY}` })
]

/** Envelopes and names in HELO, which programs of the hop copy into their reports. */
const WAYS: ReadonlyArray<readonly [about: string, way: Way]> = [
  ["the null return path", { envelope: "" }],
  ["the null return path, in the customer's name", { envelope: "", helo: BARE }],
  ["a route", { envelope: `@${EVIL}:ann@${BARE}` }],
  ["a local part in quotes", { envelope: `"ann@${BARE}"@${EVIL}` }],
  ["a report in the local part", { envelope: `"x) dkim=pass header.d=${BARE} (y"@${EVIL}` }],
  ["a report without quotes", { envelope: `x;dkim=pass@${EVIL}` }],
  ["a percent sign", { envelope: `ann%${BARE}@${EVIL}` }],
  ["no domain", { envelope: "ann" }],
  ["two at signs", { envelope: `ann@${BARE}@${EVIL}` }],
  ["a report in HELO", { helo: `x)dkim=pass(y` }],
  ["an address in HELO", { helo: `[${CUSTOMER_IP}]` }],
  ["letters beyond ASCII", { envelope: `änn@${EVIL}` }]
]

const FORGED_WAYS: ReadonlyArray<Handed> = WAYS.map(([about, way]) =>
  forged(`an envelope with ${about}`, { from: `ann@${BARE}` }, way)
)

/** A mail of the customer's to somebody else, and to the convert address, which the stranger hands over again. */
const forgedReplays = (): ReadonlyArray<Handed> => {
  const private_: Draft = { from: `ann@${STRICT}`, signedBy: "customer", to: `mallory@${EVIL}` }
  const public_: Draft = {
    from: `ann@${STRICT}`,
    signedBy: "customer",
    covers: ["from", "to", "subject"],
    id: "once@client.test"
  }
  const once = mailOf(public_)
  return [
    forged("a genuine mail to the stranger, with another Cc", private_),
    forged("a genuine mail to the stranger, with a Cc of the convert address", {
      ...private_,
      below: [`Cc: ${CONVERT}`]
    }),
    forged("a genuine mail to the stranger, with a second To above", {
      ...private_,
      above: [`To: ${CONVERT}`]
    }),
    forged("a genuine mail to the stranger, with a second From above", {
      ...private_,
      above: [`From: ann@${BARE}`]
    }),
    { ...genuine("a genuine mail, once", public_, elsewhere), raw: once },
    { ...forged("the same again under another Message-ID", public_), raw: once.replace("once@", "twice@") }
  ]
}

export const mails = (): ReadonlyArray<Handed> => [
  ...GENUINE,
  ...FORGED_SIGNATURES,
  ...FORGED_WAYS,
  ...FORGED_FROMS,
  ...FORGED_REPORTS,
  ...forgedReplays()
]
