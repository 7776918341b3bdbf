import type { MailerConfig } from "../../src/application/mail/sending.ts"

/** A mailer of `provider_a` alone, with the defaults of the settings. */
export const mailerConfig: MailerConfig["Service"] = {
  primary: "provider_a",
  fallback: undefined,
  defaults: {
    from: { name: "Postlane", local: "noreply", domain: "postlane.test" },
    domains: { sender: "postlane.test", legacy: "legacy.test" }
  },
  attemptTimeoutMs: 15_000,
  dbTimeoutMs: 2_500,
  deferDelaysSeconds: [120, 600, 900],
  costUsd: { provider_a: 0.0004, provider_b: 0.0001, smtp: 0, postmark: 0.0015 }
}
