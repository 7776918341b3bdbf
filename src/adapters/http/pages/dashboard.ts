import { ACCEPTED_FILES, KINDS_IN_WORDS } from "../../../domain/conversion/file.ts"
import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import { pathTo } from "../../../domain/pages.ts"
import { type Html, html } from "./html.ts"

/** A dialog with the parts that every one has. Its script may word the title anew before it opens. */
export const dialog = (name: string, title: string, body: Html): Html =>
  html`<dialog id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title">${title}</h2>
${body}
</dialog>`

/** The question before something that costs, or cannot be undone; the button that changes nothing comes first. */
export const confirmDialog = dialog(
  "confirm",
  "Are you sure?",
  html`<p id="confirm-text"></p>
<form method="dialog" class="buttons">
<button id="confirm-no" value="no"></button>
<button id="confirm-yes" value="yes" class="danger"></button>
</form>`
)

/** With whom a result is shared, and the form that shares it. */
export const shareDialog = dialog(
  "share",
  "Share the result",
  html`<form id="share-form">
<label for="share-recipients">Recipients</label>
<textarea id="share-recipients" rows="3" required autocomplete="off" spellcheck="false" aria-describedby="share-help"></textarea>
<p class="help" id="share-help">Mail addresses, separated by commas or on lines of their own. Each gets a link that works for 14 days.</p>
<label for="share-message">Message <span class="help">(may be left out)</span></label>
<textarea id="share-message" rows="3" maxlength="5000"></textarea>
<p id="share-problem" class="problem" role="alert" hidden></p>
<div id="share-with" hidden>
<h3>Shared with</h3>
<ul id="share-list"></ul>
<button type="button" id="share-stop" class="danger">Stop all links</button>
<p class="help">Every link to this result stops working, also for those who had it from an answer to a mail.</p>
</div>
<div class="buttons">
<button type="button" id="share-no">Cancel</button>
<button type="submit" class="primary">Share</button>
</div>
</form>`
)

/** The main part of `GET /dashboard`. */
export const dashboardMain = html`<h1>Your documents</h1>
<p class="funds" id="funds" data-free-pages="${FREE_LIFETIME_PAGES}" hidden><span id="funds-left"></span> · <a href="${pathTo.credits}">Get more</a></p>
<section class="card upload" id="drop" aria-labelledby="upload-title">
<h2 id="upload-title">Upload</h2>
<p id="upload-help">${KINDS_IN_WORDS}. Each becomes one accessible HTML file.</p>
<label class="pick"><input type="file" id="files" multiple accept="${ACCEPTED_FILES}" aria-describedby="upload-help"><span>Choose files</span></label>
<p class="help drop-help">or drop them here</p>
<p id="uploads-all" class="uploads-all" hidden><span id="uploads-count"></span><button type="button" id="stop-all">Stop all</button></p>
<ul id="uploads" class="uploads" aria-label="Uploads under way"></ul>
</section>
<section aria-labelledby="files-title">
<h2 id="files-title" tabindex="-1">Files</h2>
<details class="explain">
<summary>Which mode?</summary>
<dl>
<dt>Standard</dt><dd>Text, headings, lists and tables as they read best on every screen. Quick.</dd>
<dt>High fidelity</dt><dd>A model reads each page: better with scans, formulas and hard layouts. Slower; long documents may wait for a batch.</dd>
<dt>Keep the layout</dt><dd>PDF only. The pages look as they did on paper, with the text in them accessible.</dd>
</dl>
<p>One credit a page, charged when the result is there; nothing after a failure or a cancel. <a href="${pathTo.credits}">More credits</a></p>
</details>
<p id="list-problem" class="problem sticky" hidden></p>
<div id="tools" class="tools" hidden>
<label class="check"><input type="checkbox" id="every"> Select all shown</label>
<div class="field"><label for="search">Search by name</label><input id="search" type="search" autocomplete="off" spellcheck="false"></div>
<div class="field"><label for="state">Show</label><select id="state"><option value="">All</option><option value="ready">Not converted yet</option><option value="working">Under way</option><option value="done">Finished</option><option value="failed">Could not be converted</option></select></div>
</div>
<div id="chosen" class="chosen" role="group" aria-label="Selected files" hidden>
<p id="chosen-count" class="facts"></p>
<div class="field"><label for="chosen-way">Mode</label><select id="chosen-way"><option value="">As chosen for each file</option><option value="standard">Standard</option><option value="highFidelity">High fidelity</option></select></div>
<button type="button" id="convert-chosen" class="primary">Convert</button>
<a id="download-chosen" class="button" download="results.zip" hidden>Download</a>
<button type="button" id="delete-chosen" class="danger">Delete</button>
</div>
<p id="chosen-problem" class="problem" hidden></p>
<p id="no-match" class="empty" hidden></p>
<p id="empty" class="empty" hidden>No files yet. Upload one above, then convert it here.</p>
<p id="loading" class="empty">Loading your files…</p>
<ul id="rows" class="list rows"></ul>
</section>
<section id="mailed" aria-labelledby="mailed-title" hidden>
<h2 id="mailed-title">Documents that you mailed</h2>
<p class="help">The newest mails to the convert address, and what became of each. Results that no mail brought as an attachment can be opened here for 7 days.</p>
<ul id="mails" class="mailed"></ul>
</section>
<section aria-labelledby="books-title">
<h2 id="books-title">Account</h2>
<details class="explain" id="charges-book">
<summary>Charges and what is set aside</summary>
<p id="charges-problem" class="problem" role="alert" hidden></p>
<p id="no-charges" class="empty" hidden>Nothing was charged yet, and nothing is set aside.</p>
<ul id="charges" class="mailed" aria-label="Charges" hidden></ul>
<div id="more-charges" class="buttons"></div>
</details>
<details class="explain" id="tokens-book">
<summary>Tokens</summary>
<p class="help">What programs act for you with. Who runs this server makes and revokes them.</p>
<p id="tokens-problem" class="problem" role="alert" hidden></p>
<p id="no-tokens" class="empty" hidden>No token acts for you.</p>
<ul id="tokens" class="mailed" aria-label="Tokens" hidden></ul>
</details>
<details class="explain" id="shares-book">
<summary id="shares-summary">What is shared with whom</summary>
<p id="shares-problem" class="problem" role="alert" hidden></p>
<p id="no-shares" class="empty" hidden>No result is shared with anybody.</p>
<ul id="shares" class="mailed" aria-label="Shared results" hidden></ul>
</details>
</section>
${confirmDialog}
${shareDialog}`
