import { Effect } from "effect"
import { HttpRouter } from "effect/http"

import { page, pagePolicy, pageResponse } from "./html-page.ts"
import { ACCOUNT_PAGES } from "./paths.ts"

const registerPage = page(
  "Register an account",
  `<h1>Register an account</h1>
<p>Documents are converted by mail for registered addresses only, so that nobody else can spend your credits.</p>
<h2>You want to use this service</h2>
<p>Ask the people who run it to register the address that you send from. A new account has 10 free pages. Then send your PDF again: nothing of your first mail was kept.</p>
<h2>You run this service</h2>
<p>Register an address in the database, in lower case:</p>
<pre><code>insert into customers (email, name) values ('ann@example.com', 'Ann');</code></pre>
<p>Where people can register by themselves, name that page in the setting <code>REGISTER_URL</code>: the replies then lead there.</p>`
)

const creditsPage = page(
  "Get more credits",
  `<h1>Get more credits</h1>
<p>A page costs 1 credit. A free account has 10 pages in all, a paid one its credits. What could not be converted was not charged.</p>
<h2>You use this service</h2>
<p>Ask the people who run it for more credits for the address that you send from. Then send your PDF again.</p>
<h2>You run this service</h2>
<p>Give an account credits in the database, here 100:</p>
<pre><code>update customers set plan_type = 'paid', credits_remaining = coalesce(credits_remaining, 0) + 100
where email = 'ann@example.com';</code></pre>
<p>Where people can buy credits, name that page in the setting <code>BUY_CREDITS_URL</code>: the replies then lead there.</p>`
)

const answer = (html: string) => pageResponse(html, { policy: pagePolicy("'none'") })

/** Pages for an installation that sells nothing itself: how to register, and how to get credits. */
export const accountPageRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", ACCOUNT_PAGES.register, answer(registerPage))
    yield* router.add("GET", ACCOUNT_PAGES.credits, answer(creditsPage))
  })
)
