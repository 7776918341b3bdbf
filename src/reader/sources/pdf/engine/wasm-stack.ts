import { unpacked } from "./binary.ts"

let loading: Promise<unknown> = Promise.resolve()

/** The stack of a module that is loaded, once it is known, and how far down it goes. */
interface Guard {
  save: () => number
  floor: number
}

/** What a module calls, each call refused where its stack is nearly full: what lies below would be overwritten. */
const guarded = (imports: WebAssembly.Imports, guard: Guard): WebAssembly.Imports =>
  Object.fromEntries(
    Object.entries(imports).map(([name, values]) => [
      name,
      Object.fromEntries(
        Object.entries(values).map(([key, value]) => [
          key,
          typeof value === "function"
            ? (...given: ReadonlyArray<unknown>): unknown => {
                if (guard.save() < guard.floor) throw new RangeError("its stack is full")
                return Reflect.apply(value, undefined, given)
              }
            : value
        ])
      )
    ])
  )

/** Loads a module, and returns the WebAssembly instances made meanwhile; one load at a time. */
export const withInstances = <A>(load: () => Promise<A>) => {
  const loaded = loading.then(async () => {
    const { instantiate } = WebAssembly
    const instances: Array<WebAssembly.Instance> = []
    const guard: Guard = { save: () => 0, floor: 0 }
    // The module hands over its file as it read it.
    const watched = async (file: Uint8Array<ArrayBuffer>, imports: WebAssembly.Imports = {}) => {
      const source = await instantiate(unpacked(file), guarded(imports, guard))
      instances.push(source.instance)
      return source
    }
    Object.assign(WebAssembly, { instantiate: watched })
    try {
      return { module: await load(), instances, guard }
    } finally {
      Object.assign(WebAssembly, { instantiate })
    }
  })
  loading = loaded.catch(() => undefined)
  return loaded
}

/** emscripten's `stackAlloc`, `stackSave` and `stackRestore`, as the build of qpdf calls them. */
const STACK_NAMES = ["ia", "ja", "ha"]

type Call = (value?: number) => number

/** A module's stack. */
interface WasmStack {
  readonly save: () => number
  readonly restore: (top: number) => void
}

/** The stack of the instance that has this memory; undefined where its functions have other names, or do something else. */
export const stackOf = (
  instances: ReadonlyArray<WebAssembly.Instance>,
  memory: ArrayBufferLike
): WasmStack | undefined => {
  for (const { exports } of instances) {
    const [allocate, save, restore] = STACK_NAMES.map((name) => exports[name] as Call | undefined)
    const isItsOwn = Object.values(exports).some(
      (one) => one instanceof WebAssembly.Memory && one.buffer === memory
    )
    if (!isItsOwn || !allocate || !save || !restore) continue
    const top = save()
    const isTheStack = allocate(16) === top - 16 && save() === top - 16
    restore(top)
    if (isTheStack && save() === top) return { save, restore }
  }
  return undefined
}
