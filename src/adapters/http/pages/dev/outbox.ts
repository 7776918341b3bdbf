import { pathTo } from "../../../../domain/pages.ts"
import type { UpcomingMail } from "../../../../ports/mail/send-queue.ts"
import { confirmDialog } from "../dashboard.ts"
import { type Html, html, lines } from "../html.ts"
import { FRAME_POLICY, type ShellPage } from "../shell.ts"
import { ago, list as rows, number, pageHead } from "../ui.ts"
import {
  addressLinks,
  conditions,
  isWhole,
  listPath,
  type MailList,
  mailRows,
  searchForm
} from "./mail-list.ts"

/** Most mails of the send queue that the page names. */
export const MAX_WAITING = 20

/** Most recipients that one of them names. */
const MAX_NAMED = 3

const waiting = ({ error, nextAttemptAt, sendAt, state, subject, to }: UpcomingMail): Html =>
  html`<li>
<p class="subject">${subject}</p>
<p class="snippet">${error ?? ""}</p>
<p class="when">${state === "sending" ? "being sent" : ago(new Date(nextAttemptAt ?? sendAt).toISOString())}</p>
<p class="who">To ${addressLinks(to, MAX_NAMED)}</p>
</li>`

/** The mails of the send queue, those that go first at the top; one more than are named says that there are more. */
const waitingList = (mails: ReadonlyArray<UpcomingMail>): Html | undefined =>
  mails.length === 0
    ? undefined
    : html`<section class="queued" aria-labelledby="waiting"><h2 id="waiting">In the send queue</h2>
<ol class="mails">
${lines(mails.slice(0, MAX_WAITING).map(waiting))}
</ol>
${mails.length > MAX_WAITING ? html`<p>More wait: <a href="${pathTo.adminScreen("queue")}">the whole send queue</a></p>` : undefined}</section>
<h2 class="queued">Delivered</h2>`

const countOf = (total: number): string =>
  total === 0 ? "" : `${number(total)} ${total === 1 ? "mail" : "mails"}. `

/** The outbox as a page: newest first, each subject a link to its mail; above its beginning what waits in the send queue. */
export const outboxPage = (list: MailList, upcoming: ReadonlyArray<UpcomingMail>): ShellPage => {
  const { asked, entries, total } = list
  const whole = isWhole(asked)
  return {
    title: "Outbox",
    path: pathTo.outbox,
    script: "dev/outbox.js",
    style: "dev/dev.css",
    complete: true,
    policy: FRAME_POLICY,
    main: html`${pageHead("Outbox", {
      facts: html`<span id="total">${countOf(total)}</span>None left this machine. <a href="${pathTo.ownMails}">Mails that Postlane writes itself</a>`,
      actions: html`<button type="button" id="clear" class="danger small" hidden>Delete all</button>`
    })}
${searchForm(asked, { help: true })}
${conditions(list)}
<p id="away" class="problem" hidden></p>
<p id="problem" class="problem" hidden></p>
<div id="list" data-newest="${whole ? (entries[0]?.id ?? "") : ""}" data-from="${listPath(asked)}">
${whole ? waitingList(upcoming) : undefined}
${mailRows(list)}
</div>
${confirmDialog}`
  }
}

const template = ({ kind, subject }: { readonly kind: string; readonly subject: string }) => {
  const path = pathTo.ownMail(kind)
  return {
    kind: "MAIL",
    name: html`<a href="${path}">${subject}</a>`,
    facts: kind,
    status: undefined,
    action: html`<a class="button small" href="${path}?as=text">Text<span class="hidden"> of ${kind}</span></a>`
  }
}

/** The product's own mails, each with its sample's subject. */
export const templatesPage = (
  mails: ReadonlyArray<{ readonly kind: string; readonly subject: string }>
): ShellPage => ({
  title: "Mails that Postlane writes itself",
  path: pathTo.ownMails,
  style: "dev/dev.css",
  complete: true,
  main: html`<p class="back"><a href="${pathTo.outbox}">Outbox</a></p>
${pageHead("Mails that Postlane writes itself", { facts: "Each with sample data" })}
${rows("Mails", mails.map(template))}`
})
