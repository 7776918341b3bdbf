import { mailProviderContract } from "../../contracts/mail-provider.ts"
import { resendUnderTest } from "../../support/fake-peers.ts"

mailProviderContract("Resend", resendUnderTest, { dedupes: true })
