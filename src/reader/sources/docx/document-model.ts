/** An element of mammoth's document model, with the properties that this reader uses. */
export interface Element {
  readonly type: string
  readonly children?: ReadonlyArray<Element>
  readonly value?: string
  readonly styleId?: string | null
  readonly styleName?: string | null
  readonly numbering?: unknown
  readonly font?: string | null
  /** Points. */
  readonly fontSize?: number | null
  readonly isBold?: boolean
  readonly isItalic?: boolean
  readonly isHeader?: boolean
  /** Rows that a cell covers. */
  readonly rowSpan?: number
}

export const childrenOf = ({ children }: Element): ReadonlyArray<Element> => children ?? []

/** The words of an element. */
export const textOf = (element: Element): string =>
  element.type === "text"
    ? (element.value ?? "")
    : element.type === "tab" || element.type === "break"
      ? " "
      : childrenOf(element).map(textOf).join("")

export const isBlank = (element: Element): boolean => textOf(element).trim() === ""

/** All elements of a type in an element. */
export const all = (element: Element, type: string): ReadonlyArray<Element> =>
  element.type === type ? [element] : childrenOf(element).flatMap((child) => all(child, type))

/** The runs of a paragraph that have words. */
export const runsOf = (paragraph: Element): ReadonlyArray<Element> =>
  all(paragraph, "run").filter((run) => !isBlank(run))

export const hasPicture = (element: Element): boolean => all(element, "image").length > 0

const mapped = (element: Element, type: string, change: (found: Element) => Element): Element =>
  element.type === type
    ? change(element)
    : element.children === undefined
      ? element
      : { ...element, children: element.children.map((child) => mapped(child, type, change)) }

/** Changes all elements of a type within an element. */
export const mappedIn = (element: Element, type: string, change: (found: Element) => Element): Element => ({
  ...element,
  children: childrenOf(element).map((child) => mapped(child, type, change))
})

export const isNumbered = ({ numbering }: Element): boolean => numbering !== null && numbering !== undefined

export const isTitle = ({ styleName }: Element): boolean => /^title$/i.test(styleName ?? "")

/** Heading style ids, as the rewritten parts name them. */
export const HEADING = /^Heading\d$/
