import { Effect } from "effect"
import { HttpRouter } from "effect/http"

import { page, pagePolicy, pageResponse } from "./html-page.ts"
import { ACCOUNT_PAGES } from "./paths.ts"

const registerPage = page(
  "Register an account",
  `<h1>Register an account</h1>
<p>Documents are converted by mail for registered addresses only, so that nobody else can spend your credits.</p>
<p>Ask the people who run it to register the address that you send from. A new account has 10 free pages. Then send your PDF again: nothing of your first mail was kept.</p>`
)

const creditsPage = page(
  "Get more credits",
  `<h1>Get more credits</h1>
<p>A page costs 1 credit. A free account has 10 pages in all, a paid one its credits. What could not be converted was not charged.</p>
<p>Ask the people who run it for more credits for the address that you signed up with. They are on your account at once; then convert again, or send your PDF again.</p>`
)

const answer = (html: string) => pageResponse(html, { policy: pagePolicy("'none'") })

/** Pages for an installation that sells nothing itself: how to register, and how to get credits. */
export const accountPageRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", ACCOUNT_PAGES.register, answer(registerPage))
    yield* router.add("GET", ACCOUNT_PAGES.credits, answer(creditsPage))
  })
)
