import { isDmarc } from "./dmarc.ts"
import { type Lookup, plainName } from "./dns-records.ts"
import type { DnsRecord } from "./sender-records.ts"
import type { Verdict } from "./verdict.ts"

/** What a record is for: DKIM signs, SPF and the return path are of bounces, DMARC says what receivers do with what fails both. */
type RecordPurpose = "dkim" | "spf" | "dmarc" | "return path" | "other"

/** Whether a record is published as asked for; `different`: the name has another one. */
type RecordState = "published" | "different" | "missing" | "unknown"

/** A record to publish, and what is published under its name. */
export interface CheckedRecord extends DnsRecord {
  readonly purpose: RecordPurpose
  readonly state: RecordState
  /** The other record, or why nothing is known. */
  readonly found: string | undefined
}

/** The sender domain's records in DNS. */
export interface SenderDomainReport {
  readonly domain: string
  /** When they were looked up, milliseconds since the epoch. */
  readonly at: number
  readonly records: ReadonlyArray<CheckedRecord>
  /** What `doctor` says of them and is not as it should be. */
  readonly advice: ReadonlyArray<Exclude<Verdict, { readonly status: "ok" }>>
  /** What could not be found out. */
  readonly notes: ReadonlyArray<string>
}

/** What was found under a record's name, of its type; of an MX record its host. */
export type Published =
  | { readonly type: "CNAME" | "MX" | "TXT"; readonly found: Lookup<string> }
  /** Of a type that is not looked up. */
  | { readonly type: "other" }

const isSpf = (text: string): boolean => /^v=spf1(?:\s|$)/iu.test(text)

export const purposeOf = ({
  name,
  type,
  value
}: Pick<DnsRecord, "name" | "type" | "value">): RecordPurpose => {
  if (name.startsWith("_dmarc.")) return "dmarc"
  if (name.includes("._domainkey.")) return "dkim"
  if (type === "MX") return "return path"
  return isSpf(value) ? "spf" : "other"
}

type Judged = Pick<CheckedRecord, "state" | "found">

const NOTHING: Judged = { state: "missing", found: undefined }
const PUBLISHED: Judged = { state: "published", found: undefined }

/** Published if one of the texts is right; otherwise the texts that were found. */
const amid = (texts: ReadonlyArray<string>, isRight: (text: string) => boolean): Judged =>
  texts.some(isRight)
    ? PUBLISHED
    : texts.length === 0
      ? NOTHING
      : { state: "different", found: texts.slice(0, 3).join(", ") }

const included = (spf: string): ReadonlyArray<string> =>
  spf
    .toLowerCase()
    .split(/\s+/u)
    .filter((term) => term.startsWith("include:"))

/** Keys are published with blanks, with quotes, and with or without the tags before `p=`. */
const keyIn = (text: string): string => /(?:^|;)p=([^;]*)/u.exec(text.replaceAll(/[\s"]/gu, ""))?.[1] ?? ""

const judgeText = (record: DnsRecord, texts: ReadonlyArray<string>): Judged => {
  switch (purposeOf(record)) {
    // Any record of a policy counts: its owner may have chosen a stricter one.
    case "dmarc": {
      const policies = texts.filter(isDmarc)
      return policies.length > 1
        ? { state: "different", found: `${policies.length} records, of which receivers take none` }
        : amid(policies, () => true)
    }
    case "spf": {
      const records = texts.filter(isSpf)
      return records.length > 1
        ? { state: "different", found: `${records.length} records, which receivers take for an error` }
        : amid(records, (text) => included(record.value).every((term) => included(text).includes(term)))
    }
    case "dkim":
      return amid(texts, (text) => keyIn(text) !== "" && keyIn(text) === keyIn(record.value))
    default:
      return amid(texts, (text) => text.trim() === record.value.trim())
  }
}

const judge = (record: DnsRecord, published: Published): Judged => {
  if (published.type === "other") return { state: "unknown", found: "records of this type are not looked up" }
  if (published.found._tag === "Unknown") return { state: "unknown", found: published.found.why }
  if (published.type === "TXT") return judgeText(record, published.found.records)
  return amid(published.found.records.map(plainName), (name) => name === plainName(record.value))
}

/** The record with what is published under its name. */
export const checkRecord = (record: DnsRecord, published: Published): CheckedRecord => ({
  ...record,
  purpose: purposeOf(record),
  ...judge(record, published)
})
