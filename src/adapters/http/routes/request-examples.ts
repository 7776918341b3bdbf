import { perChannel } from "../../../domain/delivery/alert-policy.ts"
import { DEFAULT_PRIMARY } from "../../../domain/mail/provider.ts"

type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }

const mail: Json = {
  to: ["reader@example.com"],
  subject: "Your document is ready",
  text: "It is in your documents.",
  category: "transactional",
  source: "documents",
  idempotencyKey: "document-ready-4711"
}

/**
 * A body for each operation that takes JSON: a request that works where what its path names is there. Generators and readers of the
 * document begin with it.
 */
export const REQUEST_EXAMPLES: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["sendEmail", mail],
  [
    "enqueueBatch",
    { emails: [{ ...mail, idempotencyKey: "document-ready-4713", sendAt: "2026-01-05T08:00:00Z" }] }
  ],
  ["sendEmailAsAdmin", { ...mail, idempotencyKey: "document-ready-4712" }],
  [
    "sendReceipt",
    {
      receiptId: "receipt-4711",
      email: "buyer@example.com",
      customer: "Example Ltd",
      paidAt: "2026-11-27T09:30:00Z",
      lines: [{ text: "500 pages", amountUsd: 25 }],
      totalUsd: 25
    }
  ],
  [
    "raiseAlert",
    {
      sendId: "01926b3e-0000-7000-8000-000000000001",
      provider: DEFAULT_PRIMARY,
      providerMessageId: "4ef9a417-02e9-4d39-ad75-9611e0fcc33c",
      event: "bounced",
      recipients: ["reader@example.com"],
      reason: "550 5.1.1 no such user"
    }
  ],
  ["writeNotifications", { email_delivery_failure: perChannel((channel) => channel === "email") }],
  ["addSuppression", { email: "gone@example.com", note: "asked by phone" }],
  ["setPreferences", { marketing: false, lists: { weekly: true }, note: "changed in the shop" }],
  [
    "importUnsubscribed",
    { rows: [{ email: "reader@example.com", list: "weekly" }, { email: "gone@example.com" }] }
  ],
  ["claimPromo", { email: "reader@example.com" }],
  ["useMagicLink", { token: "3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", next: "/documents" }],
  ["requestLink", { email: "reader@example.com", next: "/documents" }],
  ["beginSession", { token: "an-access-token", next: "/documents" }],
  [
    "sendContactMessage",
    { name: "Ada Reader", email: "reader@example.com", message: "Do you convert spreadsheets?" }
  ],
  ["sendFeedback", { message: "The tables came out well.", email: "reader@example.com", rating: 5 }],
  ["inviteToTeam", { email: "colleague@example.com" }],
  [
    "sendOutreach",
    {
      email: "prospect@example.com",
      name: "Ada",
      campaign: "spring",
      subject: "Accessible documents for your readers",
      paragraphs: ["We make accessible HTML of your PDFs."],
      action: { text: "See an example", url: "https://example.com/example" }
    }
  ],
  ["sendConvertEmailTest", { to: "reader@example.com", subject: "A test", body: "It arrives." }],
  ["convertFile", { options: { highFidelity: false } }],
  [
    "startBulk",
    { items: [{ fileId: "01926b3e-0000-7000-8000-000000000002" }], options: { highFidelity: false } }
  ],
  ["shareFile", { recipients: ["colleague@example.com"], message: "Please read page 3." }],
  ["pauseQueue", { category: "marketing" }],
  ["resumeQueue", { category: "marketing" }],
  [
    "addSenderToken",
    { name: "wordpress", categories: ["transactional"], from: ["@example.com"], ratePerMinute: 60 }
  ],
  ["testNotifications", { channel: "email" }],
  ["makeMailLink", { recipient: "reader@example.com", days: 7 }],
  ["addToken", { name: "nightly export", rights: ["admin:read"], days: 365 }],
  [
    "addEventHook",
    { url: "https://hooks.example.com/postlane", types: ["email.bounced", "email.complained"] }
  ],
  ["changeEventHook", { types: ["email.*"] }],
  ["redeliverEvents", { from: "2026-11-27T09:30:00Z" }],
  ["addCustomer", { email: "customer@example.com", name: "Example Ltd" }],
  ["grantCredits", { credits: 500, reference: "invoice-4711" }],
  ["inviteAdmin", { email: "colleague@example.com", right: "admin:read" }],
  ["simulateProvider", { provider: DEFAULT_PRIMARY, outcomes: ["ambiguous-lost"], otherwise: "ok" }],
  ["reportEvent", { type: "bounced" }],
  ["advanceClock", { milliseconds: 3_600_000 }]
])
