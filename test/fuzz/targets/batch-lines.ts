import { readOutputLine } from "../../../src/adapters/bedrock/batch-lines.ts"
import { JSON_WORDS, jsonSeeds, strangeJson } from "../json.ts"
import { hold, rough, type Target } from "../target.ts"

const usage = { inputTokens: 10, outputTokens: 5, cacheReadInputTokens: null, cacheWriteInputTokens: 0 }
const SAMPLES = [
  {
    modelInput: { system: [{ text: "s" }], messages: [{ role: "user", content: [{ text: "\\" }] }] },
    modelOutput: {
      output: { message: { role: "assistant", content: [{ text: "<p>x</p>" }] } },
      stopReason: "end_turn",
      usage
    },
    recordId: "c0-p1"
  },
  { recordId: "c0-p2", modelInput: {}, error: { errorCode: 400, errorMessage: "no" } },
  { recordId: "c1-p1", modelOutput: { output: { message: { content: [] } }, usage } }
]

const parsedOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What JSON itself says of the line: the scanner, which skips the echoed input, must agree where all of it is valid. */
const agrees = (line: Buffer, recordId: string | undefined): void => {
  const json = parsedOf(new TextDecoder().decode(line)) as Record<string, unknown> | undefined | null
  if (json === undefined) return
  const said =
    typeof json === "object" && json !== null && !Array.isArray(json) ? json["recordId"] : undefined
  hold(
    (typeof said === "string" ? said : undefined) === recordId,
    `BATCH: JSON.parse finds the record ${JSON.stringify(said)}, the codec ${recordId}`
  )
}

const answer = (line: Buffer): string => {
  const record = readOutputLine(line)
  agrees(line, record?.recordId)
  if (record === undefined) return "no record"
  const tokens = Object.values(record.usage) as ReadonlyArray<number>
  hold(
    tokens.every((count) => Number.isSafeInteger(count) && count >= 0),
    `F: tokens ${tokens.join(", ")}`
  )
  const { answer: said } = record
  return `record, ${said === undefined ? "no answer" : `answer of ${rough(said.text.length)}, ${said.stopReason === undefined ? "no reason" : "a reason"}`}, tokens ${rough(tokens[0] ?? 0)}`
}

export const batchLines: Target = {
  name: "batch-lines",
  about: "lines of a batch job's output, read by the codec and held against JSON.parse",
  limitMs: 10_000,
  memoryMb: 1_024,
  guided: true,
  seeds: () => jsonSeeds(SAMPLES),
  made: strangeJson(SAMPLES),
  words: [...JSON_WORDS, '"recordId":"c0-p1"', '"modelOutput":', '"error":', '"usage":', '"text":'],
  open: () => Promise.resolve({ answer: async (input) => answer(input), close: () => Promise.resolve() })
}
