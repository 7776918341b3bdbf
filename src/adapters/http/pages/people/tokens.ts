import { Category } from "../../../../domain/mail/suppression/policy.ts"
import { confirmDialog } from "../dashboard.ts"
import { type Html, html } from "../html.ts"
import { option, words } from "../ui.ts"

/** The place of a list of tokens. */
const place = (id: string, caption: string): Html =>
  html`<p id="no-${id}" class="empty" hidden>None yet.</p>
<div class="table" id="${id}-box" role="region" aria-labelledby="${id}-caption" tabindex="0" hidden>
<table id="${id}" class="cards"><caption id="${id}-caption">${caption}</caption><thead></thead><tbody></tbody></table>
</div>`

/** The main part of `GET /admin/tokens`: the tokens of programs that send, and those of people and programs that call the API. */
export const TOKENS = html`<p>What programs sign in with. A token’s text is shown once, when it is made; here is who has one, and when it was last used.</p>
<p id="problem" class="problem" role="alert" hidden></p>
<div id="made" class="done" hidden><p><strong id="made-name"></strong> Copy it now: it is not shown again.</p><p><code id="made-token" tabindex="-1"></code> <button type="button" id="copy">Copy</button></p></div>
<p id="loading" class="empty">Loading…</p>
<section aria-labelledby="senders-title">
<h2 id="senders-title" tabindex="-1">Programs that send</h2>
<p class="help">For SMTP submission, the relay and Resend’s API; with nothing else.</p>
<form class="card write" id="add-sender" hidden>
<div class="filters">
<div class="field"><label for="sender-name">Name of the program</label><input id="sender-name" required maxlength="100" autocomplete="off"></div>
<div class="field"><label for="sender-category">Category</label><select id="sender-category">${option("", "Any")}${Category.literals.map((one) => option(one, words(one)))}</select></div>
<div class="field"><label for="sender-from">From <span class="help">(any, where it is empty)</span></label><input id="sender-from" maxlength="1000" autocomplete="off" spellcheck="false" placeholder="shop@example.com"></div>
<div class="field"><label for="sender-rate">Mails a minute <span class="help">(no limit, where it is empty)</span></label><input id="sender-rate" type="number" min="1" max="100000" autocomplete="off"></div>
<div class="buttons"><button type="submit" class="primary">Make a sender token</button></div>
</div>
</form>
${place("senders", "Sender tokens in force, newest first")}
</section>
<section aria-labelledby="access-title">
<h2 id="access-title" tabindex="-1">Admins and owners</h2>
<p class="help">They sign in to these pages or to a customer’s documents, and call the API.</p>
<form class="card write" id="add-access" hidden>
<div class="filters">
<div class="field"><label for="access-name">Whose it is</label><input id="access-name" required maxlength="100" autocomplete="off"></div>
<div class="field"><label for="access-right">Role</label><select id="access-right">${option("admin:read", "Reader: sees everything")}${option("admin", "Admin: may change everything")}${option("owner", "Owner of documents")}</select></div>
<div class="field" id="access-customer-field" hidden><label for="access-customer">Customer’s id</label><input id="access-customer" maxlength="36" autocomplete="off" spellcheck="false"></div>
<div class="field"><label for="access-days">Days <span class="help">(until it is revoked, where it is empty)</span></label><input id="access-days" type="number" min="1" max="3650" autocomplete="off"></div>
<div class="buttons"><button type="submit" class="primary">Make a token</button></div>
</div>
</form>
${place("access", "Tokens in force, newest first")}
</section>
${confirmDialog}`
