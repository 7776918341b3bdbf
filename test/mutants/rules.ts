/**
 * Faults in a module of pure rules: a comparison turned or moved by one, a condition that always or never holds, a case that falls
 * through, a member of a list or a call dropped. Each is a text of its own, and all of them are in one text that is switched from fault
 * to fault while it runs (`switched`; what it calls is in `switch.ts`). Pure: what runs them is `main.ts`.
 */
import { parseSync, Visitor } from "oxc-parser"

import type { Mutant } from "./sql.ts"

interface Span {
  readonly start: number
  readonly end: number
}

/** A fault of a module. */
interface RuleMutant extends Mutant {
  readonly number: number
}

export interface RuleMutants {
  readonly mutants: ReadonlyArray<RuleMutant>
  /** Above every number of theirs. */
  readonly size: number
  /** The module with all of them, each off. `first`: the number of the first, of all modules. */
  readonly switched: (first: number) => string
}

/** What stands in the place of an operator, one fault each. */
export const OPERATORS: Readonly<Record<string, ReadonlyArray<string>>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"]
}

/** Methods by the one that is called in their place; `undefined`: none is, and what it was called on stays. */
const METHODS: Readonly<Record<string, string | undefined>> = {
  min: "max",
  max: "min",
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
  find: "findLast",
  findLast: "find",
  filter: undefined,
  slice: undefined,
  toLowerCase: undefined,
  toReversed: undefined,
  toSorted: undefined,
  trim: undefined
}

/** What the switched module calls: the name in it of `Switch`. */
export const SWITCH = "globalThis.__faults"

/** A method of everything that returns what it was called on. */
export const ITSELF = "__itself"

/** A text that takes the place of a span, or stands around it; made once the numbers are known. */
interface Edit extends Span {
  readonly before: (first: number) => string
  /** Undefined: `before` takes the place of the span. */
  readonly after: string | undefined
}

/** Texts around spans and in their places, one in the other. */
const edited = (text: string, edits: ReadonlyArray<Edit>, first: number): string => {
  const opens = new Map<number, Array<string>>()
  const closes = new Map<number, Array<string>>()
  const replaced = new Map<number, { readonly end: number; readonly by: string }>()
  const at = (map: Map<number, Array<string>>, place: number) => {
    const there = map.get(place) ?? []
    map.set(place, there)
    return there
  }
  for (const { after, before, end, start } of edits) {
    if (after === undefined) {
      replaced.set(start, { end, by: before(first) })
      continue
    }
    // The first is the outer one.
    at(opens, start).push(before(first))
    at(closes, end).unshift(after)
  }
  const parts: Array<string> = []
  for (let place = 0; place <= text.length;) {
    parts.push(...(closes.get(place) ?? []), ...(opens.get(place) ?? []))
    const found = replaced.get(place)
    if (found === undefined) parts.push(text[place++] ?? "")
    else {
      parts.push(found.by)
      place = found.end
    }
  }
  return parts.join("")
}

const LOGICAL = new Set(["&&", "||", "??"])

