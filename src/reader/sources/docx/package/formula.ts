import { element, type HtmlElement, type HtmlNode, serialize } from "../../../model/html-tree.ts"
import type { MathNode } from "./math-builder.ts"
import { isOff } from "./styles.ts"

const isNode = (child: MathNode | string | undefined): child is MathNode => typeof child === "object"

const childrenOf = (node: MathNode, name: string): ReadonlyArray<MathNode> =>
  node.children.filter((child): child is MathNode => isNode(child) && child.name === name)

const childOf = (node: MathNode | undefined, name: string): MathNode | undefined =>
  node === undefined ? undefined : childrenOf(node, name)[0]

const valueOf = (said: MathNode | undefined): string | undefined =>
  said === undefined ? undefined : (said.attributes.get("val") ?? "")

/** What an element's properties say; undefined where they say nothing. */
const property = (node: MathNode, name: string): string | undefined =>
  valueOf(childOf(childOf(node, `${node.name}Pr`), name))

/** Named is on, unless it is said to be off. */
const isOn = (value: string | undefined): boolean => value !== undefined && !isOff(value)

/** First code points of Unicode's mathematical alphabets: capitals, small letters. */
const KINDS = new Map(
  Object.entries<readonly [number, number]>({
    script: [0x1d49c, 0x1d4b6],
    fraktur: [0x1d504, 0x1d51e],
    "double-struck": [0x1d538, 0x1d552],
    "sans-serif": [0x1d5a0, 0x1d5ba],
    monospace: [0x1d670, 0x1d68a],
    b: [0x1d400, 0x1d41a],
    bi: [0x1d468, 0x1d482]
  })
)
/** Letters that Unicode had before the rest of their alphabet, which has gaps at their places. */
const OLDER = new Map(
  Object.entries<ReadonlyArray<string>>({
    script: Array.from("ℬℰℱℋℐℒℳℛℯℊℴ"),
    fraktur: Array.from("ℭℌℑℜℨ"),
    "double-struck": Array.from("ℂℍℕℙℚℝℤ")
  })
)

/** A letter of the kind that a run asks for. */
const letterOf = (letter: string, kind: string): string => {
  const begin = KINDS.get(kind)
  if (begin === undefined || !/^[A-Za-z]$/.test(letter)) return letter
  const older = OLDER.get(kind)?.find((one) => one.normalize("NFKC") === letter)
  if (older !== undefined) return older
  const [capitals, small] = begin
  return String.fromCodePoint(
    /[A-Z]/.test(letter) ? capitals + letter.charCodeAt(0) - 65 : small + letter.charCodeAt(0) - 97
  )
}

/** Splits a run into numbers, letters, spaces and signs: of variables letter by letter, of text word by word. */
const VARIABLES = /\d+(?:[.,]\d+)*|\p{L}\p{M}*|\s+|[^\s\p{L}\d]\p{M}*/gu
const WORDS = /\d+(?:[.,]\d+)*|(?:\p{L}\p{M}*)+|\s+|[^\s\p{L}\d]\p{M}*/gu

const SPACE = "\u00a0"
const spaced = (text: string): string => text.replaceAll(/\s+/g, SPACE)

const leaf = (token: string, kind: string, upright: boolean): ReadonlyArray<HtmlNode> => {
  if (/^\d/.test(token)) return [element("mn", {}, [token])]
  if (/^\s/.test(token)) return [element("mtext", {}, [SPACE])]
  if (!/^\p{L}/u.test(token)) return [element("mo", {}, [token])]
  const alone = Array.from(token).length === 1
  return [element("mi", upright && alone ? { mathvariant: "normal" } : {}, [letterOf(token, kind)])]
}

const textIn = (node: MathNode): string =>
  node.children.map((child) => (isNode(child) ? textIn(child) : child)).join("")

/** Converts a run: text as words, else sign by sign. */
const run = (node: MathNode): ReadonlyArray<HtmlNode> => {
  const text = childrenOf(node, "t").map(textIn).join("")
  if (text === "") return []
  if (isOn(property(node, "nor"))) return [element("mtext", {}, [spaced(text)])]
  const style = property(node, "sty")
  const script = property(node, "scr")
  const kind = script !== undefined && script !== "roman" ? script : (style ?? "")
  const upright = style === "p"
  return (text.match(upright ? WORDS : VARIABLES) ?? []).flatMap((token) => leaf(token, kind, upright))
}

