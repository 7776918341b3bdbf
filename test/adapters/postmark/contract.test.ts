import { mailProviderContract } from "../../contracts/mail/mail-provider.ts"
import { postmarkUnderTest } from "../../support/vendors/fake-peers.ts"

mailProviderContract("Postmark", postmarkUnderTest, { dedupes: false })
