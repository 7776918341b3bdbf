/** The values of `reason` in the sign-in page's query, and the notice for each. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ended", "Your session has ended. Sign in again to go on."],
  ["admin", "The admin pages need an admin’s token."]
])

/** The main part of `GET /sign-in`: a field for a token, or how to sign in by mail. */
export const signInMain = (reason: string | undefined): string => {
  const told = reason === undefined ? undefined : REASONS.get(reason)
  return `<div class="narrow">
<h1>Sign in</h1>
${told === undefined ? "" : `<p class="notice" id="reason">${told}</p>`}
<form class="card" method="post" action="/auth/session">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" spellcheck="false" required aria-describedby="token-help${told === undefined ? "" : " reason"}">
<p class="help" id="token-help">An owner’s token leads to the dashboard, an admin’s token to the admin pages. <code>npm start</code> prints both in its terminal; <code>npm run postlane -- token</code> makes new ones.</p>
<button type="submit" class="primary">Sign in</button>
</form>
<h2>By mail</h2>
<p>The mail that came after you took part in a promotion holds a link that signs you in once, for 15 minutes after it was sent. Open it on this device and press the button there.</p>
</div>`
}
