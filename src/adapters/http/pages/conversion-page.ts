import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import { pathTo } from "../../../domain/pages.ts"
import { confirmDialog } from "./dashboard.ts"
import { type Html, html } from "./html.ts"

/**
 * The main part of `GET /dashboard/files/:fileId`: each page of the uploaded file beside its result. The id is a text from the
 * address; whose file it is, the API says.
 */
export const conversionMain = (fileId: string): Html => html`<div id="conversion" data-file="${fileId}">
<p><a href="${pathTo.dashboard}">All documents</a></p>
<h1 id="name">Conversion</h1>
<p id="problem" class="problem" role="alert" hidden></p>
<p id="loading" class="empty">Loading the pages…</p>
<div id="pages" hidden>
<p class="funds" id="funds" data-free-pages="${FREE_LIFETIME_PAGES}" hidden><span id="funds-left"></span></p>
<section class="card" aria-labelledby="looks-title">
<h2 id="looks-title"></h2>
<p class="facts" id="ways"></p>
<p class="facts" id="made" hidden></p>
<ul id="looks"></ul>
</section>
<section aria-labelledby="where">
<h2 id="where"></h2>
<nav class="turn" aria-label="Pages">
<a id="before" class="button">Previous page</a>
<a id="after" class="button">Next page</a>
<form id="goto" class="buttons"><label for="number">Page</label><input id="number" type="number" min="1" inputmode="numeric" required><button type="submit">Go</button></form>
</nav>
<p class="facts" id="tier"></p>
<p id="look" class="notice" hidden></p>
<div class="pair">
<figure><figcaption>As uploaded</figcaption><img id="picture" alt=""><p id="no-picture" class="empty" hidden></p></figure>
<figure><figcaption>Result</figcaption><iframe id="result" sandbox title="Result"></iframe></figure>
</div>
</section>
<section id="report" class="card" aria-labelledby="report-title" hidden>
<h2 id="report-title">Accessibility of the result</h2>
<p class="facts" id="report-facts"></p>
<ul id="report-looks"></ul>
<p class="help">What no machine can judge is left to you: whether descriptions say what matters, and whether the order makes sense.</p>
</section>
<form id="again" class="card">
<h2>The whole result</h2>
<p><a id="open" class="button">Open result</a></p>
<h2>Convert again</h2>
<label for="way">Mode</label>
<select id="way" aria-describedby="again-price"><option value="standard">Standard</option><option value="highFidelity">High fidelity</option></select>
<p class="help" id="again-price"></p>
<div class="buttons"><button type="submit">Convert again</button></div>
</form>
</div>
</div>
${confirmDialog}`
