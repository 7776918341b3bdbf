import { alignmentOf, isDmarc, parseDmarc } from "./dmarc.ts"
import { type Verdict, verdictsOf } from "./verdict.ts"

/** The records of one type under one name, or why they are not known. No records: an empty list. */
export type Lookup<A> =
  | { readonly _tag: "Found"; readonly records: ReadonlyArray<A> }
  | { readonly _tag: "Unknown"; readonly why: string }

/** An MX record. */
export interface MxRecord {
  readonly exchange: string
  readonly priority: number
}

const { fail, ok, warn } = verdictsOf("dns")

/** Names are compared without case and without the root's dot. */
export const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, "")

const unknown = (what: string, why: string): Verdict =>
  warn({
    what: `${what} cannot be looked up`,
    why,
    do: "see that this machine's resolver answers, and run doctor again"
  })

/** Where bounces of the MAIL FROM domain go. */
export const feedbackHost = (region: string): string => `feedback-smtp.${region}.amazonses.com`

/** The SPF record of the MAIL FROM domain. */
export const MAIL_FROM_SPF = "v=spf1 include:amazonses.com ~all"

/** A DMARC record to begin with. */
export const firstDmarc = (sender: string): string =>
  `v=DMARC1; p=none; rua=mailto:dmarc@${sender}; adkim=s; aspf=r`

/** The record that lets Amazon SES sign with one of its three keys. */
export const dkimVerdict = (facts: {
  readonly token: string
  readonly sender: string
  /** What the name points to, after the token. */
  readonly host: string
  readonly cname: Lookup<string>
}): Verdict => {
  const { cname, host, sender, token } = facts
  const name = `${token}._domainkey.${sender}`
  const target = `${token}.${host}`
  if (cname._tag === "Unknown") return unknown(`the CNAME of ${name}`, cname.why)
  if (cname.records.some((record) => plainName(record) === plainName(target)))
    return ok(`DKIM record ${name}`)
  const found = cname.records[0]
  return fail({
    what: `${name} ${found === undefined ? "has no CNAME record" : `points to ${plainName(found)}`}`,
    why: "receivers cannot check what this key signs",
    do: `publish ${name} CNAME ${target} (DNS only, not proxied)`
  })
}

/** The MX record of the MAIL FROM domain: SES asks for exactly one, its own. */
export const mxVerdict = (facts: {
  readonly mailFrom: string
  readonly region: string
  readonly mx: Lookup<MxRecord>
}): Verdict => {
  const { mailFrom, mx, region } = facts
  const host = feedbackHost(region)
  const publish = `publish ${mailFrom} MX 10 ${host}, and no other MX there`
  if (mx._tag === "Unknown") return unknown(`the MX record of ${mailFrom}`, mx.why)
  const found = mx.records.map(({ exchange, priority }) => `${priority} ${plainName(exchange)}`).join(", ")
  const ours = mx.records.find(({ exchange }) => plainName(exchange) === host)
  if (ours === undefined) {
    return fail({
      what: `${mailFrom} ${found === "" ? "has no MX record" : `has the MX ${found}`}`,
      why: "bounces cannot come back, and SES does not use the domain",
      do: publish
    })
  }
  if (mx.records.length > 1) {
    return fail({
      what: `${mailFrom} has ${mx.records.length} MX records (${found})`,
      why: "SES asks for exactly one, and does not use the domain otherwise",
      do: publish
    })
  }
  return ours.priority === 10
    ? ok(`MX of ${mailFrom}`)
    : warn({
        what: `the MX of ${mailFrom} has priority ${ours.priority}`,
        why: "SES asks for 10",
        do: publish
      })
}

