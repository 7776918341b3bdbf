import { type Verdict, verdictsOf } from "./verdict.ts"

/** A configuration set as it was found. */
export interface ConfigurationSetFacts {
  readonly name: string
  /** The set of outreach mail, not needed by those who send none. */
  readonly outreach: boolean
  readonly found:
    | { readonly _tag: "Missing" }
    | { readonly _tag: "Unknown"; readonly why: string }
    | {
        readonly _tag: "There"
        readonly sendingEnabled: boolean
        /** What puts an address on the account's list; `undefined`: as the account has it. */
        readonly suppresses: ReadonlyArray<string> | undefined
        /** Event types that an enabled EventBridge destination publishes, as SES names them; `undefined` without such a destination. */
        readonly published: ReadonlyArray<string> | undefined
      }
}

/** The domain identity of the sender domain. */
export interface IdentityFacts {
  readonly verified: boolean
  readonly dkim: {
    readonly signing: boolean
    /** In SES's terms: `SUCCESS`, `PENDING`, `FAILED`… */
    readonly status: string
    /** Easy DKIM; false for the customer's own keys. */
    readonly easy: boolean
    /** Selectors of the three CNAME records; empty where DKIM was never set up. */
    readonly tokens: ReadonlyArray<string>
    /** What the records point to: `<token>.<host>`. */
    readonly host: string
    /** `RSA_1024_BIT` or `RSA_2048_BIT`; absent where SES does not say. */
    readonly keyLength: string | undefined
  }
  /** `undefined`: the envelope sender is on SES's own domain. */
  readonly mailFrom: { readonly domain: string; readonly status: string } | undefined
  /** The identity's default set. */
  readonly configurationSet: string | undefined
}

/** The answers of `provider_b` to calls that send nothing. */
export type ProviderBFacts =
  | { readonly _tag: "Refused"; readonly why: string }
  /** The credentials are valid, but may not read the account. */
  | { readonly _tag: "NotAllowed"; readonly why: string }
  | { readonly _tag: "Unknown"; readonly why: string }
  | {
      readonly _tag: "Account"
      readonly sendingEnabled: boolean
      /** False in the sandbox. */
      readonly productionAccess: boolean
      /** `HEALTHY`, `PROBATION` or `SHUTDOWN`; any other value is shown unchanged. */
      readonly enforcement: string
      readonly identity:
        | { readonly _tag: "There"; readonly identity: IdentityFacts }
        | { readonly _tag: "Missing" }
        | { readonly _tag: "Unknown"; readonly why: string }
      readonly sets: ReadonlyArray<ConfigurationSetFacts>
    }

/** The events that move a row or suppress an address (EVENT-4, EVENT-14), as SES names them. */
export const NEEDED_EVENTS = [
  "SEND",
  "DELIVERY",
  "BOUNCE",
  "COMPLAINT",
  "REJECT",
  "DELIVERY_DELAY",
  "RENDERING_FAILURE"
] as const

/** Only outreach mail has open and click tracking. */
const OUTREACH_EVENTS = [...NEEDED_EVENTS, "OPEN", "CLICK"] as const

const { fail, ok, warn } = verdictsOf("provider_b")

const accountVerdicts = (account: Extract<ProviderBFacts, { _tag: "Account" }>): ReadonlyArray<Verdict> => [
  account.sendingEnabled
    ? ok("the credentials work, and the account may send")
    : fail({
        what: "sending is switched off for the account",
        why: "every send is refused as paused",
        do: "see the SES console's account dashboard for why, and resume sending"
      }),
  account.productionAccess
    ? ok("the account is out of the sandbox")
    : warn({
        what: "the account is in the sandbox",
        why: "it mails verified addresses only, 200 a day",
        do: "request production access in the SES console"
      }),
  ...(account.enforcement === "HEALTHY"
    ? []
    : [
        (account.enforcement === "SHUTDOWN" ? fail : warn)({
          what: `the account's standing is ${account.enforcement}`,
          why: "SES reviews accounts whose bounce or complaint rate is high",
          do: "answer the case that SES opened, and look at the bounces in postlane log --status bounced"
        })
      ])
]

const dkimVerdict = ({ dkim }: IdentityFacts, sender: string): Verdict => {
  if (dkim.easy && dkim.signing && dkim.status === "SUCCESS" && dkim.keyLength === "RSA_1024_BIT") {
    return warn({
      what: `DKIM signs as ${sender} with a key of 1024 bits`,
      why: "receivers begin to take such keys for none",
      do: "switch the identity's Easy DKIM to RSA 2048; its records stay the same"
    })
  }
  if (dkim.easy && dkim.signing && dkim.status === "SUCCESS") return ok(`Easy DKIM signs as ${sender}`)
  if (dkim.signing && dkim.status === "SUCCESS") {
    return warn({
      what: `DKIM signs as ${sender} with a key of your own`,
      why: "Easy DKIM (RSA 2048) rotates its keys by itself",
      do: "nothing, if that is meant; else switch the identity to Easy DKIM"
    })
  }
  return fail({
    what: dkim.signing ? `DKIM is not ready (${dkim.status})` : "DKIM signing is switched off",
    why: "mail goes out unsigned, and fails DMARC where only DKIM aligns",
    do: "switch Easy DKIM (RSA 2048) on for the identity, and publish its three CNAME records"
  })
}

