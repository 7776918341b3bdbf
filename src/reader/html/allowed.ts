const words = (text: string): ReadonlyArray<string> => text.split(" ")

/** Allowed elements of a fragment besides MathML; of others only the content is kept, or nothing where it is not for readers. */
export const ELEMENTS: ReadonlySet<string> = new Set(
  words(
    "a abbr b bdi bdo blockquote br button caption cite code col colgroup dd del details dfn div dl dt em " +
      "fieldset figcaption figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd label legend li mark nav ol option p pre q s " +
      "samp select small span strong sub summary sup table tbody td textarea tfoot th thead time tr u ul var " +
      "wbr"
  )
)

/** MathML Core, without what embeds other markup. */
export const MATH_ELEMENTS: ReadonlySet<string> = new Set(
  words(
    "math merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace " +
      "msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none mfenced menclose"
  )
)

/** Elements dropped with their content, which is not for readers. */
export const DROPPED: ReadonlyArray<string> = words(
  "script style template noscript iframe object embed svg title head audio video canvas applet " +
    "frameset noembed noframes plaintext xmp annotation annotation-xml"
)

/** Attributes that any element may have. */
export const COMMON_ATTRIBUTES: ReadonlyArray<string> = ["id", "lang", "dir", "role"]

/** Attributes of single elements. */
export const OWN_ATTRIBUTES: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["a", ["href"]],
  ["abbr", ["title"]],
  ["col", ["span"]],
  ["colgroup", ["span"]],
  ["details", ["data-scan"]],
  ["dl", ["data-element"]],
  ["h1", ["data-title"]],
  ["img", ["src", "alt", "width", "height", "data-image", "data-region", "data-decorative"]],
  ["input", ["type", "value", "checked", "disabled", "required", "readonly", "maxlength", "aria-label"]],
  ["li", ["value", "data-open", "data-cut"]],
  ["ol", ["start", "type", "reversed", "data-open", "data-cut", "data-element"]],
  ["option", ["selected", "value"]],
  ["p", ["data-open", "data-cut", "data-element"]],
  ["select", ["disabled", "required", "multiple", "aria-label"]],
  ["button", ["disabled", "type"]],
  ["table", ["data-open", "data-cut", "data-element"]],
  ["td", ["colspan", "rowspan"]],
  ["textarea", ["disabled", "required", "readonly", "maxlength", "aria-label"]],
  ["th", ["colspan", "rowspan", "scope", "abbr"]],
  ["time", ["datetime"]],
  ["ul", ["data-open", "data-cut", "data-element"]]
])

/** Attributes of MathML elements. */
export const MATH_ATTRIBUTES: ReadonlyArray<string> = words(
  "display displaystyle scriptlevel mathvariant fence form separator stretchy symmetric largeop " +
    "movablelimits accent accentunder linethickness lspace rspace width height depth voffset " +
    "columnspan rowspan columnalign open close separators notation alttext dir"
)

/** Allowed values of attributes that do not take any value. */
export const VALUES: ReadonlyMap<string, RegExp> = new Map([
  ["dir", /^(ltr|rtl|auto)$/],
  ["scope", /^(row|col|rowgroup|colgroup)$/],
  ["start", /^-?\d{1,9}$/],
  ["value", /^[\s\S]{0,4000}$/],
  ["maxlength", /^\d{1,6}$/],
  ["colspan", /^[1-9]\d{0,2}$/],
  ["rowspan", /^[1-9]\d{0,3}$/],
  ["span", /^[1-9]\d{0,2}$/],
  ["width", /^[\d.]{1,6}(px|em|ex|%)?$/],
  ["height", /^[\d.]{1,6}(px|em|ex|%)?$/],
  ["src", /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]+$/],
  ["data-image", /^\d{1,5}$/],
  ["data-scan", /^(good|poor|nothing)$/],
  ["data-region", /^\d{1,5}(?: \d{1,5}){3,4}$/],
  ["data-element", /^\d{1,9}$/],
  ["data-title", /^$/]
])

/** Kinds of controls that a form on paper has. */
export const INPUT_TYPE = /^(text|checkbox|radio|number|date|email|tel|url)$/

/** Longest address of a link, characters. */
const MAX_ADDRESS = 2000

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:", "tel:", "ftp:", "doi:", "urn:"])

/** The address of a link, if a document may link to it; else undefined, and only the words are kept. */
export const safeAddress = (value: string): string | undefined => {
  const text = value.toWellFormed().trim()
  const url = URL.parse(/^www\./i.test(text) ? `https://${text}` : text)
  if (url === null || !SCHEMES.has(url.protocol) || url.password !== "") return undefined
  return url.href.length > MAX_ADDRESS ? undefined : url.href
}

/** The id of a page's anchor; pages from 0. */
export const pageId = (index: number): string => `page-${index + 1}`

/** The id of a document's n-th heading, from 1. */
export const headingId = (count: number): string => `section-${count}`

const TAG =
  /^[a-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|\d{3}))?(?:-(?:[A-Za-z\d]{5,8}|\d[A-Za-z\d]{3}))*$/i

/** A language tag (BCP 47, without extensions) in canonical spelling; undefined where it is invalid. */
export const languageTag = (value: string | undefined): string | undefined => {
  const text = value?.trim().replaceAll("_", "-") ?? ""
  if (!TAG.test(text)) return undefined
  // Script and variants: none may be there twice, which is a range error and not an answer.
  const long = text
    .toLowerCase()
    .split("-")
    .filter(({ length }) => length > 3)
  if (new Set(long).size < long.length) return undefined
  const [canonical] = Intl.getCanonicalLocales(text)
  return canonical === "und" || canonical?.startsWith("und-") === true ? undefined : canonical
}

/** Roles that are kept; others would say what the element is not. */
export const ROLES: ReadonlySet<string> = new Set(["doc-noteref", "doc-footnote", "math", "note"])
