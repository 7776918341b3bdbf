import { Effect } from "effect"
import { HttpRouter } from "effect/http"

import type { Choice, Standing } from "../../../application/outreach/unsubscribe.ts"
import { pathTo } from "../../../domain/pages.ts"
import { framedPage, page, pagePolicy, pageResponse } from "./html-page.ts"
import { type Html, html } from "./html.ts"

/** The one form posts to this server. */
export const UNSUBSCRIBE_POLICY = pagePolicy("'self'")

/** A button that posts to the link itself: the form names no address. `choice` absent: what a mail service asks for, too. */
const choiceForm = (label: string, choice?: Choice): Html =>
  choice === undefined
    ? html`<form method="post"><button type="submit">${label}</button></form>`
    : html`<form method="post" action="?choice=${choice}"><button type="submit">${label}</button></form>`

/** What the address gets of a list, and of all marketing, with a button for each that changes it. */
const choicesOf = ({ left, list }: Standing): ReadonlyArray<Html> => {
  const ofAll = left.all
    ? choiceForm("Get our offers and news again", "return-to-all")
    : choiceForm(
        list === undefined ? "Unsubscribe" : "Unsubscribe from all offers and news",
        list === undefined ? undefined : "leave-all"
      )
  if (list === undefined) return [ofAll]
  const ofList = left.lists.includes(list)
    ? choiceForm(`Get ${list} again`, "return")
    : choiceForm(`Unsubscribe from ${list}`)
  return [ofList, ofAll]
}

const STILL = "Mail about your orders and your account still comes."

/** What it gets now, in a sentence. */
const nowOf = ({ left, list, subject: { email } }: Standing): string => {
  if (left.all) return `${email} gets no more offers and news from us. ${STILL}`
  if (list !== undefined && left.lists.includes(list))
    return `${email} gets no more mail of the list ${list}. Other mail still comes.`
  return list === undefined
    ? `${email} gets offers and news from us. Do you want no more of them?`
    : `${email} gets mail of the list ${list}. Do you want no more of it?`
}

/** What a link shows, before a choice and after it. */
export const unsubscribePage = (standing: Standing): Html => {
  const { left, list } = standing
  const isLeft = left.all || (list !== undefined && left.lists.includes(list))
  const title = isLeft ? "You are unsubscribed" : "Unsubscribe"
  return page(
    title,
    html`<h1>${title}</h1>
<p role="status">${nowOf(standing)}</p>
${choicesOf(standing)}`
  )
}

export const unknownPage: Html = page(
  "This link does not work",
  html`<h1>This link does not work</h1>
<p>It may have been cut when it was copied. Open the link in the mail itself, or reply to the mail.</p>`
)

/** The page has no form. */
export const SHARED_PAGE_POLICY = pagePolicy("'none'")

/** For a link that is unknown or has expired. */
export const sharedGonePage: Html = page(
  "This link does not work",
  html`<h1>This link does not work</h1>
<p>It may have expired, its file may have been deleted, or it was cut when it was copied. Ask the person who shared the file with you for a new link.</p>`
)

/** What an invitation opens. It is accepted by the button, never by opening the page. */
export const invitePage = (token: string): Html =>
  page(
    "Invitation",
    html`<h1>Join a team on Postlane</h1>
<p>Press the button to accept the invitation. If you did not expect it, close this page.</p>
<form method="post" action="${pathTo.invite(token)}">
<button type="submit">Accept the invitation</button>
</form>`
  )

/** After an invitation was accepted. */
export const joinedPage = (inviter: string): Html =>
  page(
    "Invitation accepted",
    html`<h1>Invitation accepted</h1>
<p>You accepted the invitation of ${inviter}.</p>`
  )

const registerPage = framedPage(
  "Register an account",
  html`<h1>Register an account</h1>
<p>Documents are converted by mail for registered addresses only, so that nobody else can spend your credits.</p>
<p>Ask the people who run it to register the address that you send from. A new account has 10 free pages. Then send your PDF again: nothing of your first mail was kept.</p>`
)

const creditsPage = framedPage(
  "Get more credits",
  html`<h1>Get more credits</h1>
<p>A page costs 1 credit. A free account has 10 pages in all, a paid one its credits. What could not be converted was not charged.</p>
<p>Ask the people who run it for more credits for the address that you signed up with. They are on your account at once; then convert again, or send your PDF again.</p>`
)

const answer = (made: Html) => pageResponse(made, { policy: pagePolicy("'none'") })

/** Pages for an installation that sells nothing itself: how to register, and how to get credits. */
export const accountPageRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", pathTo.register, answer(registerPage))
    yield* router.add("GET", pathTo.credits, answer(creditsPage))
  })
)