/** The SPF record of the MAIL FROM domain (RFC 7208). */
export const spfVerdict = (facts: { readonly mailFrom: string; readonly txt: Lookup<string> }): Verdict => {
  const { mailFrom, txt } = facts
  if (txt._tag === "Unknown") return unknown(`the TXT record of ${mailFrom}`, txt.why)
  const publish = `publish ${mailFrom} TXT "${MAIL_FROM_SPF}"; the sender domain's own record stays as it is`
  const spf = txt.records.filter((text) => /^v=spf1(?:\s|$)/i.test(text))
  if (spf.length === 0) {
    return fail({ what: `${mailFrom} has no SPF record`, why: "SPF does not pass for it", do: publish })
  }
  if (spf.length > 1) {
    return fail({
      what: `${mailFrom} has ${spf.length} SPF records`,
      why: "receivers take more than one for an error, and SPF does not pass",
      do: `leave one of them: ${publish}`
    })
  }
  const terms = spf[0]!.trim().toLowerCase().split(/\s+/)
  const include = terms.findIndex((term) => /^\+?include:amazonses\.com\.?$/.test(term))
  const all = terms.findIndex((term) => /^[+?~-]?all$/.test(term))
  if (include === -1 || (all !== -1 && all < include)) {
    return fail({
      what: `the SPF record of ${mailFrom} does not let Amazon SES send`,
      why: include === -1 ? "it lacks include:amazonses.com" : "its all comes before include:amazonses.com",
      do: publish
    })
  }
  if (terms.includes("+all") || terms.includes("all")) {
    return fail({
      what: `the SPF record of ${mailFrom} lets everybody send`,
      why: "it ends in +all",
      do: publish
    })
  }
  return ok(`SPF of ${mailFrom}`)
}

/** DMARC of the sender domain: the record, and whether what is sent through `provider_b` passes it. */
export const dmarcVerdict = (facts: {
  readonly sender: string
  /** The record nearest to the sender domain, with its name; none where no name has one. */
  readonly found: { readonly name: string; readonly txt: ReadonlyArray<string> } | undefined
  /** Why a nearer record, or any, is not known. */
  readonly unknown: string | undefined
  readonly signsAs: string | undefined
  readonly mailFrom: string | undefined
}): Verdict => {
  const { found, sender } = facts
  if (facts.unknown !== undefined) return unknown(`the DMARC record of ${sender}`, facts.unknown)
  const publish = `publish _dmarc.${sender} TXT "${firstDmarc(sender)}", and tighten p once the reports are clean`
  const records = found?.txt.filter(isDmarc) ?? []
  if (found === undefined || records.length === 0) {
    return warn({
      what: `${sender} has no DMARC record`,
      why: "Gmail and Yahoo ask bulk senders for one, and anybody can send as you",
      do: publish
    })
  }
  const record = records.length === 1 ? parseDmarc(records[0]!) : undefined
  if (record === undefined) {
    return fail({
      what: `the DMARC record of ${found.name} is ignored`,
      why:
        records.length > 1 ? `there are ${records.length} of them` : "it has no policy (p=) that can be read",
      do: publish
    })
  }
  const aligned = alignmentOf(record, facts)
  const policy = found.name === `_dmarc.${sender}` ? record.policy : record.subdomainPolicy
  const strictly = `adkim=${record.adkim}, aspf=${record.aspf}`
  if (!aligned.dkim && !aligned.spf) {
    return (policy === "none" ? warn : fail)({
      what: `mail through provider_b does not pass DMARC (p=${policy}, ${strictly})`,
      why: "neither DKIM nor SPF is of the sender domain",
      do: `let DKIM sign as ${sender} (Easy DKIM on the domain identity), and use bounce.${sender} as MAIL FROM`
    })
  }
  if (!aligned.dkim) {
    return warn({
      what: `DMARC passes by SPF alone (${strictly})`,
      why: "SPF breaks where a mail is forwarded",
      do: `let DKIM sign as ${sender}`
    })
  }
  if (!aligned.spf) {
    return warn({
      what: `DMARC passes by DKIM alone (${strictly})`,
      why:
        record.aspf === "s" && facts.mailFrom !== undefined
          ? `aspf=s asks for ${sender} itself, and MAIL FROM is ${facts.mailFrom}`
          : "MAIL FROM is not of the sender domain",
      do:
        record.aspf === "s" && facts.mailFrom !== undefined
          ? "set aspf=r (relaxed) in the DMARC record"
          : `use bounce.${sender} as MAIL FROM`
    })
  }
  return ok(`DMARC: p=${policy}, DKIM and SPF align (${strictly})`)
}
