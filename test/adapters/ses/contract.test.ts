import { mailProviderContract } from "../../contracts/mail/mail-provider.ts"
import { sesUnderTest } from "../../support/vendors/fake-peers.ts"

mailProviderContract("Amazon SES", sesUnderTest, { dedupes: false })
