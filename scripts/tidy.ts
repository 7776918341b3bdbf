import type { SourceFile } from "./source-files.ts"
import { lineAt, syntaxOf } from "./syntax.ts"

/** A place where a file breaks a rule of the house. */
export interface Untidy {
  readonly path: string
  readonly line: number
  readonly rule: string
}

/** Something that must not be written, with a sample that breaks the rule, so that a test can see it fail. */
interface Ban {
  readonly rule: string
  /** The files it is about. */
  readonly files: RegExp
  readonly banned: RegExp
  /** Where it counts: in code only, or in comments as well. */
  readonly where: "code" | "text"
  readonly sample: SourceFile
}

/** Most lines of a source file; one that needs more holds two concepts. */
export const MAX_LINES = 350

/** What a script writes may be longer. */
const GENERATED = /^src\/adapters\/client\/generated\//

/**
 * Rings that take time, chance and the process from outside. Of the reader: not the engines that read files, what loads the detector of
 * languages, and the marks that no document can contain.
 */
const CORE = /^src\/(?:domain|ports|application|reader\/(?!sources\/|language\/|html\/shallow\.ts))/
const TESTS = /^test\//
const ALL = /^(src|test|migrations)\//
/** Everything that is written for readers, but for this file, which holds the samples. */
const PROSE = /^(?!scripts\/tidy\.ts$)(src|test|docs|scripts|migrations|[A-Z]+\.md)/

const inCore = (text: string): SourceFile => ({ path: "src/domain/sample.ts", text })
const inTest = (text: string): SourceFile => ({ path: "test/sample.test.ts", text })

