import { feedbackHost, firstDmarc, MAIL_FROM_SPF } from "./dns-records.ts"
import type { IdentityFacts } from "./provider-b.ts"

/** A record to publish. */
export interface DnsRecord {
  /** The provider that requires it; `both`: receivers judge the mail of both providers by it. */
  readonly of: "provider_a" | "provider_b" | "both"
  readonly type: string
  /** The whole name. */
  readonly name: string
  readonly value: string
  readonly priority?: number
}

/** What `provider_b` asks for; without its answer the DKIM records are not known. */
export const recordsOfB = (options: {
  readonly sender: string
  readonly region: string
  readonly identity: IdentityFacts | undefined
}): ReadonlyArray<DnsRecord> => {
  const { identity, region, sender } = options
  const mailFrom = identity?.mailFrom?.domain.toLowerCase() ?? `bounce.${sender}`
  const { easy, host, tokens } = identity?.dkim ?? { easy: false, host: "", tokens: [] }
  return [
    ...(easy ? tokens : []).map((token) => ({
      of: "provider_b" as const,
      type: "CNAME",
      name: `${token}._domainkey.${sender}`,
      value: `${token}.${host}`
    })),
    { of: "provider_b", type: "MX", name: mailFrom, value: feedbackHost(region), priority: 10 },
    { of: "provider_b", type: "TXT", name: mailFrom, value: MAIL_FROM_SPF }
  ]
}

/** Resend names its records below the zone: `send.mail` for `mail.example.com`, where the zone is `example.com`. */
const wholeName = (name: string, sender: string): string => {
  if (name === "" || name === "@") return sender
  if (name === sender || name.endsWith(`.${sender}`)) return name
  const labels = sender.split(".")
  for (let count = labels.length - 2; count > 0; count -= 1) {
    const below = labels.slice(0, count).join(".")
    if (name === below || name.endsWith(`.${below}`)) return `${name}.${labels.slice(count).join(".")}`
  }
  return `${name}.${sender}`
}

/** What `provider_a` asks for, as its API lists it. */
export const recordsOfA = (
  listed: ReadonlyArray<Omit<DnsRecord, "of">>,
  sender: string
): ReadonlyArray<DnsRecord> =>
  listed.map(({ name, ...record }) => ({
    of: "provider_a",
    ...record,
    name: wholeName(name.toLowerCase().replace(/\.$/, ""), sender)
  }))

/** What receivers look at, with any provider. */
export const sharedRecords = (sender: string): ReadonlyArray<DnsRecord> => [
  { of: "both", type: "TXT", name: `_dmarc.${sender}`, value: firstDmarc(sender) }
]
