import { pathTo } from "../../pages.ts"
import { DEFAULT_PRIMARY } from "../provider.ts"
import type { MailTemplate, MailTemplateKind } from "./template.ts"

const SITE = "https://postlane.test"

/** One mail of each kind, for the preview and for tests. */
export const TEMPLATE_SAMPLES: {
  readonly [K in MailTemplateKind]: Extract<MailTemplate, { readonly kind: K }>
} = {
  contact: {
    kind: "contact",
    name: "Ann Reader",
    email: "ann@reader.test",
    message: "Hello,\n\ncan you convert scanned papers as well?\n\nAnn"
  },
  feedback: {
    kind: "feedback",
    email: "ann@reader.test",
    rating: 4,
    message: "The tables come out well. The formulas could be larger.",
    page: "/files"
  },
  share: {
    kind: "share",
    sender: "Ann Reader",
    fileName: "annual-report.pdf",
    message: "The figures are on page 3.",
    url: `${SITE}${pathTo.shared("4711")}?download=1&lang=en`,
    expiresAt: "2026-02-03T10:00:00Z"
  },
  "team-invite": {
    kind: "team-invite",
    inviter: "ann@reader.test",
    team: "the team of ann@reader.test",
    url: `${SITE}${pathTo.invite("4711")}`,
    expiresAt: "2026-02-03T10:00:00Z"
  },
  "account-deleted": {
    kind: "account-deleted",
    email: "ann@reader.test",
    deletedAt: "2026-02-03T10:00:00Z"
  },
  receipt: {
    kind: "receipt",
    customer: "Ann Reader",
    receiptId: "R-2026-0042",
    paidAt: "2026-02-03T10:00:00Z",
    lines: [
      { text: "1,000 credits", amountUsd: 40 },
      { text: "Discount", amountUsd: -2.5 }
    ],
    totalUsd: 37.5
  },
  "magic-link": {
    kind: "magic-link",
    promo: "Spring offer",
    url: `${SITE}${pathTo.magicLink("4711")}`,
    minutes: 15
  },
  "sign-in": {
    kind: "sign-in",
    url: `${SITE}${pathTo.magicLink("4711")}`,
    minutes: 15
  },
  "admin-invite": {
    kind: "admin-invite",
    inviter: "ann@example.com",
    readOnly: false,
    url: `${SITE}${pathTo.signIn({ reason: "admin" })}`
  },
  outreach: {
    kind: "outreach",
    subject: "Documents that everybody can read",
    paragraphs: [
      "Hello Ann,",
      "Postlane makes accessible HTML out of your PDF files. The first 10 pages are free."
    ],
    action: { text: "See an example", url: `${SITE}/example` },
    footer:
      "Postlane, 1 Example Street, Exampletown. You get this mail because your library publishes PDF files.",
    unsubscribeUrl: `${SITE}${pathTo.unsubscribe("4711")}`
  },
  "audit-digest": {
    kind: "audit-digest",
    cadence: "weekly",
    from: "2026-01-26T14:00:00Z",
    to: "2026-02-02T14:00:00Z",
    counts: [
      { label: "Conversions", count: 1234, failures: 3 },
      { label: "Mails sent", count: 98, failures: 0 }
    ],
    events: [
      {
        at: "2026-02-01T09:30:00Z",
        actor: "ann@reader.test",
        what: "Removed the suppression of bob@reader.test",
        failed: false
      },
      { at: "2026-02-01T08:30:00Z", actor: "system", what: "Conversion of scan.pdf", failed: true }
    ],
    more: 17,
    links: [{ text: "All events on the dashboard", url: `${SITE}${pathTo.dashboard}` }]
  },
  alert: {
    kind: "alert",
    what: "bounced",
    recipients: ["bob@reader.test"],
    subject: "Your receipt",
    reason: "550 5.1.1 The account that you tried to reach does not exist.",
    category: "transactional",
    source: "api:receipts",
    provider: DEFAULT_PRIMARY,
    messageId: "4711",
    sendId: "0199a000-0000-7000-8000-000000000002",
    at: "2026-02-03T10:00:00Z",
    url: `${SITE}${pathTo.mail("0199a000-0000-7000-8000-000000000002")}`,
    suppressionsUrl: `${SITE}${pathTo.adminScreen("suppressions", { email: "bob@reader.test" })}`
  },
  alarm: {
    kind: "alarm",
    title: "Sends fail over",
    detail: "3 sends failed over in 10 minutes.",
    remedy: "The first provider refuses mail: look at the log for its reasons.",
    url: `${SITE}${pathTo.admin}`
  },
  "alert-test": {
    kind: "alert-test",
    actor: "ann@example.com",
    url: `${SITE}${pathTo.adminScreen("notifications")}`
  },
  unregistered: {
    kind: "unregistered",
    address: "ann@reader.test",
    registerUrl: `${SITE}${pathTo.register}`
  },
  "no-attachment": { kind: "no-attachment", convertAddress: "convert@legacy.postlane.test" },
  misaddressed: { kind: "misaddressed", convertAddress: "convert@legacy.postlane.test" },
  "unsupported-file": { kind: "unsupported-file", fileName: "report.docx", found: "a Word document" },
  "insufficient-credits": {
    kind: "insufficient-credits",
    fileName: "annual-report.pdf",
    needed: 24,
    balance: 7,
    plan: "paid",
    buyUrl: `${SITE}${pathTo.credits}`
  },
  "processing-started": {
    kind: "processing-started",
    fileName: "annual-report.pdf",
    pages: 24,
    ignored: ["appendix.pdf"]
  },
  success: {
    kind: "success",
    fileName: "annual-report.pdf",
    pages: 24,
    creditsCharged: 24,
    balance: 1076,
    ignored: ["appendix.pdf"],
    unreadablePages: [7],
    poorlyReadPages: [3, 12],
    doubtfulPages: [{ reason: "tags_disagree", pages: [9] }],
    hasText: false,
    resultUrl: `${SITE}${pathTo.mailResult("4711")}`
  },
  error: {
    kind: "error",
    fileName: "annual-report.pdf",
    reason: "The file is encrypted. Remove its password and send it again."
  },
  "bulk-completed": {
    kind: "bulk-completed",
    bulkId: "0199a000-0000-7000-8000-000000000001",
    items: [
      { fileName: "one.pdf", outcome: "completed", noModelPages: 3, url: `${SITE}${pathTo.shared("1")}` },
      { fileName: "two.pdf", outcome: "failed", noModelPages: 0, url: undefined },
      { fileName: "three.pdf", outcome: "cancelled", noModelPages: 0, url: undefined }
    ]
  }
}

/** Every kind, in the order of {@link TEMPLATE_SAMPLES}. */
export const TEMPLATE_KINDS: ReadonlyArray<MailTemplateKind> = Object.values<MailTemplate>(
  TEMPLATE_SAMPLES
).map(({ kind }) => kind)
