/** An entry of `record_email_sends`: a mail that `provider_a` accepted, where nothing else is said. */
export const sendEntry = (entry: Readonly<Record<string, unknown>>) => ({
  id: crypto.randomUUID(),
  category: "transactional",
  source: "api:shop",
  from: "noreply@postlane.test",
  to: ["ann@x.test"],
  others: [],
  subject: "Subject",
  outcome: "sent",
  provider: "provider_a",
  ...entry
})
