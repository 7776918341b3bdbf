import { UndiciResend } from "../../../src/adapters/resend/undici-resend.ts"
import { mailProviderContract } from "../../contracts/mail-provider.ts"
import { resendUnderTest } from "../../support/fake-peers.ts"

mailProviderContract("Resend over fetch", resendUnderTest(), { dedupes: true })
mailProviderContract("Resend over undici", resendUnderTest(UndiciResend), { dedupes: true })
