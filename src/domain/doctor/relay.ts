import { type Verdict, verdictsOf } from "./verdict.ts"

/** What a relay answered up to a mail that was not sent. */
export type RelayFacts =
  | {
      readonly _tag: "LoggedIn"
      readonly encrypted: boolean
      readonly authenticated: boolean
      /** The largest mail that it says it takes, bytes; undefined: it says nothing, or 0. */
      readonly maxBytes: number | undefined
    }
  | { readonly _tag: "Failed"; readonly why: string }

const { fail, ok, warn } = verdictsOf("smtp")

/** A mail with 25 MB of attachments, which are a third larger on the wire: as large as the other providers take. */
const LARGE_BYTES = 35_000_000

/** The verdicts on `smtp`. */
export const relayVerdicts = (facts: RelayFacts): ReadonlyArray<Verdict> => {
  if (facts._tag === "Failed") {
    return [
      fail({
        what: "the relay takes no mail from here",
        why: facts.why,
        do: "see that this machine reaches it, and compare host, port, user name and password in SMTP_URL with what it asks for"
      })
    ]
  }
  const { authenticated, encrypted, maxBytes } = facts
  return [
    ok(`the relay answers${authenticated ? ", and takes the user name and the password" : ""}`),
    encrypted
      ? ok("the connection to it is encrypted")
      : warn({
          what: "the connection to the relay is not encrypted",
          why: "it offers no STARTTLS, and SMTP_TLS=optional does without",
          do: "use it on this machine or a private network alone, or have it offer TLS"
        }),
    ...(maxBytes !== undefined && maxBytes < LARGE_BYTES
      ? [
          warn({
            what: `the relay takes mails of ${Math.floor(maxBytes / 1_000_000)} MB at most`,
            why: "a larger one is refused, though Postlane takes 25 MB of attachments",
            do: "raise its limit, or keep attachments small"
          })
        ]
      : [])
  ]
}
