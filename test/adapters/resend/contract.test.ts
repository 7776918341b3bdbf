import { UndiciResend } from "../../../src/adapters/resend/undici-resend.ts"
import { mailProviderContract } from "../../contracts/mail/mail-provider.ts"
import { resendUnderTest } from "../../support/vendors/fake-peers.ts"

mailProviderContract("Resend over fetch", resendUnderTest(), { dedupes: true })
mailProviderContract("Resend over undici", resendUnderTest(UndiciResend), { dedupes: true })
