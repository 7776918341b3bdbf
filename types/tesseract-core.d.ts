/** The part of `tesseract.js-core` 7 that Postlane calls; the package has no declarations. */
export interface TessBaseApi {
  /** 0 where it succeeded. `oem` 0: the legacy engine, 1: the neural one. */
  Init(path: null, languages: string, oem: number): number
  SetVariable(name: string, value: string): boolean
  /** Reads the file `/input`, turned back by `angle` radians. */
  SetImageFile(orientation: number, angle: number): number
  FindLines(): number
  /** How much lines slant upwards to the right, radians. */
  GetGradient(): number
  Recognize(monitor: null): number
  GetJSONText(): string
  DetectOS(results: OsResults): boolean
  Clear(): void
  End(): void
}
export interface OsResults {
  readonly best_result: {
    readonly orientation_id: number
    readonly script_id: number
    readonly oconfidence: number
    readonly sconfidence: number
  }
  readonly unicharset: { readonly get_script_from_script_id: (id: number) => string }
}
export interface TesseractCore {
  readonly FS: {
    readonly writeFile: (path: string, bytes: Uint8Array) => void
    readonly unlink: (path: string) => void
  }
  readonly TessBaseAPI: new () => TessBaseApi
  readonly OSResults: new () => OsResults
  readonly destroy: (object: OsResults | TessBaseApi) => void
}
declare function load(options: {
  readonly wasmBinary: Uint8Array
  readonly TesseractProgress: (percent: number) => void
  readonly print: (line: string) => void
  readonly printErr: (line: string) => void
}): Promise<TesseractCore>
export default load
