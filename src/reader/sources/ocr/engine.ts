import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"

import loadCore, { type TessBaseApi, type TesseractCore } from "tesseract.js-core/tesseract-core-simd.js"

import type {
  GreyPicture,
  RecognisedLine,
  RecognisedText,
  RecognitionHints,
  Turn
} from "../../model/recognised-text.ts"
import { languagesFor } from "./languages.ts"
import { medianOf, turned } from "./picture.ts"

/** tesseract's engines: patterns for the orientation, a neural network for text. */
const LEGACY = 0
const LSTM = 1
/** Automatic layout without orientation. */
const AUTO = "3"
const OTSU = "0"
const SAUVOLA = "2"

/** Orientation and script that are less certain are left out of account. */
const MIN_ORIENTATION = 2
const MIN_SCRIPT = 1
/** Lines that slant by less, radians, are straight. */
const MIN_SKEW = 0.005
/** A mean confidence, or a median grey, below which dark or uneven paper is suspected, and another threshold is tried. */
const SURE = 86
const LIGHT = 200
/** The other threshold is taken where it makes this much more text certain. */
const BETTER = 1.05
/** Confidence above which a character counts as certain. */
const CERTAIN = 50
/** Height of a line, descenders to ascenders, by that of its capitals: tesseract's own is too much where it has guessed. */
const HEIGHT_OF_CAPITALS = 1.34
/** Most words of a page: a wall poster has 20,000. */
const MAX_WORDS = 20_000

/** What tesseract's JSON holds of a page. */
interface Layout {
  readonly blocks?: ReadonlyArray<{
    readonly paragraphs: ReadonlyArray<{
      readonly lines: ReadonlyArray<{
        readonly words: ReadonlyArray<{
          readonly text: string
          readonly confidence: number
          readonly bbox: RecognisedLine["words"][number]["box"]
        }>
        readonly bbox: RecognisedLine["words"][number]["box"]
        readonly baseline: { readonly y0: number; readonly y1: number }
        readonly rowAttributes: { readonly rowHeight: number }
      }>
    }>
  }> | null
}

interface Pass {
  readonly skew: number
  /** 0 to 100. */
  readonly mean: number
  /** Characters by how certain they are. */
  readonly certain: number
  readonly lines: ReadonlyArray<RecognisedLine>
}

/** Letters that reach up to a line's top. */
const HIGH = /[\p{Lu}\p{N}bdfhkl]/u

/** Height of a line's capitals, pixels; Infinity where it has none. The middle one: specks stick to words. */
const tallest = (words: RecognisedLine["words"], baseline: number): number => {
  const heights = words
    .filter(({ text }) => HIGH.test(text))
    .map(({ box }) => baseline - box.y0)
    .sort((a, b) => a - b)
  return heights[Math.floor(heights.length / 2)] ?? Infinity
}

const linesOf = (json: string): ReadonlyArray<RecognisedLine> => {
  // tesseract writes it.
  const { blocks } = JSON.parse(json) as Layout
  const lines: Array<RecognisedLine> = []
  let left = MAX_WORDS
  for (const { paragraphs } of blocks ?? [])
    for (const paragraph of paragraphs)
      for (const line of paragraph.lines) {
        const words = line.words
          .filter(({ text }) => text.trim() !== "")
          .slice(0, left)
          .map(({ bbox, confidence, text }) => ({ text: text.trim(), confidence, box: bbox }))
        left -= words.length
        if (words.length === 0) continue
        const baseline = (line.baseline.y0 + line.baseline.y1) / 2
        const { rowHeight } = line.rowAttributes
        const height = Math.min(
          rowHeight > 0 ? rowHeight : line.bbox.y1 - line.bbox.y0,
          tallest(words, baseline) * HEIGHT_OF_CAPITALS
        )
        lines.push({ baseline, height, words })
      }
  return lines
}

const dataOf = (language: string): Uint8Array =>
  gunzipSync(
    readFileSync(
      fileURLToPath(
        import.meta.resolve(`@tesseract.js-data/${language}/4.0.0_best_int/${language}.traineddata.gz`)
      )
    )
  )

/** tesseract, loaded: one page at a time. After a trap it is not to be trusted. */
export class Engine {
  readonly #core: TesseractCore
  readonly #available: ReadonlyArray<string>
  readonly #orientation: TessBaseApi
  #reader: { readonly languages: string; readonly api: TessBaseApi } | undefined

