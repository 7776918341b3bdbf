import { type Verdict, verdictsOf } from "./verdict.ts"

/** The answer of `provider_a` to a call that sends nothing (the list of the account's domains). */
export type ProviderAFacts =
  | {
      readonly _tag: "Domains"
      readonly domains: ReadonlyArray<{ readonly name: string; readonly status: string }>
    }
  /** The key is valid and restricted to sending: it may not list domains. */
  | { readonly _tag: "SendOnly" }
  | { readonly _tag: "Refused"; readonly why: string }
  | { readonly _tag: "Unknown"; readonly why: string }

const { fail, ok, warn } = verdictsOf("provider_a")

const ADD = "add the domain at resend.com/domains and publish the records that it shows"

const domainVerdict = (
  domains: Extract<ProviderAFacts, { _tag: "Domains" }>["domains"],
  sender: string
): Verdict => {
  const found = domains.find(({ name }) => name.toLowerCase() === sender)
  if (found === undefined) {
    return fail({
      what: `${sender} is no domain of this account`,
      why: "a send from it is refused",
      do: ADD
    })
  }
  return found.status === "verified"
    ? ok(`${sender} is verified`)
    : fail({
        what: `${sender} is not verified (${found.status})`,
        why: "a send from it is refused",
        do: `${ADD}, then verify it there`
      })
}

/** The verdicts on `provider_a`; `sender` is the sender domain, lower-case. */
export const providerAVerdicts = (facts: ProviderAFacts, sender: string): ReadonlyArray<Verdict> => {
  switch (facts._tag) {
    case "Domains":
      return [ok("the API key is valid"), domainVerdict(facts.domains, sender)]
    case "SendOnly":
      return [
        ok("the API key is valid, for sending only"),
        warn({
          what: `whether ${sender} is verified cannot be seen`,
          why: "a key that may only send cannot list domains; the poll of events needs a full one as well",
          do: "use a key with full access, or look at resend.com/domains"
        })
      ]
    case "Refused":
      return [
        fail({
          what: "the API key is refused",
          why: facts.why,
          do: "make a key at resend.com/api-keys and set PROVIDERA_API_KEY to it"
        })
      ]
    case "Unknown":
      return [
        fail({
          what: "the API does not answer as it should",
          why: facts.why,
          do: "see that this machine reaches it (PROVIDERA_BASE_URL, firewall, proxy) and look at resend-status.com"
        })
      ]
  }
}
