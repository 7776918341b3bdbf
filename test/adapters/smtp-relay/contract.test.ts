import { mailProviderContract } from "../../contracts/mail/mail-provider.ts"
import { relayUnderTest } from "../../support/vendors/fake-relay.ts"

mailProviderContract("an SMTP relay", relayUnderTest(), { dedupes: false })
mailProviderContract(
  "an SMTP relay with a bounce address",
  relayUnderTest({ local: "bounce", domain: "in.test" }),
  { dedupes: false }
)
