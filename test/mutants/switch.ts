/**
 * Which fault is on, for modules that hold all of theirs (`rules.ts`). One is on at a time; without any, what is asked for is noted:
 * a test that asks for no fault cannot notice it.
 */
import { ITSELF, OPERATORS } from "./rules.ts"

/** No loop of a rule turns so often in a test that holds. */
const MOST_TURNS = 20_000_000

const applied = (operator: string, left: number, right: number): unknown => {
  switch (operator) {
    case "<":
      return left < right
    case "<=":
      return left <= right
    case ">":
      return left > right
    case ">=":
      return left >= right
    case "===":
      return left === right
    case "!==":
      return left !== right
    case "+":
      return left + right
    case "-":
      return left - right
    case "*":
      return left * right
    case "/":
      return left / right
    default:
      // Neither is a fault of a rule: the others are left as they are.
      throw new Error(`${operator} is not switched`)
  }
}

export interface Switch {
  /** Turns a fault on; -1: none. */
  readonly turnOn: (fault: number) => void
  /** What is asked for from now on, while no fault is on. */
  readonly note: () => ReadonlySet<number>
}

/** Puts the switch where the modules look for it. */
export const makeSwitch = (): Switch => {
  let on = -1
  let turns = 0
  let noted = new Set<number>()
  const is = (fault: number) => {
    if (on < 0) noted.add(fault)
    return fault === on
  }
  const faults = {
    left: undefined as unknown,
    is,
    not: (fault: number, value: unknown) => (is(fault) ? value : !value),
    // Numbers for the types alone: texts and moments are compared and joined, too.
    operator: (fault: number, operator: string, left: number, right: number) => {
      for (const [index, other] of (OPERATORS[operator] ?? []).entries())
        if (is(fault + index)) return applied(other, left, right)
      return applied(operator, left, right)
    },
    /** Whether the right side of `&&`, `||` or `??` is asked for; else the left one stands. */
    holds: (fault: number, operator: string, left: unknown) => {
      faults.left = left
      const isOn = is(fault)
      switch (operator) {
        case "&&":
          return isOn ? !left : Boolean(left)
        case "||":
          return isOn ? Boolean(left) : !left
        default:
          return isOn ? Boolean(left) : left === undefined || left === null
      }
    },
    turn: () => {
      if (on >= 0 && (turns += 1) > MOST_TURNS) throw new Error("a loop does not end")
    }
  }
  Object.assign(globalThis, { __faults: faults })
  Reflect.defineProperty(Object.prototype, ITSELF, {
    configurable: true,
    value(this: unknown) {
      return this
    }
  })
  return {
    turnOn: (fault) => {
      on = fault
      turns = 0
    },
    note: () => (noted = new Set())
  }
}