const row = (nodes: ReadonlyArray<HtmlNode>): HtmlElement => {
  const [only, ...rest] = nodes
  return typeof only === "object" && rest.length === 0 ? only : element("mrow", {}, nodes)
}

/** The content of a part of an element, such as a fraction's `num`. */
const part = (node: MathNode, name: string): HtmlElement => {
  const found = childOf(node, name)
  return row(found === undefined ? [] : contentOf(found))
}

const isEmptyPart = (node: MathNode, name: string): boolean => {
  const found = childOf(node, name)
  return found === undefined || textIn(found).trim() === ""
}

/** Combining accents, and the spacing characters for the same accents. */
const ACCENTS = new Map(
  Object.entries<string>({
    "\u0300": "`",
    "\u0301": "´",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "¯",
    "\u0305": "¯",
    "\u0306": "˘",
    "\u0307": "˙",
    "\u0308": "¨",
    "\u030a": "˚",
    "\u030c": "ˇ",
    "\u0332": "_",
    "\u20d6": "←",
    "\u20d7": "→",
    "\u20e1": "↔"
  })
)

const sign = (text: string, attributes: Readonly<Record<string, string>> = {}): HtmlElement =>
  element("mo", attributes, [text])

/** A bracket; none where it is said to be nothing. */
const fence = (text: string, form: "prefix" | "infix" | "postfix"): ReadonlyArray<HtmlNode> =>
  text === "" ? [] : [sign(text, { fence: "true", form, stretchy: "true" })]

const brackets = (node: MathNode): HtmlElement => {
  const parts = childrenOf(node, "e").map((one) => contentOf(one))
  const separator = fence(property(node, "sepChr") ?? "|", "infix")
  return element("mrow", {}, [
    ...fence(property(node, "begChr") ?? "(", "prefix"),
    ...parts.flatMap((one, at) => (at === 0 ? one : [...separator, ...one])),
    ...fence(property(node, "endChr") ?? ")", "postfix")
  ])
}

const fraction = (node: MathNode): HtmlElement => {
  const [above, below] = [part(node, "num"), part(node, "den")]
  const type = property(node, "type")
  if (type === "lin" || type === "skw") return element("mrow", {}, [above, sign("/"), below])
  return element("mfrac", type === "noBar" ? { linethickness: "0" } : {}, [above, below])
}

/** Integrals have their limits behind them, other operators above and below. */
const INTEGRAL = /^[\u222b-\u2233\u2a0b-\u2a1c]$/u

const operator = (node: MathNode): HtmlElement => {
  const text = property(node, "chr") || "∫"
  const above = (property(node, "limLoc") ?? (INTEGRAL.test(text) ? "subSup" : "undOvr")) === "undOvr"
  const big = sign(text, { largeop: "true", movablelimits: "false" })
  const low = !isOn(property(node, "subHide")) && !isEmptyPart(node, "sub")
  const high = !isOn(property(node, "supHide")) && !isEmptyPart(node, "sup")
  const limits = [...(low ? [part(node, "sub")] : []), ...(high ? [part(node, "sup")] : [])]
  const name =
    low && high
      ? above
        ? "munderover"
        : "msubsup"
      : low
        ? above
          ? "munder"
          : "msub"
        : above
          ? "mover"
          : "msup"
  return element("mrow", {}, [
    limits.length === 0 ? big : element(name, {}, [big, ...limits]),
    part(node, "e")
  ])
}

/** A sign above or below something, as wide as that. */
const withSign = (node: MathNode, text: string, isAbove: boolean): HtmlElement =>
  element(isAbove ? "mover" : "munder", isAbove ? { accent: "true" } : { accentunder: "true" }, [
    part(node, "e"),
    sign(text, { stretchy: "true" })
  ])

const table = (rows: ReadonlyArray<ReadonlyArray<MathNode>>): HtmlElement =>
  element(
    "mtable",
    {},
    rows.map((cells) =>
      element(
        "mtr",
        {},
        cells.map((cell) => element("mtd", {}, contentOf(cell)))
      )
    )
  )

const withText = (node: MathNode, change: (text: string) => string): MathNode => ({
  ...node,
  children: node.children.map((child) =>
    isNode(child) ? withText(child, change) : node.name === "t" ? change(child) : child
  )
})

/** Drops `&`, the alignment mark of stacked equations. */
const withoutAlignment = (node: MathNode): MathNode => withText(node, (text) => text.replaceAll("&", ""))

