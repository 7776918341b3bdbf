import { type DefaultTreeAdapterTypes, parse } from "parse5"

import type { ClientSupport, UnsupportedFeature } from "../../ports/mail/message-views.ts"
import { textOf } from "../../reader/sources/pdf/engine/binary.ts"

/** A feature in the data of caniemail.com: support by family, platform and version (`y`, `n`, `a #1`, `u`). */
interface Feature {
  readonly title: string
  readonly category: string
  readonly url?: string
  readonly stats: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>
}

interface Data {
  readonly last_update_date: string
  readonly nicenames: Readonly<Record<"family" | "platform", Readonly<Record<string, string>>>>
  readonly data: ReadonlyArray<Feature>
}

const load = async () => JSON.parse(await textOf("caniemail/caniemail.json")) as Data

/** What an HTML document uses, in lower case. */
interface Used {
  /** Tags, also with a type: `input`, `input type="text"`. */
  readonly tags: Set<string>
  readonly attributes: Set<string>
  /** Properties, also with their value: `display`, `display:flex`. */
  readonly declarations: Set<string>
  /** What each at-rule says before its block. */
  readonly atRules: Set<string>
  /** Endings of the pictures' names. */
  readonly pictures: Set<string>
  /** Every style sheet and style, one after another. */
  css: string
}

const readCss = (used: Used, css: string): void => {
  used.css += `${css}\n`
  for (const piece of css.split(/[;{}]/)) {
    const words = piece.trim()
    const colon = words.indexOf(":")
    if (words.startsWith("@")) used.atRules.add(words.slice(0, 500))
    else if (colon > 0) {
      const property = words.slice(0, colon).trim()
      used.declarations.add(property)
      used.declarations.add(`${property}:${words.slice(colon + 1, colon + 100).trim()}`)
    }
  }
}

const readElement = (used: Used, { attrs, childNodes, tagName }: DefaultTreeAdapterTypes.Element): void => {
  used.tags.add(tagName)
  for (const { name, value } of attrs) {
    used.attributes.add(name)
    if (name === "type") used.tags.add(`${tagName} type="${value.toLowerCase()}"`)
    if (name === "style") readCss(used, value.toLowerCase())
    if (name === "src" && tagName === "img") {
      const path = value
        .slice(0, 2_000)
        .toLowerCase()
        .split(/[?#;,]/, 1)[0]!
      used.pictures.add(path.split(/[./]/).at(-1)!.replace("jpeg", "jpg").replace("svg+xml", "svg"))
    }
  }
  if (tagName === "style") {
    for (const node of childNodes) if ("value" in node) readCss(used, node.value.toLowerCase())
  }
}

const usedIn = (html: string): Used => {
  const used: Used = {
    tags: new Set(),
    attributes: new Set(),
    declarations: new Set(),
    atRules: new Set(),
    pictures: new Set(),
    css: ""
  }
  const pending: Array<DefaultTreeAdapterTypes.ParentNode> = [parse(html, { sourceCodeLocationInfo: true })]
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const node of parent.childNodes) {
      if (!("tagName" in node)) continue
      // The parser adds html, head and body where the message has none.
      if (node.sourceCodeLocation) readElement(used, node)
      pending.push(node)
    }
  }
  return used
}

/** Names in a title, such as `gap, column-gap, row-gap` and `srcset and sizes attributes`. */
const namesIn = (title: string): ReadonlyArray<string> =>
  title
    .replace(/ (?:attributes?|property|properties|shorthand|css property|longhand properties)$/, "")
    .split(/, | & | and /)

const usesStyle = (used: Used, title: string): boolean => {
  if (title.startsWith("@")) {
    const [rule = "", ...conditions] = title.replaceAll(/[(),]/g, " ").split(/\s+/).filter(Boolean)
    const wanted = conditions.filter((word) => !word.startsWith("@"))
    return [...used.atRules].some(
      (words) =>
        words.startsWith(rule) &&
        (wanted.length === 0 || wanted.some((condition) => words.includes(condition)))
    )
  }
  if (title.startsWith(":")) return used.css.includes(title.replace(/\(\)$/, ""))
  if (/\(\)/.test(title)) return namesIn(title).some((name) => used.css.includes(name.replace(")", "")))
  return namesIn(title.replace(": ", ":")).some((name) => used.declarations.has(name))
}

const usesElement = (used: Used, title: string): boolean => {
  const tags = title.match(/<[^<>]{1,40}>/g)?.map((tag) => tag.slice(1, -1))
  if (tags !== undefined) return tags.some((tag) => used.tags.has(tag))
  return / attributes?$/.test(title) && namesIn(title).some((name) => used.attributes.has(name))
}

/** Whether a document uses what a title names. Titles that name nothing in particular (units, selectors) are passed over. */
const uses = (used: Used, { category, title }: Feature): boolean => {
  const name = title.toLowerCase()
  if (category === "css") return usesStyle(used, name)
  if (category === "html") return usesElement(used, name)
  return category === "image" && used.pictures.has(name.split(" ", 1)[0]!)
}

const byVersion = new Intl.Collator("en", { numeric: true }).compare

const supportOf = ({ nicenames }: Data, feature: Feature): UnsupportedFeature => {
  const none: Array<string> = []
  const partial: Array<string> = []
  for (const [family, platforms] of Object.entries(feature.stats)) {
    const supports = Object.entries(platforms).map(([platform, versions]) => {
      const newest = Object.keys(versions).sort(byVersion).at(-1)
      return { name: nicenames.platform[platform] ?? platform, support: newest && versions[newest] }
    })
    for (const [kind, clients] of [
      ["n", none],
      ["a", partial]
    ] as const) {
      const names = supports.flatMap(({ name, support }) =>
        support?.startsWith(kind) === true ? [name] : []
      )
      if (names.length > 0) clients.push(`${nicenames.family[family] ?? family} (${names.join(", ")})`)
    }
  }
  return {
    title: feature.title,
    url: feature.url,
    none: none.sort(byVersion),
    partial: partial.sort(byVersion)
  }
}

/** What the clients that caniemail.com knows make of HTML. */
export const clientSupport = async (html: string): Promise<ClientSupport> => {
  const data = await load()
  const used = usedIn(html)
  return {
    updated: data.last_update_date.slice(0, 10),
    features: data.data
      .filter((feature) => uses(used, feature))
      .map((feature) => supportOf(data, feature))
      .filter(({ none, partial }) => none.length + partial.length > 0)
      .sort((one, other) => other.none.length - one.none.length || byVersion(one.title, other.title))
  }
}
