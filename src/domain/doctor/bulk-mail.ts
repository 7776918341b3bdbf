import { type Verdict, verdictsOf } from "./verdict.ts"

const { ok, warn } = verdictsOf("bulk")

/** What Gmail and Yahoo ask of who sends marketing: what is met, helped with, and left to the user (docs/guides/bulk-mail.md). */
export const bulkVerdicts = ({ baseUrl }: { readonly baseUrl: string }): ReadonlyArray<Verdict> => [
  baseUrl.startsWith("https://")
    ? ok(
        "met: marketing has a one-click link (RFC 8058) that works at once; mail of a list has a List-Id, too"
      )
    : warn({
        what: "not met: marketing has no one-click link that a mail service takes",
        why: "RFC 8058 takes https alone; outreach and mail of a list are refused, other marketing goes out without a link",
        do: "set BASE_URL to an address with https:// at which this service answers"
      }),
  ok("helped with: SPF, DKIM and DMARC are looked at under dns; who complains is suppressed at once"),
  ok("left to you: consent, and a spam rate below 0.1 % in Postmaster Tools; see docs/guides/bulk-mail.md")
]