export const BANS: ReadonlyArray<Ban> = [
  {
    rule: "the core takes its time from Clock",
    files: CORE,
    banned: /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b/,
    where: "code",
    sample: inCore("export const now = new Date( )")
  },
  {
    rule: "the core takes its chance from Random or SecureRandom",
    files: CORE,
    banned: /\bMath\.random\b|\brandomUUID\b|\bgetRandomValues\b/,
    where: "code",
    sample: inCore("export const id = crypto.randomUUID()")
  },
  {
    rule: "the core waits with Effect",
    files: CORE,
    banned: /\bset(Timeout|Interval|Immediate)\b|\basync\b|\bawait\b|\bnew Promise\b/,
    where: "code",
    sample: inCore("setTimeout(() => undefined, 10)")
  },
  {
    rule: "the core does not look at its process",
    files: CORE,
    banned: /\bprocess\.|\bglobalThis\b|\bimport\.meta\b/,
    where: "code",
    sample: inCore("export const home = process.env.HOME")
  },
  {
    rule: "many items are no arguments of one call: append, least, greatest (src/domain/lists.ts)",
    files: /^src\//,
    banned: /(?:\.(?:push|unshift)|\bMath\.(?:max|min))\(\s*(?:[^()[\]{}\n]*,\s*)?\.\.\./,
    where: "code",
    sample: inCore("all.push(\n  ...one\n)")
  },
  {
    rule: "a table that is asked by names is a Map: each object has a `constructor` and a `toString`",
    files: /^src\//,
    banned: /^(?:export )?const \w+: (?:Readonly<)?(?:Partial<)?Record<string,/m,
    where: "code",
    sample: inCore("const WORDS: Readonly<Record<string, string>> = { bounce: 'hard_bounce' }")
  },
  {
    rule: "a client of the cloud has its address from the settings alone: ignoreConfiguredEndpointUrls",
    files: /^src\/adapters\//,
    banned:
      /\bnew (?:SESv2|SQS|S3|Bedrock\w*|EventBridge|CloudWatch\w*|SNS)Client\(\{(?![^}]*\bignoreConfiguredEndpointUrls: true)/,
    where: "code",
    sample: { path: "src/adapters/sample.ts", text: "export const open = () => new SQSClient({ region })" }
  },
  {
    rule: "no test is switched off or runs alone",
    files: TESTS,
    banned:
      /\b(it|test|describe|suite)(\.\w+)*\.(only|skip|todo|fails|skipIf)\b|\bx(it|describe)\(|\b(ctx|context)\.skip\(/,
    where: "code",
    sample: inTest("it.effect.only('alone', () => undefined)")
  },
  {
    rule: "a test has no time limit of its own: test/support/time-limits.ts has those of all",
    files: /^test\/(?!soak\/|mutants\/|quality\/)/,
    banned: /\btimeout: (?:\d|"\d)|^\s*\}\)*, \d[\d_]+\)$/m,
    where: "code",
    sample: inTest("it('slow', async () => {\n  await work()\n}, 120_000)")
  },
  {
    rule: "no module is mocked in a worker that many files share",
    files: /^test\/(?!adapters\/smtp\/peer-names\.test\.ts)/,
    banned: /\bvi\.(mock|doMock)\(/,
    where: "code",
    sample: inTest('vi.mock("node:dns")')
  },
  {
    rule: "a module of @effect/platform-node is imported by its path: the index loads a Redis client, some 700 files",
    files: /^(src|test)\//,
    banned: /from "@effect\/platform-node"/,
    where: "code",
    sample: inTest('import { NodeServices } from "@effect/platform-node"\nexport { NodeServices }')
  },
  {
    rule: "no check of the compiler is switched off",
    files: ALL,
    banned: /@ts-(ignore|nocheck|expect-error)/,
    where: "text",
    sample: inTest("// @ts-ignore\nexport {}")
  },
  {
    rule: "nothing is left to do",
    files: ALL,
    banned: /\b(TODO|FIXME|HACK|XXX)\b/,
    where: "text",
    sample: inCore("/* TODO: the rest */")
  },
  {
    rule: "a rule is cited by its id in docs/reference/specification, never by a paper that is not here",
    files: PROSE,
    banned: /\bdocument [1-9]\b|\bthe contract\b(?!\s+(\*\s+)?(suite|test))|\(contract,/i,
    where: "text",
    sample: inTest("// as in document 1\nexport {}")
  },
  {
    rule: "plain English: report, answer, retry, release, the owner of (never told, whoever, tell again, deed)",
    files: PROSE,
    banned:
      /\b(is|are|was|were|be|been|not|also|nobody|somebody) told\b|\btold (that|of|apart|by|as|again|once|in)\b|\bwhoever\b|\btells? again\b|\bdeed\b/i,
    where: "text",
    sample: inTest("// whoever is told first\nexport {}")
  },
  {
    rule: "no path of one machine",
    files: ALL,
    banned: /(^|[^\w.])\/(home|Users|root)\/|\b[A-Z]:\\\\/,
    where: "text",
    sample: inTest('export const data = "/home/someone/data"')
  }
]

/** Where the file breaks a rule of the house. `root` is the checkout's own folder, which no file may name. */
export const findUntidy = (file: SourceFile, root: string): ReadonlyArray<Untidy> => {
  const { path, text } = file
  const typescript = path.endsWith(".ts")
  const { anys, code, imports } = typescript ? syntaxOf(file) : { anys: [], code: text, imports: [] }
  const lines = text.trimEnd().split("\n").length
  const found: Array<Untidy> = []
  const add = (line: number, rule: string) => found.push({ path, line, rule })

  for (const { banned, files, rule, where } of BANS) {
    if (!files.test(path)) continue
    const offset = (where === "code" ? code : text).search(banned)
    if (offset >= 0) add(lineAt(text, offset), rule)
  }
  if (text.includes(`${root}/`)) add(lineAt(text, text.indexOf(`${root}/`)), "no path of one machine")
  if (path.startsWith("src/") && !GENERATED.test(path) && lines > MAX_LINES)
    add(lines, `at most ${MAX_LINES} lines`)
  if (typescript) {
    for (const offset of anys) add(lineAt(text, offset), "no any")
    for (const { line, target } of imports)
      if (target !== undefined && !/\.(ts|json)$/.test(target)) add(line, "a relative import ends in .ts")
  }
  return found
}