  private constructor(core: TesseractCore, available: ReadonlyArray<string>) {
    this.#core = core
    this.#available = available
    this.#orientation = this.#open(["osd"], LEGACY)
  }

  static async load(available: ReadonlyArray<string>): Promise<Engine> {
    const nothing = () => undefined
    const core = await loadCore({
      wasmBinary: readFileSync(
        fileURLToPath(import.meta.resolve("tesseract.js-core/tesseract-core-simd.wasm"))
      ),
      TesseractProgress: nothing,
      print: nothing,
      printErr: nothing
    })
    return new Engine(core, available)
  }

  #open(languages: ReadonlyArray<string>, engine: number): TessBaseApi {
    for (const language of languages) this.#core.FS.writeFile(`./${language}.traineddata`, dataOf(language))
    const api = new this.#core.TessBaseAPI()
    if (api.Init(null, languages.join("+"), engine) !== 0)
      throw new Error(`tesseract cannot read ${languages.join(", ")}`)
    // tesseract has its own copy now.
    for (const language of languages) this.#core.FS.unlink(`./${language}.traineddata`)
    return api
  }

  #put({ bytes, height, width }: GreyPicture): void {
    const header = Buffer.from(`P5\n${width} ${height}\n255\n`)
    this.#core.FS.writeFile("/input", Buffer.concat([header, bytes]))
  }

  /** How the page lies, and the script on it, where they are certain. */
  #lookAt(picture: GreyPicture): { readonly turn: Turn; readonly script: string | undefined } {
    this.#put(picture)
    const api = this.#orientation
    const results = new this.#core.OSResults()
    try {
      api.SetImageFile(1, 0)
      if (!api.DetectOS(results)) return { turn: 0, script: undefined }
      const { oconfidence, orientation_id, sconfidence, script_id } = results.best_result
      const turns: ReadonlyArray<Turn> = [0, 270, 180, 90]
      const turn = oconfidence > MIN_ORIENTATION ? (turns[orientation_id] ?? 0) : 0
      const isSure = sconfidence > MIN_SCRIPT
      return {
        turn,
        script: isSure ? results.unicharset.get_script_from_script_id(script_id) : undefined
      }
    } finally {
      this.#core.destroy(results)
      api.Clear()
    }
  }

  #readerFor(languages: ReadonlyArray<string>): TessBaseApi {
    const key = languages.join("+")
    if (this.#reader?.languages === key) return this.#reader.api
    this.#reader?.api.End()
    this.#reader = { languages: key, api: this.#open(languages, LSTM) }
    return this.#reader.api
  }

  #pass(api: TessBaseApi, dpi: number, threshold: string): Pass {
    api.SetVariable("user_defined_dpi", String(Math.round(dpi)))
    api.SetVariable("tessedit_pageseg_mode", AUTO)
    api.SetVariable("thresholding_method", threshold)
    api.SetImageFile(1, 0)
    api.FindLines()
    const slant = api.GetGradient()
    const isSkewed = Math.abs(slant) >= MIN_SKEW
    if (isSkewed) api.SetImageFile(1, slant)
    api.Recognize(null)
    const lines = linesOf(api.GetJSONText())
    api.Clear()
    let certain = 0
    let sum = 0
    let characters = 0
    for (const { words } of lines)
      for (const { confidence, text } of words) {
        certain += text.length * Math.max(0, confidence - CERTAIN)
        sum += text.length * confidence
        characters += text.length
      }
    return { skew: isSkewed ? -slant : 0, mean: characters === 0 ? 0 : sum / characters, certain, lines }
  }

  read(picture: GreyPicture, { lang }: RecognitionHints): RecognisedText {
    const { script, turn } = this.#lookAt(picture)
    const upright = turned(picture, turn)
    this.#put(upright)
    const api = this.#readerFor(languagesFor(this.#available, { lang, script }))
    const first = this.#pass(api, picture.dpi, OTSU)
    const second =
      first.mean >= SURE && medianOf(upright) >= LIGHT ? undefined : this.#pass(api, picture.dpi, SAUVOLA)
    const best = second !== undefined && second.certain > first.certain * BETTER ? second : first
    return { turn, skew: best.skew, width: upright.width, height: upright.height, lines: best.lines }
  }
}
