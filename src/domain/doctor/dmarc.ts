/** `r`: the organisation's domain suffices; `s`: the exact domain. */
type Alignment = "r" | "s"

/** A DMARC record (RFC 7489, section 6.3), as far as the doctor uses it. */
interface DmarcRecord {
  readonly policy: "none" | "quarantine" | "reject"
  /** Of subdomains; as {@link policy} where it is not given. */
  readonly subdomainPolicy: "none" | "quarantine" | "reject"
  /** DKIM alignment. */
  readonly adkim: Alignment
  /** SPF alignment. */
  readonly aspf: Alignment
  /** Whether aggregate reports are asked for. */
  readonly reports: boolean
}

const POLICIES = ["none", "quarantine", "reject"] as const

const policyOf = (text: string | undefined) => POLICIES.find((policy) => policy === text?.toLowerCase())

/** Whether a TXT record is a DMARC record: `v=DMARC1` comes first. */
export const isDmarc = (text: string): boolean => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text.trim())

/** Reads a DMARC record; `undefined` where receivers would ignore it. Unknown tags are ignored, as the RFC demands. */
export const parseDmarc = (text: string): DmarcRecord | undefined => {
  if (!isDmarc(text)) return undefined
  const tags = new Map<string, string>()
  for (const part of text.split(";").slice(1)) {
    const at = part.indexOf("=")
    if (at === -1) continue
    const name = part.slice(0, at).trim().toLowerCase()
    if (!tags.has(name)) tags.set(name, part.slice(at + 1).trim())
  }
  const reports = (tags.get("rua") ?? "") !== ""
  // A record without a readable policy that asks for reports counts as policy `none`.
  const policy = policyOf(tags.get("p")) ?? (reports ? "none" : undefined)
  if (policy === undefined) return undefined
  const alignment = (name: string): Alignment => (tags.get(name)?.toLowerCase() === "s" ? "s" : "r")
  return {
    policy,
    subdomainPolicy: policyOf(tags.get("sp")) ?? policy,
    adkim: alignment("adkim"),
    aspf: alignment("aspf"),
    reports
  }
}

/**
 * The names that may hold a domain's DMARC record, nearest first: the domain's, then its parents' down to two labels (the tree
 * walk of RFC 9989; a public suffix holds none).
 */
export const dmarcNames = (domain: string): ReadonlyArray<string> => {
  const labels = domain.split(".")
  return labels
    .slice(0, Math.max(1, labels.length - 1))
    .map((_, index) => `_dmarc.${labels.slice(index).join(".")}`)
}

/**
 * Whether two domains share their last two labels or more, taken here as "of one organisation". SES accepts as MAIL FROM only the
 * verified domain's subdomains and siblings, so that a public suffix of two labels cannot mislead.
 */
const sharesParent = (a: string, b: string): boolean => {
  const [left, right] = [a.split(".").reverse(), b.split(".").reverse()]
  return left[0] === right[0] && left[1] !== undefined && left[1] === right[1]
}

/** Which of DKIM and SPF would let a mail of the sender domain pass DMARC. */
interface Aligned {
  readonly dkim: boolean
  readonly spf: boolean
}

/**
 * What aligns: DKIM signs as the sender domain, which fits even strictly. SPF is checked on the MAIL FROM domain, a
 * subdomain of the sender domain, which fits relaxed only.
 */
export const alignmentOf = (
  record: Pick<DmarcRecord, "adkim" | "aspf">,
  facts: {
    readonly sender: string
    /** The domain that DKIM signs as; `undefined` where nothing is signed. */
    readonly signsAs: string | undefined
    /** The envelope's domain; `undefined` where it is the provider's own. */
    readonly mailFrom: string | undefined
  }
): Aligned => {
  const fits = (domain: string | undefined, mode: Alignment): boolean =>
    domain !== undefined && (domain === facts.sender || (mode === "r" && sharesParent(domain, facts.sender)))
  return { dkim: fits(facts.signsAs, record.adkim), spf: fits(facts.mailFrom, record.aspf) }
}