const mailFromVerdict = ({ mailFrom }: IdentityFacts, sender: string): Verdict => {
  const wanted = `bounce.${sender}`
  if (mailFrom === undefined) {
    return warn({
      what: "there is no custom MAIL FROM domain",
      why: "SPF then passes for amazonses.com, which does not align with the sender domain",
      do: `set ${wanted} as the identity's MAIL FROM domain and publish its MX and TXT records`
    })
  }
  return mailFrom.status === "SUCCESS"
    ? ok(`MAIL FROM is ${mailFrom.domain}`)
    : fail({
        what: `MAIL FROM ${mailFrom.domain} is not ready (${mailFrom.status})`,
        why: "SES falls back to amazonses.com, or refuses the send",
        do: `publish the MX and TXT records of ${mailFrom.domain}; SES looks again within 72 hours`
      })
}

const identityVerdicts = (
  found: Extract<ProviderBFacts, { _tag: "Account" }>["identity"],
  sender: string
): ReadonlyArray<Verdict> => {
  if (found._tag === "Unknown") {
    return [
      warn({
        what: `the identity ${sender} cannot be seen`,
        why: found.why,
        do: "allow ses:GetEmailIdentity to these credentials"
      })
    ]
  }
  if (found._tag === "Missing") {
    return [
      fail({
        what: `there is no identity for ${sender}`,
        why: "a send from it is refused in this region",
        do: "create the domain identity with Easy DKIM (RSA 2048) in PROVIDERB_REGION"
      })
    ]
  }
  const { identity } = found
  return [
    identity.verified
      ? ok(`${sender} is verified for sending`)
      : fail({
          what: `${sender} is not verified`,
          why: "a send from it is refused",
          do: "publish the three DKIM CNAME records; SES verifies the domain by them"
        }),
    dkimVerdict(identity, sender),
    mailFromVerdict(identity, sender)
  ]
}

const setVerdict = ({ found, name, outreach }: ConfigurationSetFacts): Verdict => {
  switch (found._tag) {
    case "Missing":
      return (outreach ? warn : fail)({
        what: `there is no configuration set ${name}`,
        why: outreach ? "outreach mail, which names it, is refused" : "a send that names it is refused",
        do: "create it, with an EventBridge destination, or name another one in the settings"
      })
    case "Unknown":
      return warn({
        what: `the configuration set ${name} cannot be seen`,
        why: found.why,
        do: "allow ses:GetConfigurationSet and ses:GetConfigurationSetEventDestinations to these credentials"
      })
    case "There":
      break
  }
  if (!found.sendingEnabled) {
    return fail({
      what: `sending is switched off for the configuration set ${name}`,
      why: "a send that names it is refused as paused",
      do: "switch sending on for it"
    })
  }
  if (found.published === undefined) {
    return warn({
      what: `the configuration set ${name} publishes nothing to EventBridge`,
      why: "bounces and complaints of its mail are never seen",
      do: "add an event destination on the default event bus to it"
    })
  }
  const unsuppressed = ["BOUNCE", "COMPLAINT"].filter(
    (reason) => found.suppresses?.includes(reason) === false
  )
  if (unsuppressed.length > 0) {
    return warn({
      what: `the configuration set ${name} does not suppress after ${unsuppressed.join(" and ")}`,
      why: "Amazon SES goes on mailing addresses that refuse it, should this installation not know them",
      do: "let it suppress both BOUNCE and COMPLAINT"
    })
  }
  const missing = (outreach ? OUTREACH_EVENTS : NEEDED_EVENTS).filter(
    (event) => found.published?.includes(event) !== true
  )
  return missing.length === 0
    ? ok(`the configuration set ${name} publishes its events`)
    : warn({
        what: `the configuration set ${name} does not publish ${missing.join(", ")}`,
        why: "rows of its mail do not move on these events",
        do: "add them to its EventBridge destination"
      })
}

/** The verdicts on `provider_b`; `sender` is the sender domain, lower-case. */
export const providerBVerdicts = (facts: ProviderBFacts, sender: string): ReadonlyArray<Verdict> => {
  switch (facts._tag) {
    case "Refused":
      return [
        fail({
          what: "the cloud credentials are refused",
          why: facts.why,
          do: "see whose they are (the line cloud), set CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY (and CLOUD_SESSION_TOKEN with temporary ones), or give the machine a role, and allow them ses:SendEmail and ses:Get*"
        })
      ]
    case "NotAllowed":
      return [
        warn({
          what: "the credentials may not look at the account",
          why: facts.why,
          do: "allow them ses:GetAccount, ses:GetEmailIdentity, ses:GetConfigurationSet and ses:GetConfigurationSetEventDestinations"
        })
      ]
    case "Unknown":
      return [
        fail({
          what: "Amazon SES does not answer as it should",
          why: facts.why,
          do: "see that this machine reaches it (PROVIDERB_REGION, PROVIDERB_ENDPOINT, firewall, proxy)"
        })
      ]
    case "Account": {
      const { identity } = facts
      const noSet =
        facts.sets.every(({ outreach }) => outreach) && identity._tag === "There"
          ? [
              warn({
                what: "mail goes out without a configuration set",
                why: "its events are published nowhere",
                do: "give the identity a default configuration set, or set EMAIL_PROVIDERB_CONFIGURATION_SET"
              })
            ]
          : []
      return [
        ...accountVerdicts(facts),
        ...identityVerdicts(identity, sender),
        ...facts.sets.map(setVerdict),
        ...noSet
      ]
    }
  }
}
