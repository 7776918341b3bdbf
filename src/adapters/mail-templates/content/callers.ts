import { cleanLine } from "../clean.ts"
import type { Block, Row } from "../mail-content.ts"
import { count, money, moment, paragraph, type Writer } from "./values.ts"

export const contact: Writer<"contact"> = (data, { address, line, text }) => ({
  subject: `Contact form: ${line(data.name)}`,
  title: "A message from the contact form",
  preview: line(data.message),
  blocks: [
    paragraph("From ", { strong: line(data.name) }, ", ", address(data.email), ":"),
    { piece: "quote", text: text(data.message) }
  ],
  footer: [["Reply to this mail to answer; the reply goes to the person who wrote."]]
})

export const feedback: Writer<"feedback"> = (data, { address, line, text }) => ({
  subject: data.rating === undefined ? "Feedback" : `Feedback: ${count(data.rating)} of 5`,
  title: "Feedback",
  preview: line(data.message),
  blocks: [
    paragraph("From ", data.email === undefined ? "somebody who left no address" : address(data.email), "."),
    ...(data.rating === undefined
      ? []
      : [paragraph("Rating: ", { strong: `${count(data.rating)} of 5` }, ".")]),
    // A page's address is untrusted input: shown, not linked.
    ...(data.page === undefined ? [] : [paragraph("Page: ", line(data.page))]),
    { piece: "quote", text: text(data.message) }
  ],
  footer: [
    [
      data.email === undefined
        ? "Nobody can be answered."
        : "Reply to this mail to answer; the reply goes to the person who wrote."
    ]
  ]
})

export const share: Writer<"share"> = (data, { line, text, url }) => ({
  subject: `${line(data.sender)} shared ${line(data.fileName)} with you`,
  title: "A file was shared with you",
  preview: `${line(data.sender)} shared ${line(data.fileName)}`,
  blocks: [
    paragraph({ strong: line(data.sender) }, " shared ", { strong: line(data.fileName) }, " with you."),
    ...(data.message === undefined || cleanLine(data.message) === ""
      ? []
      : [paragraph("They wrote:"), { piece: "quote", text: text(data.message) } satisfies Block]),
    { piece: "button", text: "Open the shared file", url: url(data.url) },
    paragraph(`The link works until ${moment(data.expiresAt)}.`)
  ],
  footer: [
    ["You get this mail because somebody entered your address. If you do not know the sender, ignore it."]
  ]
})

export const teamInvite: Writer<"team-invite"> = (data, { line, url }) => ({
  subject: `${line(data.inviter)} invites you to ${line(data.team)}`,
  title: "You are invited to a team",
  preview: `${line(data.inviter)} invites you to ${line(data.team)}`,
  blocks: [
    paragraph({ strong: line(data.inviter) }, " invites you to join ", { strong: line(data.team) }, "."),
    { piece: "button", text: "Look at the invitation", url: url(data.url) },
    paragraph(`The invitation holds until ${moment(data.expiresAt)}.`)
  ],
  footer: [["If you did not expect this invitation, ignore this mail; nothing happens."]]
})

export const accountDeleted: Writer<"account-deleted"> = (data, { line }) => ({
  subject: "Your account was deleted",
  title: "Your account was deleted",
  preview: `The account of ${line(data.email)} is closed.`,
  blocks: [
    paragraph(
      "The account of ",
      { strong: line(data.email) },
      ` was deleted on ${moment(data.deletedAt)}. All its sign-ins and access tokens have ended.`
    ),
    paragraph("If it was not you who did this, write to us at once.")
  ],
  footer: [["This is the last mail about this account."]]
})

export const receipt: Writer<"receipt"> = (data, { line, some }) => ({
  subject: `Receipt ${line(data.receiptId)}: ${money(data.totalUsd)}`,
  title: "Your receipt",
  preview: `${money(data.totalUsd)}, paid on ${moment(data.paidAt)}`,
  blocks: [
    paragraph("Thank you, ", line(data.customer), "."),
    paragraph("Receipt ", { strong: line(data.receiptId) }, `, paid on ${moment(data.paidAt)}.`),
    {
      piece: "table",
      caption: "What was paid",
      columns: [
        { name: "Item", figures: false },
        { name: "Amount (US dollars)", figures: true }
      ],
      rows: some<(typeof data.lines)[number], Row>(
        data.lines,
        ({ amountUsd, text }) => [line(text), money(amountUsd)],
        (more) => [`${count(more)} more`, "not listed"]
      ),
      total: ["Total", money(data.totalUsd)]
    }
  ],
  footer: [["Keep this mail for your records."]]
})

export const signIn: Writer<"sign-in"> = (data, { url }) => ({
  subject: "Your sign-in link",
  title: "Your sign-in link",
  preview: `It works once, for ${count(data.minutes)} minutes.`,
  blocks: [
    paragraph("Sign in with this link, in the browser where you asked for it:"),
    { piece: "button", text: "Sign in to Postlane", url: url(data.url) },
    paragraph(`The link works once, for ${count(data.minutes)} minutes, and in that browser only.`)
  ],
  footer: [["If you did not ask for this link, ignore this mail; only you can sign in with it."]]
})

export const adminInvite: Writer<"admin-invite"> = (data, { line, url }) => ({
  subject: `${line(data.inviter)} invites you to the admin pages of Postlane`,
  title: "You are invited to the admin pages",
  preview: `${line(data.inviter)} invites you to the admin pages.`,
  blocks: [
    paragraph(
      { strong: line(data.inviter) },
      data.readOnly
        ? " invites you to look at the admin pages of Postlane; you can change nothing there."
        : " invites you to the admin pages of Postlane."
    ),
    paragraph("Sign in with this address: you are mailed a link, and need no password."),
    { piece: "button", text: "Sign in to Postlane", url: url(data.url) }
  ],
  footer: [["If you did not expect this invitation, ignore this mail; nothing happens."]]
})

export const magicLink: Writer<"magic-link"> = (data, { line, url }) => ({
  subject: `Your sign-in link for ${line(data.promo)}`,
  title: "Your sign-in link",
  preview: `It works once, for ${count(data.minutes)} minutes.`,
  blocks: [
    paragraph("You claimed ", { strong: line(data.promo) }, ". Sign in with this link:"),
    { piece: "button", text: "Sign in to Postlane", url: url(data.url) },
    paragraph(`The link works once, for ${count(data.minutes)} minutes.`)
  ],
  footer: [["If you did not ask for this link, ignore this mail; without it nobody can sign in."]]
})
