import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import { pathTo } from "../../../domain/pages.ts"
import { confirmDialog, shareDialog } from "./dashboard.ts"
import { type Html, html } from "./html.ts"

/** The pages that are ready of a conversion under way. Their documents are strangers': they run nothing and see nothing of the page. */
const preview = html`<section id="preview" aria-labelledby="preview-title" hidden>
<h2 id="preview-title">Preview</h2>
<p class="notice"><strong>Unfinished:</strong> <span id="preview-ready"></span> Headings, links and notes may still change. The result takes this place when it is there.</p>
<nav class="turn" aria-label="Pages that can be read so far">
<button type="button" id="preview-before">Previous page<span class="hidden"> of the preview</span></button>
<button type="button" id="preview-after">Next page<span class="hidden"> of the preview</span></button>
<form id="preview-goto" class="buttons"><label for="preview-number">Page<span class="hidden"> of the preview</span></label><input id="preview-number" type="number" min="1" inputmode="numeric" required><button type="submit">Go<span class="hidden"> to the page of the preview</span></button></form>
</nav>
<div class="pair"><figure><figcaption id="preview-where"></figcaption><iframe id="preview-page" sandbox="" tabindex="0" title="Preview"></iframe></figure></div>
</section>`

/** The uploaded file and its result, page by page. */
const compare = html`<section id="compare" aria-labelledby="compare-title" hidden>
<h2 id="compare-title">Compare</h2>
<p class="facts"><span id="looks-title"></span> <span id="ways"></span></p>
<ul id="looks"></ul>
<nav aria-label="Pages as pictures"><ol id="thumbs" class="thumbs"></ol></nav>
<h3 id="where">Page</h3>
<nav class="turn" aria-label="Pages">
<a id="before" class="button">Previous page</a>
<a id="after" class="button">Next page</a>
<form id="goto" class="buttons"><label for="number">Page</label><input id="number" type="number" min="1" inputmode="numeric" required><button type="submit">Go</button></form>
<a id="download" class="button" download>Download<span class="hidden"> the result</span></a>
<button type="button" id="share-result">Share<span class="hidden"> the result</span></button>
</nav>
<p class="help">The keys ← and → turn the page. Both sides scroll together. <span id="tier"></span></p>
<p id="look" class="notice" hidden></p>
<div class="pair">
<figure><figcaption>As uploaded</figcaption><div id="side" class="side" tabindex="0" role="region" aria-label="The page as uploaded"><img id="picture" alt=""><p id="no-picture" class="empty" hidden></p></div></figure>
<figure><figcaption>Result</figcaption><iframe id="result" sandbox="allow-same-origin" title="Result"></iframe></figure>
</div>
</section>`

/**
 * The main part of `GET /dashboard/files/:fileId`: a document in any state, its history, and the comparison with its result. The API
 * checks that the id, which comes from the address, names a file of the caller.
 */
export const conversionMain = (fileId: string): Html => html`<div id="conversion" data-file="${fileId}">
<p><a href="${pathTo.dashboard}">All documents</a></p>
<h1 id="name">Document</h1>
<p class="funds" id="funds" data-free-pages="${FREE_LIFETIME_PAGES}" hidden><span id="funds-left"></span> · <a href="${pathTo.credits}">Get more</a></p>
<p id="problem" class="problem" role="alert" hidden></p>
<p id="loading" class="empty">Loading the document…</p>
<div id="document" hidden>
<h2 class="hidden" id="now" tabindex="-1">State</h2>
<ul id="rows" class="list rows one" aria-labelledby="now"></ul>
<dl id="facts" class="facts-list"></dl>
${preview}
${compare}
<section id="report" class="card" aria-labelledby="report-title" hidden>
<h2 id="report-title">Accessibility of the result</h2>
<p class="facts" id="report-facts"></p>
<ul id="report-looks"></ul>
<p class="help">What no machine can judge is left to you: whether descriptions say what matters, and whether the order makes sense.</p>
</section>
<section aria-labelledby="happened">
<h2 id="happened">What happened</h2>
<ol id="events" class="timeline"></ol>
</section>
<section id="again" aria-labelledby="again-title">
<h2 id="again-title">What converting costs</h2>
<dl id="costs" class="facts-list"></dl>
</section>
</div>
</div>
${confirmDialog}
${shareDialog}`
