import { mailProviderContract } from "../../contracts/mail/mail-provider.ts"
import { relayUnderTest } from "../../support/vendors/fake-relay.ts"

mailProviderContract("an SMTP relay", relayUnderTest, { dedupes: false })
