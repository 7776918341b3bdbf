import { readFileSync } from "node:fs"

import { init } from "@embedpdf/pdfium"

import { fileOf, unpacked } from "./binary.ts"
import { WasmMemory } from "./wasm-memory.ts"

/** The functions of pdfium's C interface that are used here (pdfium's `public/*.h` documents them). */
const CALLS = [
  "EPDFImageObj_SetJpeg",
  "EPDFImageObj_SetPng",
  "EPDFPage_GetAnnotCountRaw",
  "EPDFPage_GetAnnotRaw",
  "EPDF_GetPageBoxByIndex",
  "EPDF_GetPageRotationByIndex",
  "FORM_OnAfterLoadPage",
  "FORM_OnBeforeClosePage",
  "FPDFAction_GetDest",
  "FPDFAction_GetType",
  "FPDFAction_GetURIPath",
  "FPDFAnnot_GetFileAttachment",
  "FPDFAnnot_GetFormFieldAlternateName",
  "FPDFAnnot_GetFlags",
  "FPDFAnnot_GetFormFieldFlags",
  "FPDFAnnot_GetFormFieldName",
  "FPDFAnnot_GetFormFieldType",
  "FPDFAnnot_GetFormFieldValue",
  "FPDFAnnot_GetNumberValue",
  "FPDFAnnot_GetOptionCount",
  "FPDFAnnot_GetOptionLabel",
  "FPDFAnnot_GetRect",
  "FPDFAnnot_GetStringValue",
  "FPDFAnnot_GetSubtype",
  "FPDFAnnot_IsChecked",
  "FPDFAnnot_IsOptionSelected",
  "FPDFAttachment_GetName",
  "FPDFBitmap_CreateEx",
  "FPDFBitmap_Destroy",
  "FPDFBitmap_FillRect",
  "FPDFBitmap_GetBuffer",
  "FPDFBitmap_GetFormat",
  "FPDFBitmap_GetHeight",
  "FPDFBitmap_GetStride",
  "FPDFBitmap_GetWidth",
  "FPDFBookmark_GetAction",
  "FPDFBookmark_GetDest",
  "FPDFBookmark_GetFirstChild",
  "FPDFBookmark_GetNextSibling",
  "FPDFBookmark_GetTitle",
  "FPDFCatalog_GetLanguage",
  "FPDFCatalog_IsTagged",
  "FPDFDest_GetDestPageIndex",
  "FPDFDest_GetLocationInPage",
  "FPDFDoc_GetAttachment",
  "FPDFDoc_GetAttachmentCount",
  "FPDFFont_GetBaseFontName",
  "FPDFFont_GetFlags",
  "FPDFFont_GetFontData",
  "FPDFFont_GetIsEmbedded",
  "FPDFFont_GetGlyphWidth",
  "FPDFFont_GetItalicAngle",
  "FPDFFont_GetWeight",
  "FPDFFormObj_CountObjects",
  "FPDFFormObj_GetObject",
  "FPDFImageObj_GetBitmap",
  "FPDFImageObj_GetImageDataRaw",
  "FPDFImageObj_GetImageFilter",
  "FPDFImageObj_GetImageFilterCount",
  "FPDFImageObj_GetImageMetadata",
  "FPDFImageObj_GetImagePixelSize",
  "FPDFImageObj_GetRenderedBitmap",
  "FPDFImageObj_LoadJpegFileInline",
  "FPDFImageObj_SetMatrix",
  "FPDFLink_Enumerate",
  "FPDFLink_GetAction",
  "FPDFLink_GetAnnotRect",
  "FPDFLink_GetDest",
  "FPDFPageObjMark_GetName",
  "FPDFPageObjMark_GetParamBlobValue",
  "FPDFPageObjMark_GetParamValueType",
  "FPDFPageObj_CountMarks",
  "FPDFPageObj_Destroy",
  "FPDFPageObj_GetFillColor",
  "FPDFPageObj_GetMark",
  "FPDFPageObj_GetMarkedContentID",
  "FPDFPageObj_GetMatrix",
  "FPDFPageObj_GetBounds",
  "FPDFPageObj_GetStrokeColor",
  "FPDFPageObj_GetStrokeWidth",
  "FPDFPageObj_GetType",
  "FPDFPageObj_NewImageObj",
  "FPDFPageObj_SetIsActive",
  "FPDFPageObj_SetMatrix",
  "FPDFPage_CloseAnnot",
  "FPDFPage_CountObjects",
  "FPDFPage_GenerateContent",
  "FPDFPage_GetAnnot",
  "FPDFPage_GetAnnotCount",
  "FPDFPage_GetObject",
  "FPDFPage_GetRotation",
  "FPDFPage_InsertObject",
  "FPDFPage_New",
  "FPDFPathSegment_GetPoint",
  "FPDFPathSegment_GetType",
  "FPDFPath_CountSegments",
  "FPDFPath_GetDrawMode",
  "FPDFPath_GetPathSegment",
  "FPDFTextObj_GetFont",
  "FPDFTextObj_GetTextRenderMode",
  "FPDFText_ClosePage",
  "FPDFText_CountChars",
  "FPDFText_GetCharBox",
  "FPDFText_GetCharOrigin",
  "FPDFText_GetFontSize",
  "FPDFText_GetLooseCharBox",
  "FPDFText_GetMatrix",
  "FPDFText_GetTextObject",
  "FPDFText_GetUnicode",
  "FPDFText_HasUnicodeMapError",
  "FPDFText_IsGenerated",
  "FPDFText_IsHyphen",
  "FPDFText_LoadPage",
  "FPDF_CloseDocument",
  "FPDF_CreateNewDocument",
  "FPDF_ImportPagesByIndex",
  "FPDF_ClosePage",
  "FPDF_FFLDraw",
  "FPDF_GetFormType",
  "FPDF_GetLastError",
  "FPDF_GetMetaText",
  "FPDF_GetPageBoundingBox",
  "FPDF_GetPageCount",
  "FPDF_GetPageLabel",
  "FPDF_GetPageSizeByIndexF",
  "FPDF_LoadCustomDocument",
  "FPDF_LoadPage",
  "FPDF_RenderPageBitmap",
  "FPDF_StructElement_Attr_GetCount",
  "FPDF_StructElement_Attr_GetBooleanValue",
  "FPDF_StructElement_Attr_GetName",
  "FPDF_StructElement_Attr_GetNumberValue",
  "FPDF_StructElement_Attr_GetStringValue",
  "FPDF_StructElement_Attr_GetType",
  "FPDF_StructElement_Attr_GetValue",
  "FPDF_StructElement_CountChildren",
  "FPDF_StructElement_GetActualText",
  "FPDF_StructElement_GetAltText",
  "FPDF_StructElement_GetAttributeAtIndex",
  "FPDF_StructElement_GetAttributeCount",
  "FPDF_StructElement_GetChildAtIndex",
  "FPDF_StructElement_GetChildMarkedContentID",
  "FPDF_StructElement_GetLang",
  "FPDF_StructElement_GetType",
  "FPDF_StructTree_Close",
  "FPDF_StructTree_CountChildren",
  "FPDF_StructTree_GetChildAtIndex",
  "FPDF_StructTree_GetForPage",
  "PDFiumExt_CloseFileWriter",
  "PDFiumExt_CloseFormFillInfo",
  "PDFiumExt_ExitFormFillEnvironment",
  "PDFiumExt_GetFileWriterData",
  "PDFiumExt_GetFileWriterSize",
  "PDFiumExt_Init",
  "PDFiumExt_InitFormFillEnvironment",
  "PDFiumExt_OpenFileWriter",
  "PDFiumExt_OpenFormFillInfo",
  "PDFiumExt_SaveAsCopy",
  "_emscripten_stack_restore",
  "free",
  "malloc"
] as const

