let loading: Promise<unknown> = Promise.resolve()

/** Loads a module, and returns the WebAssembly instances made meanwhile; one load at a time. */
export const withInstances = <A>(load: () => Promise<A>) => {
  const loaded = loading.then(async () => {
    const { instantiate } = WebAssembly
    const instances: Array<WebAssembly.Instance> = []
    const watched = async (bytes: BufferSource, imports?: WebAssembly.Imports) => {
      const source = await instantiate(bytes, imports)
      instances.push(source.instance)
      return source
    }
    Object.assign(WebAssembly, { instantiate: watched })
    try {
      return { module: await load(), instances }
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