/** The module with each fault of each kind. */
export const mutantsOf = (path: string, text: string): RuleMutants => {
  const found: Array<Mutant & Span> = []
  const types: Array<Span> = []
  const edits: Array<Edit & { readonly isOfType: () => boolean }> = []
  const isOfType = ({ end, start }: Span) => types.some((type) => type.start <= start && end <= type.end)
  const put = ({ end, start }: Span, after: string, about: string): number => {
    const before = text.slice(start, end).replace(/\s+/g, " ")
    return (
      found.push({
        start,
        end,
        about: `${about}: \`${before.length > 60 ? `${before.slice(0, 60)}…` : before}\` → \`${after.slice(0, 40).replace(/\s+/g, " ")}\``,
        line: text.slice(0, start).split("\n").length,
        text: text.slice(0, start) + after + text.slice(end)
      }) - 1
    )
  }
  const around = (span: Span, before: (first: number) => string, after: string) =>
    void edits.push({ ...span, before, after, isOfType: () => isOfType(span) })
  const inPlaceOf = (span: Span, by: (first: number) => string) =>
    void edits.push({ ...span, before: by, after: undefined, isOfType: () => isOfType(span) })

  const operator = (
    node: Span & { readonly left: Span; readonly operator: string; readonly right: Span }
  ) => {
    const others = OPERATORS[node.operator] ?? []
    const between = { start: node.left.end, end: node.right.start }
    const numbers = others.map((other) =>
      put(
        between,
        text.slice(between.start, between.end).replace(node.operator, () => other),
        "an operator"
      )
    )
    const [number] = numbers
    if (number === undefined) return
    const isLogical = LOGICAL.has(node.operator)
    const call = (first: number) =>
      `${SWITCH}.${isLogical ? "holds" : "operator"}(${first + number}, "${node.operator}", `
    around(node, (first) => `(${call(first)}`, isLogical ? `) : ${SWITCH}.left)` : "))")
    inPlaceOf(between, () => (isLogical ? ") ? (" : ", "))
  }
  const condition = (test: Span) => {
    const number = put(test, "true", "a condition")
    put(test, "false", "a condition")
    around(
      test,
      (first) => `(${SWITCH}.is(${first + number}) ? true : ${SWITCH}.is(${first + number + 1}) ? false : (`,
      "))"
    )
  }
  const unless = (span: Span, number: number) =>
    around(span, (first) => `{ if (!${SWITCH}.is(${first + number})) {`, "} }")
  const loop = ({ body }: { readonly body: Span }) => around(body, () => `{ ${SWITCH}.turn(); `, " }")

  new Visitor({
    TSLiteralType: (node) => void types.push(node),
    ForStatement: loop,
    ForOfStatement: loop,
    WhileStatement: loop,
    BinaryExpression: operator,
    LogicalExpression: operator,
    ConditionalExpression: ({ test }) => condition(test),
    IfStatement: ({ test }) => condition(test),
    UnaryExpression: (node) => {
      if (node.operator !== "!") return
      const { argument } = node
      const number = put(node, `(${text.slice(argument.start, argument.end)})`, "a not")
      around(argument, (first) => `${SWITCH}.not(${first + number}, `, ")")
      inPlaceOf({ start: node.start, end: argument.start }, () => "")
    },
    Literal: (node) => {
      if (typeof node.value !== "boolean") return
      const { value } = node
      const number = put(node, String(!value), "a constant")
      inPlaceOf(node, (first) => `(${SWITCH}.is(${first + number}) ? ${!value} : ${value})`)
    },
    SwitchCase: ({ consequent }) => {
      const [first, last] = [consequent[0], consequent.at(-1)]
      if (first === undefined || last === undefined) return
      const span = { start: first.start, end: last.end }
      unless(span, put(span, "", "a case that falls through"))
    },
    ArrayExpression: (node) => {
      if (node.elements.length < 2) return
      for (const [index, element] of node.elements.entries()) {
        const [before, next] = [node.elements[index - 1], node.elements[index + 1]]
        if (element?.type !== "Literal") continue
        const span = next
          ? { start: element.start, end: next.start }
          : { start: before?.end ?? element.start, end: element.end }
        const number = put(span, "", "a member")
        around(element, (first) => `...(${SWITCH}.is(${first + number}) ? [] : [`, "])")
      }
    },
    CallExpression: (node) => {
      const { callee } = node
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier" || callee.computed)
        return
      const { name } = callee.property
      if (!Object.hasOwn(METHODS, name)) return
      const other = METHODS[name]
      const number =
        other === undefined
          ? put({ start: callee.object.end, end: node.end }, "", "a call")
          : put(callee.property, other, "a call")
      inPlaceOf(
        { start: callee.object.end, end: callee.property.end },
        (first) =>
          `${callee.optional ? "?." : ""}[${SWITCH}.is(${first + number}) ? "${other ?? ITSELF}" : "${name}"]`
      )
    },
    ExpressionStatement: (node) => {
      if (node.expression.type === "CallExpression" || node.expression.type === "YieldExpression")
        unless(node, put(node, "", "a statement"))
    }
  }).visit(parseSync(path, text).program)
  return {
    size: found.length,
    mutants: found
      .map((mutant, number) => ({ ...mutant, number }))
      .filter((mutant) => !isOfType(mutant))
      .toSorted((one, other) => one.start - other.start),
    switched: (first) =>
      edited(
        text,
        edits.filter((edit) => !edit.isOfType()),
        first
      )
  }
}
