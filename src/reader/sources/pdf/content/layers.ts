import { listOf, type PdfObjects, type PdfValue, textOf } from "../engine/pdf-objects.ts"
import type { Pdfium } from "../engine/pdfium.ts"

/** Limit on layers of a document; drawings of plants have some hundreds. */
const MAX_LAYERS = 500

/** The layers of a document that are switched off. */
export interface Layers {
  /** By the layer's name. A name that is also the name of a visible layer does not count. */
  readonly isOff: (name: string) => boolean
  /** Whether there are layers, and none is on. */
  readonly areAllOff: () => boolean
  /** Whether any is off. */
  readonly areSomeOff: () => boolean
}

/** All is shown. */
export const NO_LAYERS: Layers = { isOff: () => false, areAllOff: () => false, areSomeOff: () => false }

const idOf = (value: PdfValue): number | undefined =>
  typeof value === "object" && "ref" in value ? value.ref : undefined

const readLayers = (objects: PdfObjects) => {
  const properties = objects.entry(objects.catalogue, "/OCProperties")
  const usual = objects.entry(properties, "/D")
  const ids = (key: string) => new Set(listOf(objects.entry(usual, key)).map(idOf))
  const [on, off] = [ids("/ON"), ids("/OFF")]
  const isOffAtFirst = objects.entry(usual, "/BaseState") === "/OFF"
  const [offNames, onNames] = [new Set<string>(), new Set<string>()]
  for (const layer of listOf(objects.entry(properties, "/OCGs")).slice(0, MAX_LAYERS)) {
    const id = idOf(layer)
    const isOff = isOffAtFirst ? !on.has(id) : off.has(id)
    const view = isOff ? objects.entry(objects.entry(layer, "/Usage"), "/View") : undefined
    const isShown = !isOff || objects.entry(view, "/ViewState") === "/ON"
    const name = objects.entry(layer, "/Name")
    if (typeof name === "string") (isShown ? onNames : offNames).add(name.slice(1))
  }
  return { offNames, onNames }
}

/** Looked up once a page has content in a layer. */
export const layersOf = (objects: PdfObjects): Layers => {
  let known: ReturnType<typeof readLayers> | undefined
  const layers = () => (known ??= readLayers(objects))
  return {
    isOff: (name) => layers().offNames.has(name) && !layers().onNames.has(name),
    areAllOff: () => layers().offNames.size > 0 && layers().onNames.size === 0,
    areSomeOff: () => layers().offNames.size > 0
  }
}

/** Whether content that is marked as a layer's (`OC`) is off. One of several layers together is where all are, unless a rule says more. */
export const isInOffLayer = ({ call, memory }: Pdfium, mark: number, layers: Layers): boolean => {
  const has = (key: string) =>
    memory.withString(key, (name) => call.FPDFPageObjMark_GetParamValueType(mark, name)) !== 0
  const name = memory.withString("Name", (key) =>
    memory.bytesBy((buffer, size, length) =>
      call.FPDFPageObjMark_GetParamBlobValue(mark, key, buffer, size, length)
    )
  )
  if (name.length > 0) return layers.isOff(textOf(name))
  return has("OCGs") && !has("P") && !has("VE") && layers.areAllOff()
}
