/**
 * Faults in a module of pure rules, one at a time: a comparison turned or moved by one, a condition that always or never holds, a case
 * that falls through, a member of a list or a call dropped. Pure: what runs them is `main.ts`.
 */
import { parseSync, Visitor } from "oxc-parser"

import type { Mutant } from "./sql.ts"

interface Span {
  readonly start: number
  readonly end: number
}

const OPERATORS: Readonly<Record<string, ReadonlyArray<string>>> = {
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

/** The module with each fault of each kind, one at a time. */
export const mutantsOf = (path: string, text: string): ReadonlyArray<Mutant> => {
  const mutants: Array<Mutant & Span> = []
  const types: Array<Span> = []
  const put = ({ end, start }: Span, after: string, about: string) => {
    const before = text.slice(start, end).replace(/\s+/g, " ")
    mutants.push({
      start,
      end,
      about: `${about}: \`${before.length > 60 ? `${before.slice(0, 60)}…` : before}\` → \`${after.slice(0, 40).replace(/\s+/g, " ")}\``,
      line: text.slice(0, start).split("\n").length,
      text: text.slice(0, start) + after + text.slice(end)
    })
  }
  const operator = (
    node: Span & { readonly left: Span; readonly operator: string; readonly right: Span }
  ) => {
    for (const other of OPERATORS[node.operator] ?? []) {
      const between = text.slice(node.left.end, node.right.start)
      put(
        { start: node.left.end, end: node.right.start },
        between.replace(node.operator, () => other),
        "an operator"
      )
    }
  }
  const condition = (test: Span) => {
    put(test, "true", "a condition")
    put(test, "false", "a condition")
  }
  new Visitor({
    TSLiteralType: (node) => void types.push(node),
    BinaryExpression: operator,
    LogicalExpression: operator,
    ConditionalExpression: ({ test }) => condition(test),
    IfStatement: ({ test }) => condition(test),
    UnaryExpression: (node) => {
      if (node.operator === "!") put(node, `(${text.slice(node.argument.start, node.argument.end)})`, "a not")
    },
    Literal: (node) => {
      if (typeof node.value === "boolean") put(node, String(!node.value), "a constant")
    },
    SwitchCase: ({ consequent }) => {
      const [first, last] = [consequent[0], consequent.at(-1)]
      if (first !== undefined && last !== undefined)
        put({ start: first.start, end: last.end }, "", "a case that falls through")
    },
    ArrayExpression: (node) => {
      if (node.elements.length < 2) return
      for (const [index, element] of node.elements.entries()) {
        const [before, next] = [node.elements[index - 1], node.elements[index + 1]]
        if (element?.type !== "Literal") continue
        if (next) put({ start: element.start, end: next.start }, "", "a member")
        else if (before) put({ start: before.end, end: element.end }, "", "a member")
      }
    },
    CallExpression: (node) => {
      const { callee } = node
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return
      const { name } = callee.property
      if (!Object.hasOwn(METHODS, name)) return
      const other = METHODS[name]
      if (other === undefined) put({ start: callee.object.end, end: node.end }, "", "a call")
      else put(callee.property, other, "a call")
    },
    ExpressionStatement: (node) => {
      if (node.expression.type === "CallExpression" || node.expression.type === "YieldExpression")
        put(node, "", "a statement")
    }
  }).visit(parseSync(path, text).program)
  return mutants
    .filter(({ end, start }) => !types.some((type) => type.start <= start && end <= type.end))
    .toSorted((one, other) => one.start - other.start)
}