/**
 * A function of the wasm module. Pointers, numbers and booleans (0, 1) are numbers; the result of a `void` function is undefined.
 */
type Call = (...args: ReadonlyArray<number>) => number

/** pdfium, loaded: its raw functions, its memory, and a way for it to call us. */
export interface Pdfium {
  readonly call: Readonly<Record<(typeof CALLS)[number], Call>>
  readonly memory: WasmMemory
  /** Makes a function callable from C; `signature` is emscripten's (`iiiii`: four integers to an integer). */
  readonly callback: (f: Call, signature: string) => { readonly pointer: number; readonly free: () => void }
}

const isCall = (value: unknown): value is Call => typeof value === "function"

/**
 * The build's own stack has 64 KiB, where a program has 8 MB: a chain of 500 objects, each of which names the next one, as the parts
 * of a book's articles do, ran over its end when a page was copied.
 */
const STACK_BYTES = 4 * 1024 * 1024
const STACK_ALIGNMENT = 16

/** Moves it to a larger stack permanently. */
const deepen = (call: Pdfium["call"]): void => {
  const stack = call.malloc(STACK_BYTES) >>> 0
  if (stack === 0) throw new Error("there is no memory for a stack")
  const top = stack + STACK_BYTES
  call._emscripten_stack_restore(top - (top % STACK_ALIGNMENT))
}

/** Compiles and starts a separate pdfium; a trap in it leaves others alone. */
export const loadPdfium = async (): Promise<Pdfium> => {
  const binary = unpacked(readFileSync(fileOf("@embedpdf/pdfium/pdfium.wasm")))
  const { pdfium } = await init({
    // Its warnings about damaged files go nowhere: what matters of them comes back as an error.
    print: () => undefined,
    printErr: () => undefined,
    instantiateWasm: (imports, onInstance) => {
      const instance = new WebAssembly.Instance(new WebAssembly.Module(binary), imports)
      onInstance(instance)
      return instance.exports
    }
  })
  const exports: Readonly<Record<string, unknown>> = { ...pdfium.wasmExports }
  const missing = CALLS.filter((name) => !isCall(exports[name]))
  const memory = exports["memory"]
  if (missing.length > 0 || !(memory instanceof WebAssembly.Memory))
    throw new Error(`this build of pdfium lacks ${missing.join(", ") || "its memory"}`)
  const call = exports as Pdfium["call"]
  deepen(call)
  call.PDFiumExt_Init()
  return {
    call,
    memory: new WasmMemory(memory, call.malloc, call.free),
    callback: (f, signature) => {
      const pointer = pdfium.addFunction(f, signature)
      return { pointer, free: () => pdfium.removeFunction(pointer) }
    }
  }
}
