/**
 * Faults in the functions of the migrations, one at a time: a lock dropped, a comparison turned, a state, a lease's owner or an order
 * dropped, an interval changed. Pure: what runs them is `main.ts`.
 */

/** A text in which one thing is other than it should be. */
export interface Mutant {
  readonly about: string
  readonly line: number
  /** The whole of it: a function's definition, a module. */
  readonly text: string
}

export interface SqlFunction {
  /** The area of the functions: the first folder of its path. */
  readonly area: string
  readonly name: string
  /** Its file, which replaces what is there. */
  readonly text: string
}

const lineOf = (text: string, at: number) => text.slice(0, at).split("\n").length

interface Kind {
  readonly about: string
  readonly what: RegExp
  readonly becomes: (found: string) => string
}

/** What may stand before a condition, so that no assignment counts as one. */
const CONDITION = String.raw`(?<=\b(?:where|and|or|when|if|not|on|elsif)\s+\(?\s*)`

const TURNED: Readonly<Record<string, string>> = {
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
  "<>": "=",
  "is distinct from": "is not distinct from",
  "is not distinct from": "is distinct from",
  "is null": "is not null",
  "is not null": "is null"
}

const STATE = String.raw`(?:\w+\.)?(?:status|state|step|outcome|kind)`

const KINDS: ReadonlyArray<Kind> = [
  {
    about: "a lock dropped",
    what: /\sfor (?:no key update|update|key share|share)(?: of \w+)?(?: skip locked| nowait)?(?=[\s;)])/g,
    becomes: () => ""
  },
  {
    about: "a lock dropped",
    what: /perform pg_advisory_xact_lock(?:_shared)?\([^;]*;/g,
    becomes: () => "null;"
  },
  {
    about: "a call dropped",
    what: /(?<=(?:;|\bbegin|\bthen|\belse|\bloop)\s+)(?:perform (?!pg_)|delete from )[^;]*;/g,
    becomes: () => "null;"
  },
  {
    about: "a comparison turned",
    what: /(?<=\s)(?:<=|>=|<>|<|>)(?=\s)|is (?:not )?distinct from|is not null|is null/g,
    becomes: (operator) => TURNED[operator] ?? operator
  },
  {
    about: "a state dropped",
    what: new RegExp(
      String.raw`${CONDITION}${STATE} (?:=|<>|is distinct from|is not distinct from) '\w+'`,
      "g"
    ),
    becomes: () => "true"
  },
  {
    about: "a state dropped from a list",
    what: /(?<=\bin \((?:'\w+', )*)'\w+'(?=(?:, '\w+')*\))/g,
    becomes: () => "'none such'"
  },
  {
    about: "an owner dropped",
    what: new RegExp(
      String.raw`${CONDITION}(?:\w+\.)?(?:lease|owner) (?:=|is not distinct from) [\w.]+`,
      "g"
    ),
    becomes: () => "true"
  },
  {
    about: "an owner dropped",
    what: new RegExp(String.raw`${CONDITION}(?:\w+\.)?(?:lease|owner) is distinct from [\w.]+`, "g"),
    becomes: () => "false"
  },
  {
    about: "an order dropped",
    what: /(?<=\s)order by [^\n;]*?(?=\s+limit\b|\s+for\b|\)(?:$|[\s,;)])|\n|;)/g,
    becomes: () => ""
  },
  {
    about: "an interval changed",
    what: /(?<=interval ')\d+(?= \w+')/g,
    becomes: (count) => String(Number(count) === 1 ? 2 : Number(count) - 1)
  }
]

/** The text with its comments blanked, everything still where it was. */
const withoutComments = (text: string): string =>
  text.replace(/--[^\n]*/g, (comment) => " ".repeat(comment.length))

/** The function with each fault of each kind, one at a time. */
export const mutantsOf = ({ text }: Pick<SqlFunction, "text">): ReadonlyArray<Mutant> => {
  const start = text.indexOf("$$")
  const body = withoutComments(text).slice(start)
  return KINDS.flatMap(({ about, becomes, what }) =>
    [...body.matchAll(what)].map((match): Mutant => {
      const at = start + match.index
      const made = becomes(match[0])
      // What does nothing in PL/pgSQL is no statement of SQL.
      const after = made === "null;" && text.includes("language sql") ? "select null;" : made
      return {
        about: `${about}: \`${match[0].trim().replace(/\s+/g, " ")}\`${after === "" ? "" : ` → \`${after}\``}`,
        line: lineOf(text, at),
        text: text.slice(0, at) + after + text.slice(at + match[0].length)
      }
    })
  ).toSorted((one, other) => one.line - other.line)
}
