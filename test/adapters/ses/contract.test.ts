import { mailProviderContract } from "../../contracts/mail-provider.ts"
import { sesUnderTest } from "../../support/fake-peers.ts"

mailProviderContract("Amazon SES", sesUnderTest, { dedupes: false })