/** The number of an equation follows a `#`; it gets its own cell. */
const withNumber = (node: MathNode): ReadonlyArray<MathNode> => {
  const isMarked = (child: MathNode["children"][number]): boolean =>
    isNode(child) &&
    child.name === "r" &&
    childrenOf(child, "t").some(({ children }) =>
      children.some((text) => !isNode(text) && text.includes("#"))
    )
  const at = node.children.findIndex(isMarked)
  const marked = node.children[at]
  if (marked === undefined || !isNode(marked)) return [node]
  const [before, behind] = [node.children.slice(0, at), node.children.slice(at + 1)]
  return [
    { ...node, children: [...before, withText(marked, (text) => text.slice(0, text.indexOf("#")))] },
    { ...node, children: [withText(marked, (text) => text.slice(text.indexOf("#") + 1)), ...behind] }
  ]
}

/** Stacked equations. Word numbers them only where they fill the line. */
const equations = (node: MathNode): HtmlElement => {
  const isNumbered = isOn(property(node, "maxDist") ?? "0")
  return table(
    childrenOf(node, "e").map((one) => {
      const aligned = withoutAlignment(one)
      return isNumbered ? withNumber(aligned) : [aligned]
    })
  )
}

const radical = (node: MathNode): HtmlElement =>
  isOn(property(node, "degHide")) || isEmptyPart(node, "deg")
    ? element("msqrt", {}, [part(node, "e")])
    : element("mroot", {}, [part(node, "e"), part(node, "deg")])

type Written = (node: MathNode) => ReadonlyArray<HtmlNode>

/** What is written for each element; of others what they hold. */
const WRITTEN: ReadonlyMap<string, Written> = new Map<string, Written>([
  ["r", run],
  [
    "acc",
    (node) => [
      withSign(node, ACCENTS.get(property(node, "chr") ?? "\u0302") ?? property(node, "chr") ?? "", true)
    ]
  ],
  [
    "bar",
    (node) => [property(node, "pos") === "top" ? withSign(node, "¯", true) : withSign(node, "_", false)]
  ],
  ["borderBox", (node) => [element("menclose", { notation: "box" }, [part(node, "e")])]],
  ["d", (node) => [brackets(node)]],
  ["eqArr", (node) => [equations(node)]],
  ["f", (node) => [fraction(node)]],
  ["func", (node) => [element("mrow", {}, [part(node, "fName"), sign("\u2061"), part(node, "e")])]],
  ["groupChr", (node) => [withSign(node, property(node, "chr") ?? "⏟", property(node, "pos") === "top")]],
  ["limLow", (node) => [element("munder", {}, [part(node, "e"), part(node, "lim")])]],
  ["limUpp", (node) => [element("mover", {}, [part(node, "e"), part(node, "lim")])]],
  ["m", (node) => [table(childrenOf(node, "mr").map((one) => childrenOf(one, "e")))]],
  ["nary", (node) => [operator(node)]],
  [
    "phant",
    (node) =>
      isOn(property(node, "show") ?? "1") ? [part(node, "e")] : [element("mphantom", {}, [part(node, "e")])]
  ],
  ["rad", (node) => [radical(node)]],
  [
    "sPre",
    (node) => [
      element("mmultiscripts", {}, [
        part(node, "e"),
        element("mprescripts", {}),
        part(node, "sub"),
        part(node, "sup")
      ])
    ]
  ],
  ["sSub", (node) => [element("msub", {}, [part(node, "e"), part(node, "sub")])]],
  ["sSup", (node) => [element("msup", {}, [part(node, "e"), part(node, "sup")])]],
  ["sSubSup", (node) => [element("msubsup", {}, [part(node, "e"), part(node, "sub"), part(node, "sup")])]]
])

/** Formatting, and deleted or moved text. */
const UNREAD = /Pr$|^(?:del|moveFrom)$/

const contentOf = ({ children }: MathNode): ReadonlyArray<HtmlNode> =>
  children.flatMap((child) => {
    // Text outside of a run occurs where elements are nested too deep to be read one by one; between them is white space.
    if (!isNode(child)) return child.trim() === "" ? [] : [element("mtext", {}, [spaced(child)])]
    if (UNREAD.test(child.name)) return []
    return child.isApart ? contentOf(child) : (WRITTEN.get(child.name) ?? contentOf)(child)
  })

/** Office Math (ECMA-376, 22.1) as MathML; empty where it holds nothing. */
export const writeFormula = (math: MathNode, isDisplayed: boolean): string => {
  const inside = contentOf(math)
  return inside.length === 0
    ? ""
    : serialize([element("math", isDisplayed ? { display: "block" } : {}, inside)])
}
