import { type Verdict, verdictsOf } from "./verdict.ts"

/** What signs the calls to the cloud. */
export type CredentialFacts =
  | { readonly _tag: "Found"; readonly source: string }
  | { readonly _tag: "None"; readonly why: string }

const { fail, ok } = verdictsOf("cloud")

/** The verdict on the cloud's credentials; whether they may do what is asked, the other checks say. */
export const credentialVerdicts = (facts: CredentialFacts): ReadonlyArray<Verdict> => [
  facts._tag === "Found"
    ? ok(`calls are signed with the credentials of: ${facts.source}`)
    : fail({
        what: "there are no cloud credentials",
        why: facts.why,
        do: "set CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY, or give the machine a role (where it is looked for: postlane settings CLOUD_ACCESS_KEY_ID)"
      })
]
